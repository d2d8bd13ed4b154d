"""Options of the use cases about answers of models: `solve_problem`, `solve_set`, `ablate`, `compare`, `replay`."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from alpha_codium.app.options.shared import (
    DATASET,
    FLOW,
    NAMES,
    OUTPUT,
    Configured,
    ConfiguredByRun,
    Dataset,
    Ks,
    Limit,
    Overwrite,
    Sharded,
    Split,
    TestTypes,
)
from alpha_codium.options import Argument, Option
from alpha_codium.problem import Problem, TestType

# As alpha_codium.gen.choosing has it, which takes long to import; a test compares.
DEFAULT_FLOW = "auto"


@dataclass(frozen=True)
class SolveProblemOptions(Configured):
    """Options of `solve_problem`."""

    problem: Annotated[Problem | None, Argument("The problem, unless the next arguments say where it is.")] = None
    flow: Annotated[str, Option(FLOW)] = DEFAULT_FLOW
    test_type: Annotated[
        Sequence[str], Option("Also judge the program with these tests.", "--evaluation_test_type", "TESTS")
    ] = ()
    _: KW_ONLY
    dataset: Annotated[str | None, Option(DATASET, "--dataset_name")] = None
    split: Split = None
    problem_name: Annotated[str | None, Option("The name of the problem in the dataset.")] = None
    problem_number: Annotated[int | None, Option("The index of the problem in the split, from 0.", least=0)] = None
    problem_file: Annotated[Path | None, Option("A file with one problem.")] = None
    statement: Annotated[
        str | None, Option("A file with only a statement (Markdown or text); - is stdin.", metavar="FILE")
    ] = None
    run: Annotated[str | None, Argument("A name for a run folder, which keeps prompts, answers and results.")] = None


@dataclass(frozen=True, kw_only=True)
class ToSolve:
    """What to generate, of which problems; None stands for the value of the resumed run, or the default."""

    split: Split = None
    samples: Annotated[int | None, Option("Samples per problem.", least=1)] = None
    sample_rate: Annotated[float | None, Option("Solve this share of the problems.", above=0, most=1)] = None
    names: Annotated[Sequence[str] | None, NAMES] = None
    limit: Limit = None


@dataclass(frozen=True)
class SolveSetOptions(ToSolve, Sharded, ConfiguredByRun):
    """Options of `solve_set`."""

    dataset: Annotated[str | None, Option(DATASET, "--dataset_name")] = None
    _: KW_ONLY
    output: Annotated[str | None, Option(OUTPUT, "--output_dataset_name", changes_result=False)] = None
    overwrite: Overwrite = False
    flow: Annotated[str | None, Option(f"{FLOW}  [default: {DEFAULT_FLOW}]")] = None
    without: Annotated[
        Sequence[str] | None,
        Option("Leave out the stages of this kind, or whose kind contains this word.", metavar="STAGE"),
    ] = None


@dataclass(frozen=True)
class AblateOptions(ToSolve, ConfiguredByRun):
    """Options of `ablate`."""

    dataset: Dataset
    variants: Annotated[
        Sequence[str],
        Option(
            "Run a variant without the stages of this kind, or whose kind contains this word. "
            "Names separated by commas are left out together.",
            "--without",
            "STAGE",
        ),
    ]
    _: KW_ONLY
    flow: Annotated[str, Option(FLOW)] = "alphacodium"
    test_type: TestTypes = TestType.PRIVATE
    k: Ks = (1, 5)
    run: Annotated[str | None, Option("A name for the runs; repeat it to resume them.")] = None


@dataclass(frozen=True)
class CompareOptions(Configured):
    """Options of `compare`."""

    runs: Annotated[Sequence[str], Option("Names of runs, or their folders.", argument="RUN...")]
    _: KW_ONLY
    test_type: TestTypes = TestType.PRIVATE
    k: Ks = (1, 5)
    baseline: Annotated[str | None, Option("Compare each run with this one.  [default: each pair]", metavar="RUN")] = (
        None
    )
    dataset: Annotated[str | None, Option("The dataset of the runs, if it was moved.", "--dataset_name")] = None
    references: Annotated[bool, Option("Also show published results, in a table of their own.")] = False


@dataclass(frozen=True)
class ReplayOptions(ConfiguredByRun):
    """Options of `replay`."""

    run: Annotated[str, Option("The name of a run, or its folder.", argument="RUN")]
    _: KW_ONLY
    flow: Annotated[
        str | None, Option("Another flow, or a folder; the run must have answers to its prompts.  [default: the run's]")
    ] = None
    output: Annotated[str | None, Option(f"{OUTPUT}  [default: not saved]", "--output_dataset_name")] = None
    overwrite: Overwrite = False
    shared: Annotated[bool, Option("Take missing answers from the shared cache.")] = False
