# expect: blocked or TLE; each child stays under every limit of one process
import os
import time

print("ran", flush=True)
try:
    for _ in range(12):
        if os.fork() == 0:
            while time.process_time() < 0.2:
                pass
            os._exit(0)
        os.wait()
    print("burned 2.4 CPU seconds")
except OSError as error:
    print("blocked", error)
