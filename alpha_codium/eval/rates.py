"""What else became of samples: how many were cut off, held no program, were empty, or didn't compile.

A pass@k is only as good as its samples: one of 0.2 with a quarter of the answers cut off measures the token limit.
What a Solutions dataset doesn't say is not known, and is None, never 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from alpha_codium.eval.results import ProblemResult
from alpha_codium.solution import ErrorKind, SampleError
from alpha_codium.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Rates:
    """Counts of samples; None where nothing is known. `present` are those that the rates are shares of.

    `asked` holds those too that the provider or we lost. `truncated` had an answer cut off on the way, `no_program`
    ended without one through the model's fault, `empty` are blank for no known reason.
    """

    present: int
    asked: int | None = None
    truncated: int | None = None
    no_program: int | None = None
    empty: int = 0
    does_not_compile: int = 0
    problems_without_samples: int = 0

    def to_json(self) -> dict[str, Any]:
        """The rates as `--json` writes them: `{"count", "rate"}`, null where nothing is known."""
        counts = {name: getattr(self, name) for name in ("truncated", "no_program", "empty", "does_not_compile")}
        return {
            "asked": self.asked,
            "present": self.present,
            "problems_without_samples": self.problems_without_samples,
            **{name: None if count is None else {"count": count, "rate": self._rate(count)}
               for name, count in counts.items()},
        }  # fmt: skip

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Rates":
        """Read back what `to_json` gave."""
        return cls(**{name: value["count"] if isinstance(value, Mapping) else value for name, value in values.items()})

    def _rate(self, count: int) -> float | None:
        return count / self.present if self.present else None

    def __str__(self) -> str:
        asked = "n/a" if self.asked is None else self.asked
        counts = asdict(self)
        words = ("truncated", "no_program", "empty", "does_not_compile")
        shares = ", ".join(f"{name.replace('_', ' ')} {self._share(counts[name])}" for name in words)
        return f"{self.present} present of {asked} asked; {shares}"

    def _share(self, count: int | None) -> str:
        if count is None:
            return "n/a"
        return f"{count} ({count / self.present:.1%})" if self.present else str(count)


def rates_of(solutions: Iterable[Mapping[str, Any]], results: Sequence[ProblemResult]) -> Rates:
    """The rates of the rows of a Solutions dataset, and of what became of them; `results` are of all problems."""
    rows = {row["task_name"]: row for row in solutions}
    samples = [_Sample.of(rows[p.name], c.index, c.verdict) for p in results if p.name in rows for c in p.candidates]
    present = [sample for sample in samples if not sample.lost]
    tells_errors, tells_truncated = (_told_by_all(rows.values(), key) for key in ("sample_errors", "truncated_answers"))
    return Rates(
        present=len(present),
        asked=len(samples) if tells_errors else None,
        truncated=sum(sample.truncated for sample in present) if tells_truncated else None,
        no_program=sum(sample.failed for sample in present) if tells_errors else None,
        empty=sum(sample.blank and not sample.failed for sample in present),
        does_not_compile=sum(s.verdict is Verdict.COMPILATION_ERROR and not s.blank for s in present),
        problems_without_samples=sum(not problem.candidates for problem in results),
    )


def _told_by_all(rows: Iterable[Mapping[str, Any]], column: str) -> bool:
    """Whether a column says something of every sample: a count of some of them would be taken for one of all."""
    told = [row.get(column) is not None for row in rows if row["solution_candidates"]]
    return bool(told) and all(told)


@dataclass(frozen=True, slots=True)
class _Sample:
    blank: bool
    failed: bool
    lost: bool
    truncated: bool
    verdict: Verdict

    @classmethod
    def of(cls, row: Mapping[str, Any], index: int, verdict: Verdict) -> "_Sample":
        error = SampleError.parse((row.get("sample_errors") or {index: ""})[index] or "")
        return cls(
            blank=not (row["solution_candidates"][index] or "").strip(),
            failed=error is not None and error.kind is ErrorKind.MODEL,
            lost=error is not None and error.kind is not ErrorKind.MODEL,
            truncated=bool((row.get("truncated_answers") or {index: 0})[index]),
            verdict=verdict,
        )
