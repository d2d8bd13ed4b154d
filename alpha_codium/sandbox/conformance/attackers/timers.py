# expect: TLE/RE; alarms and timers of every kind end this process and no other
import signal
import time

print("ran", flush=True)
for kind in (signal.ITIMER_PROF, signal.ITIMER_VIRTUAL, signal.ITIMER_REAL):
    signal.setitimer(kind, 0.2, 0.001)
while True:
    time.sleep(0)
