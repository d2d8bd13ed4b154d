"""Graders with a fault each, as files."""

from pathlib import Path

from alpha_codium.audit.graders.process import Grader

ACCEPTS = "def grade(program, inputs, outputs): return True"
RAISES = "def grade(program, inputs, outputs): raise ValueError('no')"
LEAVES = "import os\ndef grade(program, inputs, outputs): os._exit(0)"
HANGS = "import time\ndef grade(program, inputs, outputs): time.sleep(60)"
# It runs programs in its own process, and has three faults: see docs/audit.md.
RUNS = """
import contextlib, io, sys

def run(program, text):
    sys.stdin, out = io.StringIO(text), io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(program, {"__name__": "__main__"})
        except SystemExit:
            pass
        except Exception:
            return None
    return out.getvalue()

def grade(program, inputs, outputs):
    found = [run(program, text) for text in inputs]
    return all(said is not None and said.split() == right.split() for said, right in zip(found, outputs))
"""


def grader(folder: Path, text: str) -> Grader:
    """A grader of this text."""
    path = folder / "grader.py"
    path.write_text(text)
    return Grader("grader.py", str(path))
