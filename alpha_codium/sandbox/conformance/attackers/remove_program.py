# expect: finishes; whoever looks after the test whether its folder was touched must bear with what isn't there
import os

print("ran", flush=True)
os.unlink("program.py")
os.mkdir("program.py")
os.rmdir("program.py")
