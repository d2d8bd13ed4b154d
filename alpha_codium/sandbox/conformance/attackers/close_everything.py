# expect: RE or finishes; other files take the places of the standard streams
import os

print("ran", flush=True)
os.closerange(0, 4096)
for name in ("zero", "one", "two", "three"):
    try:
        descriptor = os.open(name, os.O_CREAT | os.O_RDWR)
        os.write(descriptor, b"not the output\n")
    except OSError:
        break
print("nobody reads this")
