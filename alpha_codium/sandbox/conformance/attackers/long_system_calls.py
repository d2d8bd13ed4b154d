# expect: TLE; single calls that the kernel works at for long
import os

print("ran", flush=True)
zero, null = os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY)
buffer = bytearray(100 << 20)
while True:
    os.readv(zero, [buffer] * 1000)
    try:
        os.sendfile(null, zero, 0, 2**31 - 1)
    except OSError:
        pass
    os.getrandom(100 << 20)
