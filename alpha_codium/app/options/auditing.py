"""Options of the use cases that check other graders and their verdicts: `audit_grader` and `rejudge`."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

from alpha_codium.app.options.shared import Configured, ProgramColumn, UseCase
from alpha_codium.options import Option


@dataclass(frozen=True)
class AuditOptions(UseCase):
    """Options of `audit_grader`."""

    grader: Annotated[
        str,
        Option(
            "A file (grader.py or grader.py:function), a module (module:function), command:COMMAND, a URL, "
            "metric:NAME, or the name of an adapter such as human_eval.",
            argument="GRADER",
        ),
    ]
    _: KW_ONLY
    python: Annotated[
        str | None, Option("The interpreter in which the grader is installed.  [default: this one]", metavar="PYTHON")
    ] = None
    form: Annotated[Literal["stdin", "call", "assertions"], Option("What FUNCTION grades, if GRADER names one.")] = (
        "stdin"
    )
    dialect: Annotated[
        Literal["judge", "judge0", "code_judge", "open_instruct", "piston", "sandbox_fusion"],
        Option("The dialect of a URL; judge is POST /v1/judge of `gencode serve`."),
    ] = "judge"
    section: Annotated[
        Sequence[str], Option("Ask only cases of this section, such as 'stdin idioms'.", metavar="NAME")
    ] = ()
    own_isolation: Annotated[
        bool,
        Option("The grader isolates programs by itself: start it without isolation of ours, and ask the attacks, too."),
    ] = False
    known: Annotated[
        Path | None, Option("A file with accepted deviations: the name of a case on each line.", metavar="FILE")
    ] = None
    output: Annotated[
        Path | None, Option("Write a page of HTML on what the grader gets wrong to this file.", metavar="FILE")
    ] = None
    parallel: Annotated[int, Option("How many cases are asked at a time.", least=1)] = 2
    deadline: Annotated[float, Option("Seconds after which a case counts as a hang.", above=0)] = 30.0


@dataclass(frozen=True)
class RejudgeOptions(Configured):
    """Options of `rejudge`."""

    files: Annotated[
        Sequence[str],
        Option("Files of samples, as `score` reads them, with a verdict in each row.", argument="FILE..."),
    ]
    _: KW_ONLY
    datasets: Annotated[
        Sequence[str],
        Option(
            "The problems: a name saved by etl, a hub id, or a path. Of several, each file takes one that has all "
            "its problems, preferably by the same names.",
            "--dataset_name",
            "NAME",
        ),
    ] = ()
    column: ProgramColumn = ""
    verdict_column: Annotated[
        str, Option("The column with the file's own verdicts.  [default: recognized by its name]", metavar="NAME")
    ] = ""
    header: Annotated[str | None, Option("Code that runs before each program, such as 'from typing import *'.")] = None
    setup: Annotated[
        Literal["all", "imports", "none"] | None,
        Option("The code of the prompt that is added to complete programs.  [default: imports]"),
    ] = None
    run: Annotated[
        str | None,
        Option(
            "A name for the run folder, or NAME-1, NAME-2, ... if the files hold several runs. The same command again "
            "goes on with them.",
            metavar="NAME",
            changes_result=False,
        ),
    ] = None
