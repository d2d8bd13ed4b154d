# expect: finishes; a folder without permissions; the next test gets a new one
import os

print("ran", flush=True)
open("mine", "x").close()
os.chmod("mine", 0)
os.chmod(".", 0)
