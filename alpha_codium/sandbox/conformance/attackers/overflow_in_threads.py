# expect: RE/TLE/MLE; a thread's stack overflows where Python doesn't check it
import sys
import threading

print("ran", flush=True)
sys.setrecursionlimit(10**9)
threading.stack_size(1 << 16)


class Deep:
    def __repr__(self):
        return repr(self)


for _ in range(4):
    threading.Thread(target=repr, args=(Deep(),)).start()
