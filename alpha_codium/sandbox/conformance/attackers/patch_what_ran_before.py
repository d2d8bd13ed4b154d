# expect: TLE/RE or finishes; replaces every function that it can find, including the engine's, by one that does nothing
import gc
import os
import sys
import types

print("ran", flush=True)
frame = sys._getframe().f_back
while frame:
    for name, value in list(frame.f_globals.items()):
        if callable(value):
            frame.f_globals[name] = lambda *_, **__: 0
    frame = frame.f_back
for thing in gc.get_objects():
    if isinstance(thing, types.FunctionType) and "alpha_codium" in str(thing.__module__):
        thing.__code__ = (lambda *_, **__: 0).__code__
for name in ("_exit", "kill", "fork", "wait4", "close", "dup2", "setsid", "getpid"):
    setattr(os, name, lambda *_: 0)
    setattr(sys.modules["posix"], name, lambda *_: 0)
sys.exit = sys.excepthook = sys.unraisablehook = lambda *_: 0
sys.modules.clear()
