# expect: blocked or killed: makes the kernel send signals to process 1 when a pipe or a folder changes
import fcntl
import os
import signal

print("ran", flush=True)
reader, writer = os.pipe()
done = []
for name, function in {
    "owner": lambda: fcntl.fcntl(reader, fcntl.F_SETOWN, 1),
    "signal": lambda: fcntl.fcntl(reader, fcntl.F_SETSIG, signal.SIGKILL),
    "folder": lambda: fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, 0x80000004),
    "lease": lambda: fcntl.fcntl(os.open("own", os.O_CREAT | os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK),
}.items():
    try:
        function()
        done.append(name)
    except OSError:
        pass
fcntl.fcntl(reader, fcntl.F_SETFL, 0o20000)
os.write(writer, b"x")
print("ESCAPED: " + " ".join(done) if "owner" in done and "signal" in done else "blocked " + " ".join(done))
