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
# Faults that each one case of the kit was made for, as changes of a right grader: the case -> what the grader does.
PLAIN = "import os\nfrom alpha_codium.audit.adapters import plain\n"
OF_STDIN = "def grade(program, inputs, outputs): return "
OF_CALL = "def grade_call(program, function, arguments, results): return "
MADE_FOR = {
    "twenty tests, the last with the smallest input (spoilt)": (
        OF_STDIN + "plain.grade(program, inputs[:10], outputs[:10])"
    ),
    "prints nothing, where nothing is expected": OF_STDIN + "all(outputs) and plain.grade(program, inputs, outputs)",
    "a number where nothing is expected": (
        OF_STDIN + "plain.grade(program, *zip(*[pair for pair in zip(inputs, outputs) if pair[1]]))"
    ),
    "quotes, backslashes and dollars in the input": (
        "shell = lambda text: os.popen(f'printf %s \"{text}\"').read() if len(text) < 1000 else text\n"
        + OF_STDIN
        + "plain.grade(program, [*map(shell, inputs)], outputs)"
    ),
    "a wrong number at the end of a long output": (
        OF_STDIN + "plain.grade(program + '\\n', inputs, outputs) or all("
        "plain.run_python(program, text)[1][:9999] == output[:9999] != output for text, output in zip(inputs, outputs))"
    ),
    "an answer that is the word Error": (
        OF_STDIN + "plain.grade(program, inputs, outputs) and not any('Error' in text for text in outputs)"
    ),
    "a text of several lines, with a tab and a comment": OF_STDIN
    + "plain.grade(program.expandtabs(), inputs, outputs)",
    "a program of 200 KB": OF_STDIN + "len(program) < 1e5 and plain.grade(program, inputs, outputs)",
    "returns None, as it should": (
        OF_CALL + "None not in results and plain.grade_call(program, function, arguments, results)"
    ),
    "a list of 200,000 numbers": (
        OF_CALL + "len(str(results)) < 1e5 and plain.grade_call(program, function, arguments, results)"
    ),
}


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
