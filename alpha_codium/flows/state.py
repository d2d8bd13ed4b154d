"""The state of one sample, which stages fill. It contains the problem's statement, not its private tests."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from alpha_codium.flows.nearness import Nearness
from alpha_codium.problem import Statement, TestCase
from alpha_codium.verdict import Judgement


@dataclass(frozen=True, slots=True)
class ExplainedTest:
    """A test, and an explanation of its output; `example` is the number of the public test with that input, or 0."""

    input: str
    output: str
    explanation: str = ""
    example: int = 0

    @property
    def test(self) -> TestCase:
        """The test without the explanation."""
        return TestCase(self.input, self.output)

    @property
    def assertion(self) -> str:
        """The assertion that the call `input` returns the value `output`."""
        return f"assert {self.input.strip()} == {self.output.strip()}"


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to solve the problem, in words."""

    name: str
    content: str
    why_it_works: str = ""
    labels: tuple[str, ...] = ()
    complexity: str = ""

    @property
    def is_brute_force(self) -> bool:
        """Whether the plan calls itself brute force."""
        words = " ".join((self.name, *self.labels)).lower().replace("-", " ").replace("_", " ")
        return "brute force" in words


@dataclass(frozen=True, slots=True)
class JudgedProgram:
    """A program and its judgement by the public tests."""

    program: str
    judgement: Judgement
    nearness: Nearness


@dataclass(frozen=True, slots=True)
class RejectedFix:
    """A fix of a program that was discarded, and the judgement on `tests` that was the reason."""

    program: str
    tests: Sequence[TestCase]
    judgement: Judgement


@dataclass
class FlowState:
    """The results of a sample's stages so far."""

    statement: Statement
    # Public tests read from the description, which prompts show anyway.
    examples: Sequence[TestCase] = ()
    reflection: str = ""
    explanations: list[ExplainedTest] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    plan: Plan | None = None
    ai_tests: list[ExplainedTest] = field(default_factory=list)
    program: str = ""
    # Tests that the program is known to pass, which no fix may break.
    anchors: list[TestCase] = field(default_factory=list)
    # By test: the number of fixes that were asked for, and the last one that was rejected.
    fixes: Counter[TestCase] = field(default_factory=Counter)
    rejected: dict[TestCase, RejectedFix] = field(default_factory=dict)

    def explanation_of(self, test: TestCase) -> str:
        """Return the explanation of a test, which has the same input, or is the assertion; or ""."""
        known, text = (*self.explanations, *self.ai_tests), test.input.strip()
        return next((each.explanation for each in known if text in (each.input.strip(), each.assertion)), "")

    def is_ai_test(self, test: TestCase) -> bool:
        """Return whether a test is the model's own."""
        return test not in self.statement.public_tests and any(test == each.test for each in self.ai_tests)

    def drop_ai_test(self, test: TestCase) -> None:
        """Forget a test of the model."""
        self.ai_tests = [each for each in self.ai_tests if each.test != test]

    def add_anchor(self, test: TestCase) -> None:
        """Add a test that the program passes, unless it is known."""
        if test not in self.anchors:
            self.anchors.append(test)
