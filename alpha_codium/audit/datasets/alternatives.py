"""The built-in checkers that may be right for a problem, from strict to lax."""

import functools
import json
from dataclasses import dataclass

from alpha_codium.checkers import INTERACTOR, Checker, make_checker
from alpha_codium.judge.call import call_result
from alpha_codium.problem import CheckerSpec, Problem

# In the order in which they are tried: stricter ones first. `deepmind` is left out: the outputs that only it accepts
# are wrong answers.
_PRINTED = (
    CheckerSpec("tokens"),
    CheckerSpec("yes_no"),
    CheckerSpec("tokens", {"case_sensitive": False}),
    CheckerSpec("float", {"abs": 1e-9, "rel": 1e-9}),
    CheckerSpec("float", {"abs": 1e-6, "rel": 1e-6}),
    CheckerSpec("float", {"abs": 1e-4, "rel": 1e-4}),
    CheckerSpec("float", {"abs": 1e-6, "rel": 1e-6, "case_sensitive": False}),
    CheckerSpec("unordered_lines"),
)
_RETURNED = (
    CheckerSpec("call_result"),
    CheckerSpec("call_result", {"abs": 1e-9, "rel": 1e-9}),
    CheckerSpec("call_result", {"abs": 1e-6, "rel": 1e-6}),
)
ORDER_FREE = "unordered_lines"


@dataclass(frozen=True, slots=True)
class Alternative:
    """A checker other than the one in force; its `key` in a run's files is its name, and its arguments as JSON."""

    spec: CheckerSpec
    checker: Checker
    key: str


def alternatives_for(problem: Problem) -> tuple[Alternative, ...]:
    """Return the checkers to try on a problem's outputs, from strict to lax; none if no output is compared."""
    if problem.checker is not None and problem.checker.name == INTERACTOR:
        return ()
    return _alternatives(problem.execution.is_function) if problem.execution.has_outputs else ()


@functools.cache
def _alternatives(is_function: bool) -> tuple[Alternative, ...]:
    if is_function:
        return tuple(Alternative(spec, call_result(**spec.arguments), _key(spec)) for spec in _RETURNED)
    return tuple(Alternative(spec, make_checker(spec), _key(spec)) for spec in _PRINTED)


def _key(spec: CheckerSpec) -> str:
    return f"{spec.name} {json.dumps(spec.arguments, sort_keys=True)}" if spec.arguments else spec.name
