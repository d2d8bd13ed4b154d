"""What one known program did on all tests of its problem: all that validation needs, and little of it.

Of an output no more is kept than which of our checkers accept it. What a known-correct program printed where it was
rejected is kept too, cut at `KEPT_OUTPUT` characters, with a hash of the whole of it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.eval.validation.alternatives import Alternative
from alpha_codium.problem import TestCase
from alpha_codium.verdict import KEPT, Judgement, Status, TestResult, Verdict

KEPT_OUTPUT = 4096
COMPARED = (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)
YES, NO, UNKNOWN = "1", "0", "?"


@dataclass(frozen=True, slots=True)
class Output:
    """What was printed: its beginning, whether that is all, and a hash of its tokens."""

    text: str
    whole: bool
    digest: str

    @classmethod
    def of(cls, stdout: str) -> "Output":
        """The output to keep of `stdout`."""
        digest = hashlib.sha256("\0".join(stdout.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return cls(stdout[:KEPT_OUTPUT], len(stdout) <= KEPT_OUTPUT, digest)


@dataclass(frozen=True, slots=True)
class Wider:
    """One test once more, under a wider limit of time."""

    verdict: Verdict
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Observation:
    """One program on all tests; lists and keys go by the place of a test.

    `accepted_by` holds, by a checker's key, one character a test: `1` accepted, `0` not, `?` not known (the program
    didn't finish, or printed more than is kept).
    """

    verdicts: tuple[Verdict, ...]
    cpu_seconds: tuple[float, ...]
    max_rss_bytes: tuple[int, ...]
    accepted_by: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[int, Output] = field(default_factory=dict)
    wider: Mapping[int, Wider] = field(default_factory=dict)
    message: str = ""

    def accepts(self, key: str, place: int) -> bool:
        """Whether the checker of that key is known to accept the output of that test."""
        return self.accepted_by.get(key, "")[place : place + 1] == YES

    def accepting(self, place: int) -> str | None:
        """The key of the strictest checker that accepts the output of that test, if any does."""
        return next((key for key in self.accepted_by if self.accepts(key, place)), None)

    def needs(self, place: int) -> float | None:
        """The seconds of CPU that the test takes, under the wider limit if need be; None where it didn't finish."""
        if self.verdicts[place] in COMPARED:
            return self.cpu_seconds[place]
        wider = self.wider.get(place)
        return wider.cpu_seconds if wider is not None and wider.verdict in COMPARED else None

    def to_json(self) -> dict[str, Any]:
        """The observation as one line of a run's file."""
        return {
            "verdicts": [verdict.value for verdict in self.verdicts],
            "cpu_seconds": list(self.cpu_seconds),
            "max_rss_bytes": list(self.max_rss_bytes),
            "accepted_by": dict(self.accepted_by),
            "outputs": {str(place): [o.text, o.whole, o.digest] for place, o in self.outputs.items()},
            "wider": {str(place): [w.verdict.value, w.cpu_seconds] for place, w in self.wider.items()},
            "message": self.message,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Observation":
        """Read back what `to_json` gave."""
        return cls(
            verdicts=tuple(map(Verdict, values["verdicts"])),
            cpu_seconds=tuple(values["cpu_seconds"]),
            max_rss_bytes=tuple(values["max_rss_bytes"]),
            accepted_by=dict(values["accepted_by"]),
            outputs={int(place): Output(*output) for place, output in values["outputs"].items()},
            wider={int(place): Wider(Verdict(w[0]), w[1]) for place, w in values["wider"].items()},
            message=values["message"],
        )


def observe(
    tests: Sequence[TestCase],
    judgement: Judgement,
    alternatives: Sequence[Alternative],
    *,
    keep_outputs: bool,
    printed: bool = True,
    wider: Mapping[int, Wider] | None = None,
) -> Observation:
    """What a judgement of all tests shows; `keep_outputs` for the known-correct.

    Where outputs aren't what the program prints (`printed` is False: assertions), an empty one stands for each.
    """
    results = judgement.tests
    rejected = [p for p, result in enumerate(results) if result.verdict is Verdict.WRONG_ANSWER]
    return Observation(
        verdicts=tuple(result.verdict for result in results),
        cpu_seconds=tuple(round(result.execution.cpu_seconds, 4) for result in results),
        max_rss_bytes=tuple(result.execution.max_rss_bytes for result in results),
        accepted_by={
            alternative.key: "".join(
                _accepted(alternative, test, result) for test, result in zip(tests, results, strict=True)
            )
            for alternative in alternatives
        },
        outputs={p: Output.of(results[p].execution.stdout if printed else "") for p in rejected}
        if keep_outputs
        else {},
        wider=wider or {},
        message=_why(judgement),
    )


def _accepted(alternative: Alternative, test: TestCase, result: TestResult) -> str:
    stdout = result.execution.stdout
    if result.verdict not in COMPARED or len(stdout) >= KEPT:
        return UNKNOWN
    return YES if alternative.checker(test.input, test.output, stdout) else NO


def _why(judgement: Judgement) -> str:
    """The last line of what the first test that neither finished nor ran out of time said."""
    if judgement.message:
        return judgement.message.strip()[-400:]
    quiet = (*COMPARED, Verdict.TIME_LIMIT_EXCEEDED)
    failed = next((r.execution for r in judgement.tests if r.verdict not in quiet), None)
    if failed is None or failed.status is Status.FINISHED:
        return ""
    lines = failed.stderr.strip().splitlines()
    return lines[-1][-400:] if lines else ""
