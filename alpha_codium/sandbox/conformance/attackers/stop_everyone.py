# expect: TLE/RE or finishes; stops all it can reach, itself last
import os
import signal

print("ran", flush=True)
for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN):
    for target in (1, -1, os.getpid()):
        try:
            os.kill(target, number)
        except OSError:
            pass
