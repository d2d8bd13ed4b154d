"""Codeforces as open-r1 has collected it: programs that read and print, with the checkers that were generated for it.

1. The statement is put together from its parts. `examples` are the public tests, `official_tests` the private ones;
   the tests that open-r1 generated are in other files, and aren't read.
2. `generated_checker` is a program in Python: see the protocol `open_r1` of `judge.checker_programs`. Without it, words
   are compared as open-r1 does, yes and no without regard to case.
3. A problem that talks to the program has no interactor in the dataset: it has no tests.
"""

from typing import Any

from alpha_codium.checkers import PROGRAM
from alpha_codium.data.benchmarks.benchmark import Benchmark, checked_tests
from alpha_codium.data.fields import Fields
from alpha_codium.problem import SOURCE_NAMES

NAME = "codeforces"
SOURCE = next(number for number, name in SOURCE_NAMES.items() if name == NAME)
PARTS = {
    "description": "",
    "input_format": "Input",
    "output_format": "Output",
    "interaction_format": "Interaction",
    "note": "Note",
}
MEGABYTE = 1 << 20


def _convert(fields: Fields) -> dict[str, Any]:
    in_file = fields.text("input_mode") == "file"
    talks, checker = fields.text("interaction_format"), fields.text("generated_checker")
    program = {"name": PROGRAM, "arguments": {"protocol": "open_r1", "files": {"checker.py": checker}}}
    examples, contest = checked_tests(fields, "examples", "input", "output"), fields.text("contest_id")
    return {
        "name": f"{NAME}/{fields.needed('id')}",
        "description": _statement(fields, examples),
        "public_tests": [] if talks else examples,
        "private_tests": [] if talks else checked_tests(fields, "official_tests", "input", "output"),
        "checker": program if checker else {"name": "yes_no", "arguments": {}},
        "time_limit": fields.number("time_limit"),
        "memory_limit_bytes": int(fields.number("memory_limit") * MEGABYTE),
        "input_file": "input.txt" if in_file else "",
        "output_file": "output.txt" if in_file else "",
        "source": SOURCE,
        "cf_contest_id": int(contest) if contest.isdecimal() else 0,
        "cf_index": fields.text("index"),
        "cf_rating": fields.integer("rating"),
        "cf_tags": fields.texts("tags"),
    }


def _statement(fields: Fields, examples: list[dict[str, str]]) -> str:
    parts = [f"# {fields.needed('title')}"]
    for name, heading in PARTS.items():
        if text := fields.text(name).strip():
            parts += [f"## {heading}", text] if heading else [text]
    for test in examples:
        parts += ["## Example", f"Input:\n\n{test['input'].rstrip()}", f"Output:\n\n{test['output'].rstrip()}"]
    return "\n\n".join(parts) + "\n"


CODEFORCES = Benchmark(
    NAME,
    frozenset({"id", "contest_id", "index", "examples", "official_tests", "generated_checker"}),
    _convert,
    key="id",
    hub_id="open-r1/codeforces",
)
