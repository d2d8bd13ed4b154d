"""Options of the use cases that judge programs: `evaluate`, `evaluate_human`, `score`, `validate`, `check_judge`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from alpha_codium.app.options.shared import (
    DATASET,
    Configured,
    Dataset,
    InRunFolder,
    Judging,
    Ks,
    OfPart,
    Overwrite,
    ProgramColumn,
    Sharded,
    Split,
    TestTypes,
    UseCase,
)
from alpha_codium.options import Argument, Option
from alpha_codium.problem import Problem, TestType

if TYPE_CHECKING:
    from alpha_codium.judge import Rules
    from alpha_codium.sandbox.blocking import AnySandbox

Rows = Iterable[Mapping[str, Any]]
DEFAULT_KS = (1, 5, 10)
OnlyPresent = Annotated[bool, Option("Score only the problems that have samples.")]
IgnoreFingerprint = Annotated[
    bool, Option("Score samples even if they were made for other problems.", changes_result=False)
]


@dataclass(frozen=True)
class EvaluateOptions(OfPart, Sharded, Judging, Configured):
    """Options of `evaluate`."""

    solutions: Annotated[str | Path | Rows, Option("A Solutions dataset: a name or a path.", "--solution_dataset")]
    problems: Annotated[
        str | Path | Sequence[Problem],
        Option("The problems: a name saved by etl, a hub id, or a path.", "--dataset_name --ground_truth_dataset"),
    ]
    test_type: TestTypes = TestType.PRIVATE
    sandbox: Annotated[
        "str | AnySandbox | None", Argument("A backend's name, or a sandbox; one that is open stays open.")
    ] = None
    k: Ks = DEFAULT_KS
    _: KW_ONLY
    rules: Annotated["Rules | None", Argument("Limits and tolerances in place of those of the settings.")] = None
    split: Annotated[
        str | None, Option("The split; needed only if there are several.", "--split_name --ground_truth_split")
    ] = None
    only_present: OnlyPresent = False
    known_solutions: Annotated[
        int | None,
        Argument(
            "How many known correct and incorrect solutions of each problem are judged, too, to find errors of the "
            "judge; by default that of the settings."
        ),
    ] = None
    ignore_fingerprint: IgnoreFingerprint = False


@dataclass(frozen=True)
class HumanOptions(OfPart, Sharded, Judging, Configured):
    """Options of `evaluate_human`."""

    dataset: Dataset
    groups: Annotated[
        Literal["correct", "incorrect", "both"], Option("Which human solutions to judge.", "--solutions")
    ] = "correct"
    test_type: TestTypes = TestType.PRIVATE
    k: Ks = DEFAULT_KS
    _: KW_ONLY
    command: Annotated[str, Argument("The command that `run.toml` names.")] = "eval_cc_solutions"
    split: Split = None
    languages: Annotated[
        Sequence[str],
        Option(
            "Judge only the solutions in this language, such as cpp. Default: all that can be run.",
            "--language",
            "NAME",
        ),
    ] = ()


@dataclass(frozen=True)
class SampleFile:
    """A file of samples made elsewhere, how to read it, and where the problems are that they are for."""

    file: Annotated[
        str,
        Option(
            "Rows with task_id and completion or solution (JSON lines), a list or an object with the programs of each "
            "problem (JSON, or a pickle of APPS), or a Solutions dataset.",
            argument="FILE",
        ),
    ]
    benchmark: Annotated[
        str | None, Option("The benchmark that was sampled: humaneval, mbpp, apps, ...", metavar="NAME")
    ] = None
    _: KW_ONLY
    dataset: Annotated[
        str | None,
        Option("The problems: a name saved by etl, a hub id, or a path.  [default: the benchmark]", "--dataset_name"),
    ] = None
    split: Split = None
    column: ProgramColumn = ""
    form: Annotated[
        Literal["completion", "solution"] | None,
        Option("Whether the column holds completions of the prompt or complete programs.  [default: recognized]"),
    ] = None
    difficulty: Annotated[
        Sequence[str],
        Option(
            "Only problems of this difficulty, such as introductory. A list may be of these alone.",
            "--difficulty --level",
            "NAME",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(SampleFile, OfPart, Sharded, Judging, Configured):
    """Options of `score`."""

    select: Annotated[
        Sequence[str],
        Option(
            "Score only the rows with this value, or one that it matches as a part or a pattern.",
            metavar="COLUMN=VALUE",
        ),
    ] = ()
    language: Annotated[
        str | None,
        Option(
            "The language of samples that don't name one, such as cpp.  [default: the benchmark's, or python3]",
            metavar="NAME",
        ),
    ] = None
    clean: Annotated[bool, Option("Clean the samples first, as `gencode data clean_generations` does.")] = False
    header: Annotated[str | None, Option("Code that runs before each program, such as 'from typing import *'.")] = None
    setup: Annotated[
        Literal["all", "imports", "none"] | None,
        Option(
            "The code of the prompt that is added to complete programs.  [default: imports; all in a Solutions dataset]"
        ),
    ] = None
    only_present: OnlyPresent = False
    ignore_fingerprint: IgnoreFingerprint = False
    test_type: TestTypes = TestType.PRIVATE
    k: Ks = DEFAULT_KS


@dataclass(frozen=True, kw_only=True)
class CleanOptions(SampleFile):
    """Options of `clean_file`."""

    output: Annotated[Path, Option("The file for the cleaned rows: .jsonl, or .pkl for a pickle.")]
    stop_words: Annotated[
        Sequence[str],
        Option("Use this stop word instead of the defaults; \\n is a line break.", "--stop", "WORD"),
    ] = ()
    rules_off: Annotated[Sequence[str], Argument("Names of rules of cleaning that are turned off.")] = ()


@dataclass(frozen=True)
class ValidateOptions(OfPart, Sharded, Judging, Configured):
    """Options of `validate`."""

    dataset: Annotated[str, Option(DATASET, "--dataset_name", argument="NAME")]
    _: KW_ONLY
    split: Split = None
    test_type: TestTypes = "all"
    near: Annotated[
        float,
        Option(
            "Report known-correct programs that need more than this share of a limit.",
            above=0,
            most=1,
            changes_result=False,
        ),
    ] = 0.5
    output: Annotated[
        str | None,
        Option(
            "Store the problems here, with the findings as columns.",
            "--output_dataset_name",
            "NAME",
            changes_result=False,
        ),
    ] = None
    overwrite: Overwrite = False


@dataclass(frozen=True)
class CheckOptions(InRunFolder, Configured):
    """Options of `check_judge`."""

    known_verdicts: Annotated[
        str | None, Option("Also judge the submissions in this file, whose verdicts are known.", metavar="FILE")
    ] = None
    time_limit_factor: Annotated[
        float, Option("Multiply the time limits in `known_verdicts` by this factor, in every language.", above=0)
    ] = 1.0
    skip_kit: Annotated[bool, Option("Skip the built-in cases (the kit); judge only the file of `known_verdicts`.")] = (
        False
    )


@dataclass(frozen=True)
class MergeOptions(UseCase):
    """Options of `merge`."""

    runs: Annotated[
        Sequence[str],
        Option("The runs of all parts, or what their names begin with, before `-1-of-8`.", argument="RUN..."),
    ]
    run: Annotated[
        str | None, Option("The name of the merged run.  [default: the name that the parts have in common]")
    ] = None
    overwrite: Overwrite = False
