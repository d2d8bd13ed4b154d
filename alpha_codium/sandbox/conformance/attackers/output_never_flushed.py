# expect: RE; killed with output in its buffers, Python's and C's
import ctypes
import os
import signal
import sys

print("ran", flush=True)
sys.stdout.write("never flushed")
sys.stdout.buffer.write(b"nor this")
ctypes.CDLL(None).printf(b"nor that")
os.kill(os.getpid(), signal.SIGKILL)
