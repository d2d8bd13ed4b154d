# expect: blocked: the host's files by way of links, ancestors, descriptors and other names of the root
import os

print("ran", flush=True)
found = []
up = "../" * 40
for root in ("", up, "/proc/self/root/", "/proc/1/root/", "/proc/self/cwd/" + up, "/dev/fd/0/../", "/program/" + up):
    for name in (
        "etc/passwd",
        "etc/hostname",
        "tmp/gencode-canary/secret.txt",
        "mnt/plan.json",
        "root",
        "home",
        "sys",
        "boot",
    ):
        path = (root or "/") + name
        try:
            os.symlink(path, "link")
        except OSError:
            pass
        for spelled in (path, "link"):
            try:
                inside = os.listdir(spelled) if os.path.isdir(spelled) else open(spelled, "rb").read(50)
                if inside:
                    found.append(path)
            except OSError:
                pass
        try:
            os.unlink("link")
        except OSError:
            pass
print("ESCAPED: " + " ".join(found) if found else "blocked", os.listdir("/"))
