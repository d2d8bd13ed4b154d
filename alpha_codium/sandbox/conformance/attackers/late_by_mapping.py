# expect: blocked or finishes; what a child does to a mapping of the output after the program's end is too late
import mmap
import os
import time

print("ran", flush=True)
print(" " * 100, flush=True)
try:
    mapped = mmap.mmap(1, 0)
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.5)
        mapped[:20] = b"ESCAPED: late output"
        time.sleep(10)
except (OSError, ValueError) as error:
    print("blocked", error, flush=True)
os._exit(0)
