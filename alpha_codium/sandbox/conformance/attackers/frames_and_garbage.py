# expect: blocked or finishes; neither frames nor garbage hold a live descriptor, a nonce or an answer
import _socket
import gc
import os
import sys

print("ran", flush=True)
alive = []
for descriptor in range(3, 1024):
    try:
        os.fstat(descriptor)
        alive.append(descriptor)
    except OSError:
        pass
frame, seen = sys._getframe(), []
while frame:
    seen += [*frame.f_locals.values(), *frame.f_globals.values()]
    frame = frame.f_back
for thing in [*gc.get_objects(), *gc.get_objects(generation=2), *seen]:
    try:
        if isinstance(thing, _socket.socket) and thing.fileno() >= 0:
            thing.send(b"\0" * 64)
            alive.append(repr(thing))
    except (OSError, ReferenceError, AttributeError):
        pass
print("ESCAPED: " + " ".join(map(str, alive)) if alive else "blocked")
