# expect: RE; neither stdout nor stderr is there when the program fails
import sys

print("ran", flush=True)
sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = sys.stdin = None
raise ValueError("nobody hears this")
