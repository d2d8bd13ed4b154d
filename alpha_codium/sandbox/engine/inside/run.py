"""The end of a worker's script: it serves the host, becomes a runner, and then a test.

This is no module, but text that `main` executes at its own level, here and in containers (`containers/inside/main`),
after it has defined `serve`. A test's process returns to this level to run its program: the fewer frames there are
below it, the deeper a program can recurse.
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
if prepared.is_traced:
    sys.settrace(None)
    sys.setprofile(None)
status = program.status_of(error)
# It refers to the program's frames, and they to its variables.
del error
prepared.leave(status)
sys.exit(status)
