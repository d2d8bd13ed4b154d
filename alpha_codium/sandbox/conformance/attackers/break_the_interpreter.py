# expect: TLE/RE or finishes; takes the interpreter down from inside, while another thread still runs
import ctypes
import sys
import threading

print("ran", flush=True)
threading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()
ctypes.pythonapi.Py_FinalizeEx()
ctypes.memset(id(None), 0, 16)
sys.exit(0)
