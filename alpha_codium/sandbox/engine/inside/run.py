"""The end of a worker's script, wherever the worker is: it serves, and becomes a runner, and then a test.

No module, but text that `main` runs at its own level, here and in containers (`containers/inside/main`), after it has
said what `serve` is. A test's process comes back to this level to run its program: the fewer frames below it, the more
a program that recurses has left, and Python takes down what is above.
"""

import sys

from alpha_codium.sandbox.engine.inside import program, runner, wire

depth = {}
exec(wire.DEPTH, depth)
candidate = serve(depth["depth"])  # noqa: F821  # pyrefly: ignore[unknown-name]
prepared, forker = runner.make_ready(*candidate)
del depth, candidate
forker.serve()
error = None
try:
    exec(prepared.code, prepared.namespace)
except BaseException as caught:
    error = caught
else:
    if prepared.is_plain:
        prepared.leave_plainly()
if prepared.is_watched:
    sys.settrace(None)
    sys.setprofile(None)
status = program.status_of(error)
# It holds the program's frames, and they its variables.
del error
prepared.leave(status)
sys.exit(status)
