# expect: TLE/RE or finishes; process 1 gets a storm of signals that it may handle
import os
import signal
import threading

print("ran", flush=True)


def storm():
    for _ in range(20_000):
        for number in (signal.SIGCHLD, signal.SIGCONT, signal.SIGALRM, signal.SIGINT, signal.SIGUSR2, signal.SIGUSR1):
            try:
                os.kill(1, number)
            except OSError:
                return


threads = [threading.Thread(target=storm) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
