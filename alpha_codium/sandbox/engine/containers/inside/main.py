"""The script of a container: `python -S -s -c TEXT`, with the frames in `frames` on its stdin and stdout."""

import marshal
import os
import sys


def take(size: int) -> bytes:
    """Read `size` bytes of stdin."""
    data = b""
    while len(data) < size:
        chunk = os.read(0, size - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data


def load_modules():  # noqa: ANN201 - `run` goes on at this level
    """Create the modules that the host sends, in that order, and their packages; return the last one."""
    for name, source in marshal.loads(take(int.from_bytes(take(4), sys.byteorder))):
        module = type(sys)(name)
        module.__path__ = []
        sys.modules[name] = module
        above, _, last = name.rpartition(".")
        if above:
            setattr(sys.modules[above], last, module)
        exec(compile(source, "<" + name + ">", "exec", 0, True), module.__dict__)
    return module


serve = load_modules().serve
# Here follows the text of `engine/inside/run`, or a call of `serve`.
