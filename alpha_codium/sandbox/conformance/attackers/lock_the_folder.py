# expect: finishes; a folder that nobody may enter or look at any more, the next test gets a new one
import os

print("ran", flush=True)
open("mine", "x").close()
os.chmod("mine", 0)
os.chmod(".", 0)
