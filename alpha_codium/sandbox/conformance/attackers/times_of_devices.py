# expect: blocked: the times of device nodes, which may be those of the host's files, can't be set
import os

print("ran", flush=True)
changed = []
for name in ("null", "zero", "full", "random", "urandom"):
    path = "/dev/" + name
    for attempt in (
        lambda: os.utime(path),
        lambda: os.utime(path, (1, 1)),
        lambda: os.utime(os.open(path, os.O_RDONLY)),
    ):
        try:
            attempt()
            changed.append(name)
        except OSError:
            pass
print("ESCAPED: " + " ".join(changed) if changed else "blocked")
