"""`gencode eval score`: samples that were made elsewhere, judged and scored as ours are."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.judging import Evaluation, print_score, run_options, tests_option
from alpha_codium.cli.options import CommonOptions, common_options

if TYPE_CHECKING:
    from alpha_codium.data.load import ProblemSet
    from alpha_codium.data.samples.reading import Row
    from alpha_codium.eval.prepare import EvaluationSet

# Benchmarks in our own schema, which needn't be told by their columns.
HUB_IDS = {"code_contests": "deepmind/code_contests"}
ignore_fingerprint_option = click.option(
    "--ignore_fingerprint", is_flag=True, help="Score samples that were made for other problems, too."
)


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--benchmark", metavar="NAME", help="What the samples are of: humaneval, mbpp, apps, code_contests, ...")
@click.option("--dataset_name", help="Its problems: a name saved by etl, a hub id, or a path.  [default: NAME]")
@click.option("--split_name", help="The split; not needed where there is one.")
@click.option(
    "--select",
    "selections",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Score the rows with this value (a part of it, or a pattern, will do); repeatable.",
)
@click.option("--column", default="", help="The column that holds the programs.  [default: by its name]")
@click.option(
    "--form",
    type=click.Choice(["completion", "solution"]),
    default=None,
    help="What it holds: what goes on from the prompt, or whole programs.  [default: by the column]",
)
@click.option("--header", help="Code that runs before each program, such as 'from typing import *'.")
@click.option(
    "--setup",
    type=click.Choice(["all", "imports", "none"]),
    default=None,
    help="What programs may use of the prompt's own code.  [default: imports; all in a Solutions dataset]",
)
@ignore_fingerprint_option
@tests_option(default="private_tests")
@run_options
@common_options
def score(
    common: CommonOptions,
    *,
    header: str | None,
    ks: tuple[int, ...],
    run_name: str | None,
    resume: str | None,
    **options: Any,
) -> None:
    """Score samples that were made elsewhere.

    FILE holds rows with task_id and completion or solution (JSON lines), a list of programs for each problem or an
    object of them (JSON, or a pickle of APPS), or is a Solutions dataset.
    """
    if header is not None:
        common.extra_overrides.append(f"code_tester.header={header}")
    tasks, solutions, what = Samples(**options).prepared()
    print_score(Evaluation(tasks, what, ks, run_name, resume, solutions).run(common), common)


@dataclass(frozen=True)
class Samples:
    """Which samples are scored, and over which problems: the options of the command."""

    file: str
    benchmark: str | None
    dataset_name: str | None
    split_name: str | None
    selections: tuple[str, ...]
    column: str
    form: str | None
    setup: str | None
    ignore_fingerprint: bool
    test_types: tuple[str, ...]

    def prepared(self) -> "tuple[EvaluationSet, list[dict[str, Any]], dict[str, Any]]":
        """What is judged, the samples as rows of a Solutions dataset, and what `run.toml` says; raises UserError."""
        from alpha_codium.data.samples.programs import solutions_of
        from alpha_codium.data.samples.setup import WithSetup
        from alpha_codium.data.samples.splits import problems_for
        from alpha_codium.data.solutions import ORIGIN, refuse_other_problems
        from alpha_codium.errors import DatasetError
        from alpha_codium.eval.prepare import prepare_for_evaluation

        dataset = dataset_of(self.benchmark, self.dataset_name)
        if dataset is None:
            raise DatasetError("which problems are the samples of? Give a --benchmark or a --dataset_name")
        rows = self._rows()
        problems = problems_for(rows, dataset, self.split_name)
        solutions = solutions_of(rows, problems)
        if not self.ignore_fingerprint:
            told = (row.values for row in rows if row.values and row.values.keys() >= set(ORIGIN))
            refuse_other_problems(told, problems)
        setup = self.setup or _usual_setup(rows)
        tasks = prepare_for_evaluation(solutions, WithSetup(problems, setup), self.test_types)
        return tasks, solutions, self._described(dataset, problems, rows, setup, tasks)

    def _rows(self) -> "list[Row]":
        from alpha_codium.data.samples.reading import Columns, read_samples
        from alpha_codium.data.samples.runs import parse_selections, selected
        from alpha_codium.errors import DatasetError

        chosen = parse_selections(self.selections)
        rows = selected(read_samples(self.file, Columns(self.column, self.form or "")), chosen, self.file)
        if not rows:
            raise DatasetError(f"{self.file} holds no samples")
        return rows

    def _described(
        self, dataset: str, problems: "ProblemSet", rows: "list[Row]", setup: str, tasks: "EvaluationSet"
    ) -> dict[str, Any]:
        from alpha_codium.data.samples.programs import columns_of

        return {
            "command": "score",
            "benchmark": self.benchmark or "",
            "dataset": dataset,
            "split": problems.split_name,
            "fingerprint": problems.fingerprint,
            "file": self.file,
            "file_sha256": sha256_of(Path(self.file).expanduser()),
            "select": list(self.selections),
            "columns": dict(columns_of(rows)),
            "setup": setup,
            "test_types": [kind.value for kind in tasks.test_types],
        }


def _usual_setup(rows: "list[Row]") -> str:
    """All of the prompt's code for what our own flows made, which count on it; for published programs its imports."""
    from alpha_codium.data.samples.reading import CANDIDATES
    from alpha_codium.data.samples.setup import ALL, IMPORTS

    return ALL if {row.column for row in rows} == {CANDIDATES} else IMPORTS


def dataset_of(benchmark: str | None, dataset_name: str | None) -> str | None:
    """The dataset of a benchmark's problems: the one that is given, else one stored under its name, else the hub's."""
    from alpha_codium.data.benchmarks import ALIASES
    from alpha_codium.data.sources import stored_names
    from alpha_codium.errors import UserError, nearest

    if benchmark is None:
        return dataset_name
    known = {**ALIASES, **HUB_IDS} | {name: name for name in stored_names()}
    if benchmark not in known:
        raise UserError(f"there is no benchmark {benchmark!r}{nearest(benchmark, known)}: or give --dataset_name alone")
    return dataset_name or known[benchmark]


def sha256_of(path: Path) -> str:
    """The digest of a file's bytes; nothing for a dataset in a folder, or under a name."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
