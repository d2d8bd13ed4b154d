"""Candidates, the programs that models generate, and the reasons why a sample has none."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from alpha_codium.program import PYTHON, Program
from alpha_codium.values import JsonValue, Readers


class ErrorKind(StrEnum):
    """Whose fault it is that a sample ended without a program."""

    MODEL = "model"
    PROVIDER = "provider"
    INTERNAL = "internal"


class BudgetOwner(StrEnum):
    """Whose calls a budget limits: those of one sample, of all samples of a problem, or of the run."""

    SAMPLE = "sample"
    PROBLEM = "problem"
    RUN = "run"


class BudgetLimit(StrEnum):
    """The limit of a budget that was reached, as it is called in the settings."""

    CALLS = "calls"
    TOKENS = "tokens"
    COST = "cost"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class BudgetEnd(JsonValue):
    """A budget that was used up, so that a sample could make no further call.

    `amount` is the limit, in its unit; `price_unknown`: the cost was limited, and what was spent isn't known.
    """

    kind: ClassVar[str] = "budget_end"
    readers: ClassVar[Readers] = {"owner": BudgetOwner, "limit": BudgetLimit}

    owner: BudgetOwner
    limit: BudgetLimit
    amount: float
    price_unknown: bool = False

    def __str__(self) -> str:
        used = {
            BudgetLimit.CALLS: "has made its",
            BudgetLimit.TOKENS: "has used its",
            BudgetLimit.COST: f"has spent {'an unknown amount' if self.price_unknown else 'all'} of its",
            BudgetLimit.SECONDS: "has had its",
        }
        return f"the {self.owner} {used[self.limit]} {self.shown_amount}"

    @property
    def unit(self) -> str:
        """The unit of the amount."""
        return "dollars" if self.limit is BudgetLimit.COST else self.limit.value

    @property
    def shown_amount(self) -> str:
        """The amount and its unit, for people."""
        return f"{self.amount if isinstance(self.amount, int) else format(self.amount, 'g')} {self.unit}"

    @property
    def budget(self) -> str:
        """The budget, for people."""
        return f"the {self.owner}'s budget of {self.shown_amount}"

    @property
    def is_own(self) -> bool:
        """Whether it is the sample's own budget; a budget shared with others says nothing about the model."""
        return self.owner is BudgetOwner.SAMPLE


@dataclass(frozen=True, slots=True)
class SampleError(JsonValue):
    """Why a sample ended without a program.

    A fault of the model (truncated, no code, refusal) makes it a failed sample. A fault of the provider or of gencode
    makes a result incomplete, and `--resume` tries the sample again. `budget` is the budget shared with other samples
    that was used up, if that is the reason.
    """

    readers: ClassVar[Readers] = {
        "kind": ErrorKind,
        "budget": lambda values: None if values is None else BudgetEnd.from_json(values),
    }

    kind: ErrorKind
    message: str
    budget: BudgetEnd | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    @classmethod
    def parse(cls, text: str) -> "SampleError | None":
        """Return the error of a text in the column `sample_errors`, by default the model's; None if it is empty."""
        if not text:
            return None
        kind, separator, message = text.partition(": ")
        if separator and kind in list(ErrorKind):
            return cls(ErrorKind(kind), message)
        return cls(ErrorKind.MODEL, text)


def _read_error(value: Any) -> SampleError | None:
    """Read an error of a run folder, which earlier versions wrote as in the column `sample_errors`."""
    if isinstance(value, str):
        return SampleError.parse(value)
    return None if value is None else SampleError.from_json(value)


@dataclass(frozen=True, slots=True)
class Candidate(JsonValue):
    """The result of one sample: a program, or `""` and an error.

    `cost` is in US dollars, None if a price is unknown. `public_tests_passed` of `public_tests_total` are what the flow
    saw.
    """

    readers: ClassVar[Readers] = {"error": _read_error}

    task_name: str
    sample_index: int
    program: str
    model: str
    flow: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    llm_calls: int = 0
    truncated_answers: int = 0
    public_tests_passed: int = 0
    public_tests_total: int = 0
    error: SampleError | None = None
    language: str = PYTHON

    def to_program(self) -> Program:
        """Return the program to run."""
        return Program.from_source(self.language, self.program)

    @property
    def solved_public(self) -> bool:
        """Whether there are public tests and the program passes all."""
        return 0 < self.public_tests_total == self.public_tests_passed

    @property
    def is_final(self) -> bool:
        """Whether the sample counts: it has a program, or failed by the model's fault."""
        return self.error is None or self.error.kind is ErrorKind.MODEL

    @property
    def spent_budget(self) -> BudgetEnd | None:
        """The budget shared with other samples that ended this one without a program, or None."""
        return None if self.error is None else self.error.budget

    @property
    def was_begun(self) -> bool:
        """Whether the sample made a call, or wasn't kept from it by a budget."""
        return self.spent_budget is None or self.llm_calls > 0
