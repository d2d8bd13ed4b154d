# expect: blocked: environment, arguments, host name, user and mounts don't reveal the host
import os
import socket
import sys

print("ran", flush=True)
found = [
    name for name in os.environ if any(word in name for word in ("KEY", "TOKEN", "SECRET", "GENCODE", "PYTHONPATH"))
]
for path in ("/proc/self/environ", "/proc/self/mountinfo", "/proc/self/cgroup"):
    try:
        text = open(path).read()
    except OSError:
        continue
    found += [path + ":" + word for word in ("GENCODE", "/mnt", "plan.json", "hostile", "PYTHONPATH") if word in text]
if os.getuid() == 0:
    found.append("root")
print("ESCAPED: " + " ".join(found) if found else "blocked", sys.argv, socket.gethostname())
