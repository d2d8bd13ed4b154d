# expect: TLE/RE or finishes; a signal sent to process 1 at the last moment must not end the next test
import atexit
import os
import signal

print("ran", flush=True)


def last():
    for _ in range(50):
        os.kill(1, signal.SIGUSR1)
    os._exit(0)


atexit.register(last)
