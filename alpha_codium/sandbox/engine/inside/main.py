"""The script of a worker: `python -S -s main.py CONTROL_FD`, a socket for the messages in `wire`; see also `run`."""

import sys

FOLDER = __file__.rpartition("/")[0]


def find_package():  # noqa: ANN201 - `run` goes on at this level: no annotations, no __future__
    """Make our own modules importable, without the packages above them, which need more than this interpreter."""
    names = "alpha_codium.sandbox.engine.inside".split(".")
    for count in range(1, len(names) + 1):
        module = type(sys)(".".join(names[:count]))
        module.__path__ = [FOLDER] if count == len(names) else []
        sys.modules[module.__name__] = module


find_package()
from alpha_codium.sandbox.engine.inside import zygote


def serve(depth):  # noqa: ANN001, ANN201
    """Serve the host at the other end of the socket."""
    return zygote.serve(int(sys.argv[1]), depth)


with open(FOLDER + "/run.py", encoding="utf-8") as file:
    text = file.read()
exec(compile(text, FOLDER + "/run.py", "exec"))
