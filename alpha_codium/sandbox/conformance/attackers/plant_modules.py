# expect: finishes; nothing planted here is ever imported or seen, by the next test or by the next candidate
import os
import sys

print("ran", flush=True)
EVIL = "evil = 'planted'\nprint('ESCAPED: a planted module ran')\n"
NAMES = ("numpy", "sitecustomize", "usercustomize", "planted_by_attacker", "heapq", "encodings/planted", "os", "site")
if "planted_by_attacker" in sys.modules:
    print("ESCAPED: it was imported already")
try:
    import planted_by_attacker  # noqa: F401
except ImportError:
    pass
folders = [".", "/tmp", "/dev/shm", "/var/tmp", "/program", "/box", os.path.expanduser("~"), *sys.path, "/run", "/"]
folders += [folder + "/__pycache__" for folder in sys.path]
for folder in folders:
    for name in NAMES:
        path = f"{folder or '.'}/{name}.py"
        if os.path.exists(path) and "planted" in open(path).read(200):
            print("ESCAPED: found", path)
for folder in folders:
    for name in NAMES:
        try:
            os.makedirs(os.path.dirname(f"{folder or '.'}/{name}"), exist_ok=True)
            with open(f"{folder or '.'}/{name}.py", "w") as file:
                file.write(EVIL)
        except OSError:
            pass
