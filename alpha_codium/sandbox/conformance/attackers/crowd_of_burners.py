# expect: blocked or TLE; each of a crowd burns less than it may, in a session of its own, to starve its neighbours
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
