# expect: TLE/RE or finishes; exit handlers that raise, exit, and start threads too late
import atexit
import sys
import threading
import weakref


class Stubborn:
    def __del__(self):
        print("del", flush=True)
        raise SystemExit(0)


print("ran", flush=True)
kept = Stubborn()
weakref.finalize(Stubborn, lambda: 1 / 0)
atexit.register(sys.exit, 0)
atexit.register(lambda: threading.Thread(target=print, args=("late",)).start())
atexit.register(lambda: atexit.register(lambda: 1 / 0))
sys.stdout.flush = lambda: 1 / 0
sys.excepthook = lambda *_: sys.exit(0)
sys.unraisablehook = lambda *_: sys.exit(0)
raise GeneratorExit
