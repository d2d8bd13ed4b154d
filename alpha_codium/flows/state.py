"""What a flow knows of one sample, filled stage by stage; of the problem it holds the statement only."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from alpha_codium.flows.nearness import Nearness
from alpha_codium.problem import Statement, TestCase
from alpha_codium.verdict import Judgement


@dataclass(frozen=True, slots=True)
class ExplainedTest:
    """A test and why its output follows from its input."""

    input: str
    output: str
    explanation: str = ""

    @property
    def test(self) -> TestCase:
        """The test alone."""
        return TestCase(self.input, self.output)


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
    """A program and what the public tests said of it."""

    program: str
    judgement: Judgement
    nearness: Nearness


@dataclass
class FlowState:
    """All that the stages of a sample have found so far."""

    statement: Statement
    # Public tests that were read from the description: prompts show them already.
    examples: Sequence[TestCase] = ()
    reflection: str = ""
    explanations: list[ExplainedTest] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    plan: Plan | None = None
    ai_tests: list[ExplainedTest] = field(default_factory=list)
    program: str = ""
    # Tests that the program is known to pass: a fix may not break them.
    anchors: list[TestCase] = field(default_factory=list)

    def explanation_of(self, test: TestCase) -> str:
        """The explanation of a test, or nothing."""
        return next(
            (e.explanation for e in [*self.explanations, *self.ai_tests] if e.input.strip() == test.input.strip()), ""
        )

    def add_anchor(self, test: TestCase) -> None:
        """Remember a test that the program passes, once."""
        if test not in self.anchors:
            self.anchors.append(test)
