# expect: TLE/RE; faulthandler writes to the output when its own timer ends the process
import faulthandler
import signal
import sys
import time

print("ran", flush=True)
faulthandler.enable(sys.stdout, all_threads=True)
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
    faulthandler.register(number, sys.stdout, chain=True)
faulthandler.dump_traceback_later(0.1, repeat=False, file=sys.stdout, exit=True)
time.sleep(10**6)
