"""The end of a worker's script, which serves the host, becomes a runner, and then a test.

This isn't imported: `main`, here and in `containers/inside/main`, executes its text at module level after defining
`serve`. A test's process returns to this level to run its program, so that as few stack frames as possible are below
it and the program can recurse deeper.
"""

import sys

from alpha_codium.sandbox.engine.inside import program, runner, wire

depth = {}
exec(wire.DEPTH, depth)
request = serve(depth["depth"])  # noqa: F821  # pyrefly: ignore[unknown-name]
prepared, forker = runner.make_ready(*request)
del depth, request
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
# The exception keeps the program's frames and variables alive.
del error
prepared.leave(status)
sys.exit(status)
