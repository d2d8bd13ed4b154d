"""The report of a comparison: runs, differences, stages, and notes on them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from alpha_codium.comparison.figures import Figures, figures_of
from alpha_codium.comparison.fitting import notes_on
from alpha_codium.comparison.judging import Verdicts
from alpha_codium.comparison.pairs import Pair, budget_notes, pairs_of, same_notes
from alpha_codium.comparison.records import RunRecord
from alpha_codium.comparison.stages import StageEffect, stages_of
from alpha_codium.eval.known import JudgeError
from alpha_codium.values import Table
from alpha_codium.wording import counted

# Below this number, the bootstrap's intervals are too narrow (docs/statistics.md).
FEW_PROBLEMS = 20


@dataclass(frozen=True)
class Comparison(Table):
    """The result of `gencode compare`; `what` names the problems and the tests.

    As a table, it has a row for each pass@k of each run, and for each difference: that of `run`, less that of `minus`.
    """

    columns: ClassVar[tuple[str, ...]] = (
        *("run", "minus", "flow", "models", "problems", "samples", "measure", "value", "low", "high", "method"),
        *(
            "p_value",
            "test",
            "better",
            "worse",
            "solved",
            "calls_per_sample",
            "tokens_per_sample",
            "dollars_per_sample",
            "reason",
        ),
    )

    what: dict[str, Any]
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

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON; published numbers, if requested, are in a separate list."""
        values = self.what | {
            "complete": self.complete,
            "baseline": self.baseline,
            "runs": [run.to_json() for run in self.runs],
            "differences": [pair.to_json() for pair in self.pairs],
            "stages": {name: [effect.to_json() for effect in effects] for name, effects in self.stages.items()},
            "notes": list(self.notes),
            "judge_error": self.judge_error.to_json(),
        }
        return values | ({"references": list(self.references)} if self.references else {})

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
    what: dict[str, Any],
    baseline: str | None = None,
    references: Sequence[dict[str, Any]] = (),
) -> Comparison:
    """Compare runs on the problems `names`, by the verdicts on their programs."""
    runs = tuple(figures_of(record, names, verdicts, ks) for record in records)
    pairs = tuple(pairs_of(runs, ks, baseline))
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
