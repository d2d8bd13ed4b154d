"""The limits and the checker that a problem is judged by, from the user's settings and the problem."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from alpha_codium.checkers import CALL_RESULT, DEFAULT_CHECKER
from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.tolerances import tolerance_in
from alpha_codium.languages.python.prelude import with_prelude
from alpha_codium.limits import (
    DEFAULT_CPU_SECONDS,
    DEFAULT_MEMORY_BYTES,
    DEFAULT_TIME_LIMIT_FACTOR,
    TIME_LIMIT_FACTORS,
    Limits,
)
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem
from alpha_codium.program import PYTHON

if TYPE_CHECKING:
    from alpha_codium.config.sections import CodeTesterSection


@dataclass(frozen=True, slots=True)
class Rules:
    """A user's settings for judging; a limit of 0 means the problem's own.

    `cpu_seconds` is used as given; a problem's own time limit is meant for C++, and multiplied by `time_limit_factor`
    for programs in Python, and by `time_limit_factors` for those in other languages. `wall_seconds` is by default three
    times the CPU time plus 2 s.
    `delta` and `order_matters` choose the checker of problems that name none. `header` is Python code, such as imports,
    that runs before each Python program and before a problem's own setup code.
    """

    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    time_limit_factor: float = DEFAULT_TIME_LIMIT_FACTOR
    delta: float = 0.0
    order_matters: bool = True
    stop_on_first_failure: bool = False
    header: str = ""
    time_limit_factors: Mapping[str, float] = field(default_factory=lambda: TIME_LIMIT_FACTORS)
    wall_seconds: float = 0.0

    @classmethod
    def of(cls, settings: "CodeTesterSection", time_limit_factors: Mapping[str, float] = TIME_LIMIT_FACTORS) -> "Rules":
        """Return the rules in the settings `[code_tester]`, and the factors of `[languages]`."""
        others = ("cpu_seconds", "time_limit_factors", "wall_seconds")
        same = {field.name: getattr(settings, field.name) for field in fields(cls) if field.name not in others}
        return cls(cpu_seconds=settings.timeout, time_limit_factors=time_limit_factors, **same)

    def execution_of(self, problem: Problem) -> ExecutionSpec:
        """Return how the problem's tests run a program, with the header before its setup code."""
        spec = problem.execution
        if not self.header.strip() or spec.language != PYTHON:
            return spec
        return replace(spec, setup_code=with_prelude(self.header, spec.setup_code))

    def limits_for(self, problem: Problem, language: str = PYTHON) -> Limits:
        """Return the limits of one test of a program in `language`: ours, else the problem's, else the defaults.

        Raises Unjudgeable for limits that no program could have.
        """
        factor = self.time_limit_factors.get(language, self.time_limit_factor)
        own_seconds = (problem.time_limit_seconds or 0.0) * factor
        try:
            return Limits(
                cpu_seconds=self.cpu_seconds or own_seconds or DEFAULT_CPU_SECONDS,
                wall_seconds=self.wall_seconds,
                memory_bytes=int(self.memory_bytes or problem.memory_limit_bytes or DEFAULT_MEMORY_BYTES),
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise Unjudgeable(f"its limits: {error}") from error

    def checker_for(self, problem: Problem) -> CheckerSpec:
        """Return the checker: the problem's own, else the user's, else `float` with the errors that the statement
        allows, else `tokens`. For what a call returns, it is `call_result`, with the arguments that the problem gives,
        else within `delta`, else within the errors that the statement allows.
        """
        if problem.execution.kind == "call":
            return self._checker_of_calls(problem)
        if problem.checker is not None:
            return problem.checker
        if not self.order_matters:
            return CheckerSpec("unordered_lines")
        if self.delta > 0:
            return CheckerSpec("float", {"abs": self.delta, "rel": self.delta})
        allowed = tolerance_in(problem.description)
        if allowed is not None:
            return CheckerSpec("float", {"abs": allowed[0], "rel": allowed[1]})
        return DEFAULT_CHECKER

    def _checker_of_calls(self, problem: Problem) -> CheckerSpec:
        # Only APPS and TACO, whose problems have a checker, expect `[3]` for 3.
        own = problem.checker or CheckerSpec(CALL_RESULT, {"unwrap": False})
        if own.name != CALL_RESULT or {"abs", "rel"} & own.arguments.keys():
            return own
        allowed = (self.delta, self.delta) if self.delta > 0 else tolerance_in(problem.description) or (0.0, 0.0)
        return CheckerSpec(CALL_RESULT, {"abs": allowed[0], "rel": allowed[1], **own.arguments})
