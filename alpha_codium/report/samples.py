"""The samples of stored runs, and how they are shown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from alpha_codium.eval.prepare import GENERATED
from alpha_codium.eval.rates import FENCE
from alpha_codium.eval.results import CandidateResult
from alpha_codium.judge.drivers.outcomes import LOADING
from alpha_codium.program import PYTHON
from alpha_codium.solution import Candidate
from alpha_codium.values import JsonValue, named
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

NOT_FAILED = (Verdict.ACCEPTED, Verdict.NO_TESTS)


@dataclass(frozen=True, slots=True)
class StoredSample(JsonValue):
    """A judged program of a run, with its source if that is known; without a program, the end of the last `answer`.

    `candidate` is what the run that generated it recorded, such as its cost.
    """

    in_json: ClassVar[Mapping[str, str]] = named("problem", "language", "source", "result")
    beside: ClassVar[Sequence[str]] = ("result",)

    problem: str
    result: CandidateResult
    source: str = ""
    language: str = PYTHON
    answer: str = ""
    candidate: Candidate | None = None

    @property
    def failed(self) -> bool:
        """Whether the program isn't accepted; one without tests didn't fail."""
        return self.result.verdict not in NOT_FAILED

    @property
    def error(self) -> str:
        """The last line that a program which ended with an error wrote to stderr, and how it ended if an exception
        doesn't say that; empty for other programs.
        """
        failure, verdict = self.result.failure, self.result.verdict
        if failure is None or verdict not in (Verdict.RUNTIME_ERROR, Verdict.COMPILATION_ERROR):
            return ""
        early = " (before the tests)" if LOADING in failure.stderr else ""
        last = failure.last_line
        # Python ends with status 1 after an exception.
        how = failure.ending if verdict is Verdict.RUNTIME_ERROR and not (last and failure.exit_code == 1) else ""
        return (f"{last} ({how})" if last and how else last or how) + early

    @property
    def reason(self) -> str:
        """Why the program failed, in one line, as far as the run's folder says."""
        failure = self.result.failure
        if self.error or failure is None:
            return self.error or self.result.error
        value = f" (value: {failure.actual.strip()})" if failure.actual else ""
        value = f" ({failure.last_line})" if failure.last_line.startswith("SystemExit") else value
        asserted = failure.assertion and " ".join(failure.assertion.split()) + value
        return failure.used or asserted or f"test {(failure.test or 0) + 1} of {self.result.tests_total}"

    def lines(self) -> Iterator[str]:
        """The sample for people: its verdict, the program, and the first failing test."""
        result = self.result
        group = "" if result.group == GENERATED else f"{result.group} "
        passed = f"{result.tests_passed} of {counted(result.tests_total, 'test')} passed"
        digest = f" (program {result.program[:12]})" if result.program else ""
        yield f"{self.problem}, {group}sample {result.index}: {result.verdict.value}, {passed}{digest}"
        if result.error:
            yield f"error: {result.error}"
        yield ""
        missing = "the sample has no program" if result.error else "the run's folder doesn't have the program"
        yield from self.source.splitlines() or [f"({missing})"]
        yield ""
        if self.answer:
            yield "the last answer of the model:"
            yield from (f"  {line}" for line in self.answer.splitlines())
        if result.failure is not None:
            yield from result.failure.lines(result.tests_total)
            if result.verdict is Verdict.COMPILATION_ERROR and FENCE in self.source:
                yield "the program contains a Markdown fence, which gencode eval score with `clean` removes"
        elif self.failed and not result.error and result.verdict is not Verdict.INTERNAL_ERROR:
            yield "(the run's folder doesn't have the failing test: it was written by an earlier version)"


@dataclass(frozen=True, slots=True)
class ChosenSamples:
    """Samples of a run, and whether they were judged: those that it generated may have run on public tests only."""

    samples: Sequence[StoredSample]
    judged: bool = True

    @property
    def failed(self) -> list[StoredSample]:
        """The samples that failed."""
        return [each for each in self.samples if each.failed]

    def failures(self, where: str = "") -> str:
        """Return how many of the samples failed; without public tests, only how many there are."""
        if self.judged:
            return failures(len(self.failed), len(self.samples), where)
        number = counted(len(self.samples), "sample") + where
        tested = any(each.result.verdict is not Verdict.NO_TESTS for each in self.samples)
        return f"{len(self.failed)} of {number} failed the public tests" if tested else f"{number}, no public tests"

    def reasons(self) -> str:
        """Return how often each kind of error or verdict occurs among the samples that failed."""
        kinds = Counter(each.error.partition(":")[0] or each.result.verdict.value for each in self.failed)
        return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())


def failures(failed: int, samples: int, where: str = "") -> str:
    """Return how many samples failed, in words."""
    return f"{failed} of {counted(samples, 'sample')}{where} failed"
