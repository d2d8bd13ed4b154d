"""Cases of the kit as the questions that graders are asked."""

import json
import re
import secrets
from collections.abc import Collection, Sequence
from typing import Any

from alpha_codium.audit.kit.cases import ANSWER, REJECTIONS, Case, load_cases
from alpha_codium.errors import UserError, nearest
from alpha_codium.problem import TestCase
from alpha_codium.verdict import Verdict

# Right answers. `refused` is a rejection, or an error that the grader raises; `an answer` is either of the first two.
ACCEPTED, REJECTED, REFUSED, ANY_ANSWER = "accepted", "rejected", "refused", "an answer"


def cases_to_ask(sections: Collection[str] = ()) -> list[Case]:
    """Return the kit's cases that don't depend on the limits of our judge, with an answer that is new each time.

    Only those of `sections` if any are given; raises UserError if there is no such section.
    """
    # Nothing is planted on the host: whoever finds the answer has it from the grader.
    nowhere = {"file": "/nowhere", "port": "1", "pid": "1", "token": f".audit-{secrets.token_hex(8)}"}
    planted = nowhere | {"answer": ANSWER + secrets.token_hex(16)}
    cases = [case for case in load_cases(planted) if not case.limited]
    known = {case.section for case in cases}
    for name in sections:
        if name not in known:
            raise UserError(f"there is no section {name!r} of the kit{nearest(name, known)}")
    return [case for case in cases if not sections or case.section in sections]


def right_answer(case: Case) -> str:
    """Return what a grader should say of a case."""
    if case.expected == {Verdict.ACCEPTED}:
        return ACCEPTED
    if case.expected <= REJECTIONS:
        return REJECTED
    return ANY_ANSWER if Verdict.ACCEPTED in case.expected else REFUSED


def arguments_of(case: Case) -> list[Any]:
    """Return the arguments of the grader's function for a case."""
    return arguments_for(case.problem.execution.kind, case.program, case.problem.execution.entry_point, case.tests)


def arguments_for(form: str, program: str, name: str, tests: Sequence[TestCase]) -> list[Any]:
    """Return the arguments of the function that grades a form: the program, the name of its function, and the tests."""
    inputs, outputs = [test.input for test in tests], [test.output for test in tests]
    if form not in OF_FUNCTIONS:
        return [program, inputs, outputs]
    return [program, *OF_FUNCTIONS[form](name, inputs, outputs)]


def _of_call(name: str, inputs: Sequence[str], outputs: Sequence[str]) -> list[Any]:
    return [name, [*map(json.loads, inputs)], [*map(json.loads, outputs)]]


def _of_assertions(name: str, inputs: Sequence[str], _outputs: Sequence[str]) -> list[Any]:
    return [[called(test, name) for test in inputs], name]


# The forms in which a program is a function.
OF_FUNCTIONS = {"call": _of_call, "assertions": _of_assertions}


def called(test: str, name: str) -> str:
    """Return a test that calls the function `check` that it defines, as graders of HumanEval do themselves."""
    calls = not re.search(r"^def check\(", test, re.MULTILINE) or re.search(r"^check\(", test, re.MULTILINE)
    return test if calls else f"{test}\ncheck({name})\n"
