"""Candidates, the programs that models generate, and the errors of samples without a program."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from alpha_codium.program import PYTHON, Program
from alpha_codium.values import JsonValue


class ErrorKind(StrEnum):
    """The party at fault if a sample ends without a program."""

    MODEL = "model"
    PROVIDER = "provider"
    INTERNAL = "internal"


class BudgetOwner(StrEnum):
    """The scope of a budget: one sample, all samples of a problem, or the run."""

    SAMPLE = "sample"
    PROBLEM = "problem"
    RUN = "run"


class BudgetLimit(StrEnum):
    """The limits of a budget, by their names in the settings."""

    CALLS = "calls"
    TOKENS = "tokens"
    COST = "cost"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class BudgetEnd(JsonValue):
    """A budget that was used up, so that a sample could make no further calls.

    `amount` is the limit. `price_unknown` is true if the cost is limited, but the amount spent is unknown.
    """

    kind: ClassVar[str] = "budget_end"

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
        """The amount with its unit, for messages."""
        return f"{self.amount if isinstance(self.amount, int) else format(self.amount, 'g')} {self.unit}"

    @property
    def budget(self) -> str:
        """The name of the budget, for messages."""
        return f"the {self.owner}'s budget of {self.shown_amount}"

    @property
    def setting(self) -> str:
        """The setting of the limit."""
        return f"solve.max_{self.limit}" if self.is_own else f"budget.{self.owner}_{self.limit}"

    @property
    def is_own(self) -> bool:
        """Whether it is the sample's own budget. The end of a shared budget isn't the model's fault."""
        return self.owner is BudgetOwner.SAMPLE


@dataclass(frozen=True, slots=True)
class SampleError(JsonValue):
    """The reason why a sample ended without a program.

    If it is the model's fault (truncated, no code, refusal), the sample has failed. If it is a fault of the provider or
    of gencode, the result is incomplete, and a resume tries the sample again. `budget` is the exhausted budget shared
    with other samples, if that is the reason.
    """

    kind: ErrorKind
    message: str
    budget: BudgetEnd | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    @classmethod
    def parse(cls, text: str) -> "SampleError | None":
        """Return the error for a text in the column `sample_errors`, by default the model's fault; None if empty."""
        if not text:
            return None
        kind, separator, message = text.partition(": ")
        if separator and kind in list(ErrorKind):
            return cls(ErrorKind(kind), message)
        return cls(ErrorKind.MODEL, text)


@dataclass(frozen=True, slots=True)
class Candidate(JsonValue):
    """The result of one sample: a program, or `""` and an error.

    `cost` is in US dollars, None if a price is unknown. `public_tests_passed` and `public_tests_total` are the flow's
    results.
    """

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
        """Whether there are public tests and the program passes all of them."""
        return 0 < self.public_tests_total == self.public_tests_passed

    @property
    def is_final(self) -> bool:
        """Whether the sample is done: it has a program, or failed through the model's fault."""
        return self.error is None or self.error.kind is ErrorKind.MODEL

    @property
    def spent_budget(self) -> BudgetEnd | None:
        """The shared budget whose end left this sample without a program, or None."""
        return None if self.error is None else self.error.budget

    @property
    def was_begun(self) -> bool:
        """Whether the sample made a call, or no shared budget prevented it."""
        return self.spent_budget is None or self.llm_calls > 0
