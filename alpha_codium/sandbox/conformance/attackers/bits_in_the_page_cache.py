# expect: blocked: no bits for the next test in the page cache of the interpreter's files
import os

print("ran", flush=True)
BITS, STEP, MARK = 16, 8192, 0b1011001110001101
file = os.open(os.__file__, os.O_RDONLY)
size = os.fstat(file).st_size


def is_cached(place):
    try:
        return os.preadv(file, [bytearray(1)], place % size, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False


try:
    found = sum(is_cached(STEP * bit) << bit for bit in range(BITS))
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    gone = not all(is_cached(STEP * bit) for bit in range(BITS))
    print("ESCAPED: bits can be left and read" if gone or found == MARK else "blocked")
except OSError:
    print("blocked")
