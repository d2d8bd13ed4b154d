# expect: OLE; a flood of bytes that aren't UTF-8
import os

print("ran", flush=True)
while os.write(1, b"\xff\xc3\x28\xed\xa0\x80\0" * 10_000):
    pass
