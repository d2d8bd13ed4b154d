"""Scoring samples that were made elsewhere, over the problems of a benchmark."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.app.coroutines import blocking, in_thread
from alpha_codium.app.evaluation import Evaluation, with_code_tester
from alpha_codium.app.events import OnEvent, ignore
from alpha_codium.config import Settings, load_settings
from alpha_codium.data.benchmarks import ALIASES
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.samples.programs import columns_of, solutions_of
from alpha_codium.data.samples.reading import CANDIDATES, Columns, Row, read_samples
from alpha_codium.data.samples.runs import parse_selections, selected
from alpha_codium.data.samples.setup import ALL, IMPORTS, WithSetup
from alpha_codium.data.samples.splits import problems_for
from alpha_codium.data.solutions import ORIGIN, refuse_other_problems
from alpha_codium.data.sources import stored_names
from alpha_codium.errors import DatasetError, UserError, nearest
from alpha_codium.eval.metric import DEFAULT_KS
from alpha_codium.eval.prepare import EvaluationSet, prepare_for_evaluation
from alpha_codium.eval.scoring import Score
from alpha_codium.problem import TestType

# Benchmarks in our own schema, which needn't be told by their columns.
HUB_IDS = {"code_contests": "deepmind/code_contests"}


async def score_async(
    file: str,
    benchmark: str | None = None,
    *,
    dataset: str | None = None,
    split: str | None = None,
    select: Sequence[str] = (),
    column: str = "",
    form: str | None = None,
    header: str | None = None,
    setup: str | None = None,
    ignore_fingerprint: bool = False,
    test_type: str | Iterable[str] = TestType.PRIVATE,
    k: Sequence[int] = DEFAULT_KS,
    settings: Settings | None = None,
    run: str | None = None,
    resume: str | None = None,
    on_event: OnEvent = ignore,
) -> Score:
    """Judge and score samples that were made elsewhere.

    `file` holds rows with task_id and completion or solution (JSON lines), a list of programs for each problem or an
    object of them (JSON, or a pickle of APPS), or is a Solutions dataset. `benchmark` says what they are of, such as
    `humaneval`; `dataset` and `split` where its problems are, if not under that name. `select` takes rows by
    `COLUMN=VALUE`. `column` holds the programs, whose `form` is `completion` or `solution`; both are told by their
    names. `header` is code that runs before each program, `setup` what programs may use of the prompt's own code:
    `all`, `imports` or `none`. With `run`, a journal is kept in a folder of that name; `resume` names an earlier run.

    Raises UserError where the samples or the problems can't be read, or don't belong together.
    """
    settings = settings or load_settings()
    if header is not None:
        settings = with_code_tester(settings, header=header)
    samples = _Samples(
        file, benchmark, dataset, split, tuple(select), column, form, setup, ignore_fingerprint, test_type
    )
    evaluation = await in_thread(samples.evaluation, settings)
    return await evaluation.run(k, run, resume, on_event)


score = blocking(score_async)


@dataclass(frozen=True)
class _Samples:
    """Which samples are scored, and over which problems."""

    file: str
    benchmark: str | None
    dataset: str | None
    split: str | None
    selections: tuple[str, ...]
    column: str
    form: str | None
    setup: str | None
    ignore_fingerprint: bool
    test_type: str | Iterable[str]

    def evaluation(self, settings: Settings) -> Evaluation:
        dataset = dataset_of(self.benchmark, self.dataset)
        if dataset is None:
            raise DatasetError("which problems are the samples of? Give a --benchmark or a --dataset_name")
        rows = self._rows()
        problems = problems_for(rows, dataset, self.split)
        solutions = solutions_of(rows, problems)
        if not self.ignore_fingerprint:
            told = (row.values for row in rows if row.values and row.values.keys() >= set(ORIGIN))
            refuse_other_problems(told, problems)
        setup = self.setup or _usual_setup(rows)
        tasks = prepare_for_evaluation(solutions, WithSetup(problems, setup), self.test_type)
        return Evaluation(tasks, self._description(dataset, problems, rows, setup, tasks), settings)

    def _rows(self) -> list[Row]:
        chosen = parse_selections(self.selections)
        rows = selected(read_samples(self.file, Columns(self.column, self.form or "")), chosen, self.file)
        if not rows:
            raise DatasetError(f"{self.file} holds no samples")
        return rows

    def _description(
        self, dataset: str, problems: ProblemSet, rows: list[Row], setup: str, tasks: EvaluationSet
    ) -> dict[str, Any]:
        return {
            "command": "score",
            "benchmark": self.benchmark or "",
            "dataset": dataset,
            "split": problems.split_name,
            "fingerprint": problems.fingerprint,
            "file": self.file,
            "file_sha256": _sha256_of(Path(self.file).expanduser()),
            "select": list(self.selections),
            "columns": dict(columns_of(rows)),
            "setup": setup,
            "test_types": [kind.value for kind in tasks.test_types],
        }


def _usual_setup(rows: list[Row]) -> str:
    """All of the prompt's code for what our own flows made, which count on it; for published programs its imports."""
    return ALL if {row.column for row in rows} == {CANDIDATES} else IMPORTS


def dataset_of(benchmark: str | None, dataset: str | None) -> str | None:
    """The dataset of a benchmark's problems: the one that is given, else one stored under its name, else the hub's."""
    if benchmark is None:
        return dataset
    known = {**ALIASES, **HUB_IDS} | {name: name for name in stored_names()}
    if benchmark not in known:
        raise UserError(f"there is no benchmark {benchmark!r}{nearest(benchmark, known)}: or give --dataset_name alone")
    return dataset or known[benchmark]


def _sha256_of(path: Path) -> str:
    """The digest of a file's bytes; nothing for a dataset in a folder, or under a name."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
