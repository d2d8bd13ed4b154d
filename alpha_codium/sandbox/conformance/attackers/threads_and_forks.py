# expect: TLE/RE/MLE or finishes; processes times threads: together they stay under one limit
import os
import threading
import time

print("ran", flush=True)
reader, writer = os.pipe()


def threads():
    while True:
        try:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            os.write(writer, b"t")
        except RuntimeError:
            break


for _ in range(10):
    try:
        if os.fork() == 0:
            threads()
            time.sleep(1000)
    except OSError:
        break
threads()
time.sleep(0.5)
count = len(os.read(reader, 1 << 16))
print(f"ESCAPED: {count} threads" if count > 200 else f"blocked at {count}", flush=True)
os._exit(0)
