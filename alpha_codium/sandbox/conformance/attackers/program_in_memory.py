# expect: blocked: no other program, by a descriptor, the loader, a copy, or multiprocessing's own start
# machine: x86_64
import ctypes
import os
import sys

print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
done = []
loader = "/lib64/ld-linux-x86-64.so.2"
python = os.path.realpath(sys.executable or "/usr/bin/python3")
ENVIRONMENT = {"A": "1"}


def copied(folder):
    path = folder + "/copy"
    with open(loader, "rb") as source, open(path, "wb") as target:
        target.write(source.read())
    os.chmod(path, 0o777)
    return path


def in_memory():
    memory = os.memfd_create("program", 0)
    os.write(memory, open(loader, "rb").read())
    return memory


def raw(number, *arguments):
    # Comes back only where it fails.
    argv = (ctypes.c_char_p * 2)(b"x", None)
    libc.syscall(number, *[argv if a is None else a for a in arguments])


for attempt in (
    lambda: done.append(os.posix_spawn(loader, [loader, "--version"], ENVIRONMENT)),
    lambda: done.append(os.posix_spawn(python, [python, "-c", "1"], ENVIRONMENT)),
    lambda: done.append(os.posix_spawnp("sh", ["sh", "-c", "true"], ENVIRONMENT)),
    lambda: done.append(os.posix_spawn(copied("."), ["copy", "--version"], ENVIRONMENT)),
    lambda: os.execve(in_memory(), ["x"], ENVIRONMENT),
    lambda: os.execve(os.open(loader, os.O_RDONLY), ["x"], ENVIRONMENT),
    lambda: raw(59, loader.encode(), None, 0),
    lambda: raw(322, os.open(loader, os.O_PATH), b"", None, 0, 0x1000),
):
    try:
        attempt()
    except OSError:
        pass
print("ESCAPED: started " + repr(done) if done else "blocked")
