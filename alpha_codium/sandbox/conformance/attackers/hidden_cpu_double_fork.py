# expect: blocked or TLE; grandchildren without a parent burn while the program waits in a pipe
import os
import time

print("ran", flush=True)
reader, writer = os.pipe()
try:
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while time.process_time() < 0.8:
                    pass
                os.write(writer, b"x")
            os._exit(0)
        os.wait()
    got = b""
    while len(got) < 3:
        got += os.read(reader, 3)
    print("burned 2.4 CPU seconds")
except OSError as error:
    print("blocked", error)
