"""What a model made: candidates, and how each came to be."""

from dataclasses import dataclass
from enum import StrEnum


class ErrorKind(StrEnum):
    """Whose fault it is that a sample ended without a program."""

    MODEL = "model"
    PROVIDER = "provider"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class SampleError:
    """Why a sample ended without a program.

    A fault of the model (truncated, no code, refusal) is a failed sample. A fault of the provider or of ours is
    no verdict on the model: it makes a result incomplete, and `--resume` tries the sample again.
    """

    kind: ErrorKind
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    @classmethod
    def parse(cls, text: str) -> "SampleError | None":
        """Read back what `str` gave; None for the empty text; text of another shape is the model's fault."""
        if not text:
            return None
        kind, separator, message = text.partition(": ")
        if separator and kind in list(ErrorKind):
            return cls(ErrorKind(kind), message)
        return cls(ErrorKind.MODEL, text)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sample's outcome: a program, or `""` and the error that stood in its way.

    `cost` is in US dollars and None where a price was unknown. `public_tests_passed` of `public_tests_total` as
    the flow saw them.
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

    @property
    def solved_public(self) -> bool:
        """Whether the program passes all public tests, and there was one."""
        return 0 < self.public_tests_total == self.public_tests_passed

    @property
    def is_final(self) -> bool:
        """Whether the sample counts: it has a program, or failed through the model's own fault."""
        return self.error is None or self.error.kind is ErrorKind.MODEL
