# expect: finishes; streams reopened for writing, truncated, mapped and moved must not touch the next test's
import mmap
import os

print("ran", flush=True)
line = os.pread(0, 1000, 0)
if not line.startswith(b"HOSTILE_INPUT_") or line.count(b"\n") != 1:
    print("ESCAPED: the input isn't what it was", line)
for number in (0, 1, 2):
    for path in (f"/proc/self/fd/{number}", f"/dev/fd/{number}", "/dev/stdin", "/dev/stdout"):
        for flags in (os.O_RDWR, os.O_WRONLY, os.O_PATH):
            try:
                again = os.open(path, flags)
                os.pwrite(again, b"EVIL" * 10, 0)
                with mmap.mmap(again, 4) as mapped:
                    mapped[:] = b"LIVE"
            except (OSError, ValueError):
                pass
for attempt in (
    lambda: os.write(0, b"EVIL"),
    lambda: os.ftruncate(0, 0),
    lambda: os.ftruncate(0, 100),
    lambda: os.lseek(0, 50, os.SEEK_SET),
    lambda: os.lseek(1, 0, os.SEEK_SET),
    lambda: os.dup2(1, 0),
    lambda: os.write(0, b"ran\n"),
    lambda: os.pwrite(1, b"ran\n", 0),
):
    try:
        attempt()
    except OSError:
        pass
