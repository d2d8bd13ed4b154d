"""The report of a comparison: runs, differences, stages, and notes on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypedDict

from alpha_codium.comparison.figures import Figures, figures_of
from alpha_codium.comparison.fitting import notes_on
from alpha_codium.comparison.judging import Verdicts
from alpha_codium.comparison.pairs import Pair, budget_notes, pairs_of, same_notes
from alpha_codium.comparison.records import RunRecord
from alpha_codium.comparison.stages import StageEffect, stages_of
from alpha_codium.eval.known import JudgeError
from alpha_codium.values import JsonValue, Table, named
from alpha_codium.wording import counted

# Below this number, the bootstrap's intervals are too narrow (docs/statistics.md).
FEW_PROBLEMS = 20


class Compared(TypedDict):
    """The problems and the tests of a comparison."""

    dataset: str
    split: str
    fingerprint: str
    n_problems: int
    test_types: list[str]


@dataclass(frozen=True)
class Comparison(Table, JsonValue):
    """The result of `gencode compare`; `what` names the problems and the tests.

    As a table, it has a row for each pass@k of each run, and for each difference: that of `run`, less that of `minus`.
    """

    columns: ClassVar[tuple[str, ...]] = (
        *("run", "minus", "flow", "models", "problems", "samples", "measure", "value", "low", "high", "method"),
        *("p_value", "test", "better", "worse", "solved"),
        *("calls_per_sample", "tokens_per_sample", "dollars_per_sample", "reason"),
    )

    in_json: ClassVar[Mapping[str, str]] = {
        **named("what", "complete", "baseline", "runs", differences="pairs"),
        **named("stages", "notes", "judge_error", "references"),
    }
    beside: ClassVar[Sequence[str]] = ("what",)
    optional: ClassVar[Sequence[str]] = ("references",)

    what: Compared
    runs: tuple[Figures, ...]
    pairs: tuple[Pair, ...]
    stages: dict[str, list[StageEffect]]
    judge_error: JudgeError
    notes: tuple[str, ...] = ()
    baseline: str | None = None
    references: tuple[dict[str, Any], ...] = field(default=())

    @property
    def complete(self) -> bool:
        """Whether every sample of every run has a verdict."""
        return all(run.score.complete for run in self.runs)

    def rows(self) -> list[dict[str, Any]]:
        """The scores with their intervals and costs, then the differences; None stands for what is undefined."""
        scores = [row for run in self.runs for row in run.rows()]
        return [dict.fromkeys(self.columns) | row for row in (*scores, *(pair.row() for pair in self.pairs))]


def report_of(
    records: Sequence[RunRecord],
    names: Sequence[str],
    verdicts: Verdicts,
    judge_error: JudgeError,
    ks: Sequence[int],
    what: Compared,
    baseline: str | None = None,
    references: Sequence[dict[str, Any]] = (),
) -> Comparison:
    """Compare runs on the problems `names`, by the verdicts on their programs."""
    runs = tuple(figures_of(record, names, verdicts, ks) for record in records)
    pairs = tuple(pairs_of({run.name: run.score for run in runs}, ks, baseline))
    notes = [
        *same_notes(runs, baseline),
        *budget_notes(runs, baseline),
        *notes_on(records),
        *_of_numbers(len(names), pairs),
    ]
    stages = {record.name: stages_of(record, names, verdicts) for record in records}
    return Comparison(what, runs, pairs, stages, judge_error, tuple(notes), baseline, tuple(references))


def _of_numbers(n_problems: int, pairs: Sequence[Pair]) -> list[str]:
    """Notes on few problems and many comparisons."""
    notes = []
    if n_problems < FEW_PROBLEMS:
        notes.append(
            f"{counted(n_problems, 'problem')} only: the uncertainty is larger than the intervals (docs/statistics.md)"
        )
    compared = sum(pair.difference is not None for pair in pairs)
    if compared > 1:
        notes.append(
            f"{compared} differences were tested: of differences that don't exist, one in twenty is shown by chance; "
            f"to correct for that, require a p-value below {0.05 / compared:.2g}"
        )
    return notes
