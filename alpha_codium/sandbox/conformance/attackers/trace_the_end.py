# expect: TLE/RE or finishes; trace, profile and audit hooks that fail in everything that the engine does after the program
import sys
import threading

print("ran", flush=True)


def hook(*arguments):
    raise RuntimeError("from the hook")


frame = sys._getframe()
while frame:
    frame.f_trace = hook
    frame = frame.f_back
threading.settrace(hook)
threading.setprofile(hook)
sys.addaudithook(hook)
sys.setprofile(hook)
sys.settrace(hook)
