# expect: TLE; the first thread ends by itself, the process lives on in another and shows as a zombie
# machine: x86_64
import ctypes
import threading
import time

print("ran", flush=True)
threading.Thread(target=time.sleep, args=(10**6,)).start()
ctypes.CDLL(None).syscall(60, 0)
