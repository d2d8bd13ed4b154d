# expect: blocked or TLE; with SIGCHLD ignored the kernel forgets what children used
import os
import signal
import time

print("ran", flush=True)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
try:
    for _ in range(3):
        if os.fork() == 0:
            while time.process_time() < 0.8:
                pass
            os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
    print("burned 2.4 CPU seconds")
except OSError as error:
    print("blocked", error)
