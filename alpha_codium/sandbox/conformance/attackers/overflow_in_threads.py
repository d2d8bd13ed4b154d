# expect: RE/TLE/MLE; the stack of a thread overflows, beyond where Python looks
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
