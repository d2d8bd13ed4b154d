# expect: RE or finishes; its output can't be written when it ends
import os

print("ran", flush=True)
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
print("this can't be written")
