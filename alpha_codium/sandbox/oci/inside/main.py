"""The text that a container's interpreter runs: `python -S -s -c TEXT`, with what is in `frames` on stdin and stdout.

As in the local backend's `main`, a test's process comes back to this level to run its program.
"""

import marshal
import os
import sys


def take(size: int) -> bytes:
    """So many bytes of stdin."""
    data = b""
    while len(data) < size:
        chunk = os.read(0, size - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data


def load_modules() -> None:
    """Make the modules that the host sends, in its order, and the packages that they are in."""
    for name, source in marshal.loads(take(int.from_bytes(take(4), sys.byteorder))):
        module = type(sys)(name)
        module.__path__ = []
        sys.modules[name] = module
        above, _, last = name.rpartition(".")
        if above:
            setattr(sys.modules[above], last, module)
        exec(compile(source, "<" + name + ">", "exec", 0, True), module.__dict__)


load_modules()
from alpha_codium.sandbox.local.inside import program, runner, wire
from alpha_codium.sandbox.oci.inside import agent

depth = {}
exec(wire.DEPTH, depth)
candidate = agent.serve(depth["depth"])
task, tests = runner.make_ready(*candidate)
# Where a test can open what its runner has open, it must find nothing in it that another test can find again.
os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 2)
del depth, candidate
tests.serve()
error = None
try:
    exec(task.code, task.namespace)
except BaseException as caught:
    error = caught
else:
    if task.is_plain:
        task.leave_plainly()
if task.is_watched:
    sys.settrace(None)
    sys.setprofile(None)
status = program.status_of(error)
# It holds the program's frames, and they its variables.
del error
task.leave(status)
sys.exit(status)
