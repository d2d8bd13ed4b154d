"""The kit: small programs whose verdict is known, which ship with the package.

1. `kit/problems.toml` holds the problems; each other file holds the cases of one section. What stands before a file's
   first case goes for all of them.
2. A case that must be accepted holds the word OFF. It is two programs: the one with OFF as 0, and a spoilt one with OFF
   as 1, which must be a wrong answer. So a judge that accepts everything is found out as one that rejects too much is.
3. Texts in {braces} in a problem's tests are secrets of one run (see `witnesses`): no program can hold them.
"""

import functools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.verdict import Verdict

SECTIONS = ("stdin", "ends", "call", "assertions", "cheats")
SPOILT = " (spoilt)"
DEFAULT_SECONDS = 4.0
ANY = frozenset(Verdict) - {Verdict.INTERNAL_ERROR, Verdict.NO_TESTS}
REJECTIONS = ANY - {Verdict.ACCEPTED}
# What a case may expect that isn't one verdict.
WORDS = {"rejected": REJECTIONS, "held": ANY}


@dataclass(frozen=True, slots=True)
class DoctorCase:
    """One program, the problem that it is judged on, and the verdicts that are right.

    `needs` is a module without which it can't be run. A `dangerous` one is run behind walls only.
    """

    name: str
    section: str
    problem: Problem
    program: str
    expected: frozenset[Verdict]
    needs: str = ""
    dangerous: bool = False

    @property
    def tests(self) -> tuple[TestCase, ...]:
        """The tests of the case."""
        return self.problem.private_tests


def load_kit(secrets: Mapping[str, str]) -> list[DoctorCase]:
    """All cases, in the order of `SECTIONS`, with `secrets` in place of the names in braces."""
    problems = {name: _problem(name, values, secrets) for name, values in _table("problems").items()}
    return [case for section in SECTIONS for case in _cases(_table(section), problems)]


def _cases(table: Mapping[str, Any], problems: Mapping[str, Problem]) -> Iterator[DoctorCase]:
    common = {key: value for key, value in table.items() if key != "case"}
    for values in table["case"]:
        yield from _variants(common | values, problems)


def _variants(values: Mapping[str, Any], problems: Mapping[str, Problem]) -> Iterator[DoctorCase]:
    case = DoctorCase(
        name=values["name"],
        section=values["section"],
        problem=_limited(problems[values["problem"]], values),
        program=values["program"],
        expected=frozenset().union(*map(_verdicts, values["expect"])),
        needs=values.get("needs", ""),
        dangerous=values.get("dangerous", False),
    )
    if case.expected != {Verdict.ACCEPTED}:
        yield case
        return
    spoilt = replace(case, name=case.name + SPOILT, expected=frozenset({Verdict.WRONG_ANSWER}))
    yield replace(case, program=case.program.replace("OFF", "0"))
    yield replace(spoilt, program=case.program.replace("OFF", "1"))


def _limited(problem: Problem, values: Mapping[str, Any]) -> Problem:
    return replace(
        problem,
        private_tests=problem.private_tests[:1] if values.get("first_test") else problem.private_tests,
        time_limit_seconds=values.get("seconds", DEFAULT_SECONDS),
        memory_limit_bytes=values.get("memory_bytes"),
    )


def _verdicts(word: str) -> frozenset[Verdict]:
    return WORDS[word] if word in WORDS else frozenset({Verdict(word)})


def _problem(name: str, values: Mapping[str, Any], secrets: Mapping[str, str]) -> Problem:
    tests = tuple(TestCase(_text(t["input"], secrets), _text(t["output"], secrets)) for t in values["tests"])
    execution = ExecutionSpec(values.get("kind", "stdin"), values.get("entry_point", ""))
    return Problem(name, values["about"], private_tests=tests, execution=execution)


def _text(value: str | list[tuple[str, int]], secrets: Mapping[str, str]) -> str:
    """A test's text: as it stands, or made of parts that are repeated; with the secrets filled in."""
    text = value if isinstance(value, str) else "".join(part * times for part, times in value)
    for name, secret in secrets.items():
        text = text.replace(f"{{{name}}}", secret)
    return text


@functools.cache
def _table(name: str) -> dict[str, Any]:
    file = resources.files("alpha_codium.eval.doctor").joinpath("kit", f"{name}.toml")
    return tomllib.loads(file.read_text("utf-8"))
