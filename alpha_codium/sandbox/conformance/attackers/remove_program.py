# expect: finishes; the check for changes after the test must cope with missing files
import os

print("ran", flush=True)
os.unlink("program.py")
os.mkdir("program.py")
os.rmdir("program.py")
