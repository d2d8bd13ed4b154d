"""Graders with a fault each, as files; and parts of the kit to ask them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from alpha_codium.audit.graders.asking import right_answer
from alpha_codium.audit.graders.process import Grader
from alpha_codium.audit.kit.cases import Case

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


def part_of(cases: Sequence[Case], every: int) -> list[Case]:
    """Every so many cases of each section, form and right answer, but at least one of each."""

    def kind(case: Case) -> tuple[str, str, str]:
        return case.section, case.form, right_answer(case)

    def chosen() -> Iterator[Case]:
        for _, group in groupby(sorted(cases, key=kind), key=kind):
            yield from list(group)[::every]

    return list(chosen())
