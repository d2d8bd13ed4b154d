# expect: blocked or TLE; many processes, each in its own session and below its limit, starve other tests
import os

print("ran", flush=True)
for _ in range(60):
    try:
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
    except OSError as error:
        print("blocked", error, flush=True)
        break
while True:
    pass
