# expect: blocked: no way to another root, mount, name or place of the scratch folder
# machine: x86_64
import ctypes
import os

print("ran", flush=True)
done = []
here = os.getcwd()
for name, attempt in {
    "rename": lambda: os.rename(here, "/moved"),
    "rmdir": lambda: os.rmdir(here),
    "root file": lambda: open("/planted", "w"),
    "root folder": lambda: os.mkdir("/planted.d"),
    "up": lambda: open("../planted", "w"),
    "etc": lambda: open("/etc/planted", "w"),
    "dev": lambda: open("/dev/planted", "w"),
    "library": lambda: open(os.__file__, "a"),
    "link library": lambda: os.link(os.__file__, "linked"),
    "symlink program": lambda: open("/program/planted", "w"),
}.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
print("ESCAPED: " + " ".join(done) if done else "blocked", flush=True)
# These may well be its end.
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"none", b".", b"tmpfs", 0, None) == 0:
    print("ESCAPED: mount", flush=True)
os.chroot(".")
print("ESCAPED: chroot")
