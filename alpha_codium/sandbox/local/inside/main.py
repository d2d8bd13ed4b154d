"""The script of a worker: `python -S -s main.py CONTROL_FD`, with what is in `wire` on the other end.

A test's process comes back to this level to run its program: the fewer frames below it, the more a program that
recurses has left, and Python takes down what is above.
"""

from __future__ import annotations

import sys


def find_package() -> None:
    """Make our own modules importable, and none of the packages above them: those need more than this interpreter."""
    names = "alpha_codium.sandbox.local.inside".split(".")
    folder = __file__.rpartition("/")[0]
    for count in range(1, len(names) + 1):
        module = type(sys)(".".join(names[:count]))
        module.__path__ = [folder] if count == len(names) else []
        sys.modules[module.__name__] = module


find_package()
from alpha_codium.sandbox.local.inside import program, runner, wire, zygote

depth = {}
exec(wire.DEPTH, depth)
candidate = zygote.serve(int(sys.argv[1]), depth["depth"])
task, tests = runner.make_ready(*candidate)
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
