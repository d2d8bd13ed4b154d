# expect: blocked or RE; the program fails at once and leaves a daemon that forks for ever, which must be killed
import os

print("ran", flush=True)
try:
    if os.fork() == 0:
        os.setsid()
        while True:
            try:
                if os.fork() == 0:
                    # Twice, so that each ends as a child of process 1, with another status than the program.
                    if os.fork() == 0:
                        os._exit(0)
                    os._exit(0)
                os.wait()
            except OSError:
                pass
except OSError as error:
    print("blocked", error, flush=True)
os._exit(7)
