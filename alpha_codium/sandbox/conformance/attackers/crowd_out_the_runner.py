# expect: blocked or MLE/RE/TLE, finishes; when memory runs out, the kernel should kill one of many processes and not the runner
import os
import time

print("ran", flush=True)
kept = []
for number in range(3):
    try:
        with open(f"full{number}", "wb") as file:
            for _ in range(15):
                file.write(b"x" * (1 << 20))
    except OSError:
        break
for _ in range(50):
    try:
        if os.fork() == 0:
            for _ in range(100):
                kept.append(bytearray(1 << 17))
                kept[-1][::4096] = b"x" * 32
            time.sleep(1)
            os._exit(0)
    except OSError:
        break
ended = 0
try:
    while True:
        _, status = os.wait()
        ended += status == 0
except ChildProcessError:
    print("ESCAPED: 50 x 12 MB at once" if ended == 50 else f"blocked: {ended}")
