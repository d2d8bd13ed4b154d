# expect: blocked or MLE/RE/TLE; memory in thousands of small mappings, private, shared, of files and locked
import mmap
import os

print("ran", flush=True)
kept, total = [], 0
with open("backing", "wb") as file:
    file.truncate(1 << 16)
backing = os.open("backing", os.O_RDWR)
try:
    while total < 600 << 20:
        for flags, descriptor in ((mmap.MAP_PRIVATE, -1), (mmap.MAP_SHARED, -1), (mmap.MAP_PRIVATE, backing)):
            kept.append(mmap.mmap(descriptor, 1 << 16, flags=flags))
            kept[-1][:] = b"x" * (1 << 16)
            total += 1 << 16
    print("ESCAPED: 600 MB in small pieces")
except (OSError, MemoryError, ValueError):
    del kept
    print("blocked at", total >> 20, "MB")
