"""Options of the use case that judges published samples again: `rejudge`."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from alpha_codium.app.options.shared import Configured
from alpha_codium.options import Option


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
    verdict_column: Annotated[
        str, Option("The column with the file's own verdicts.  [default: recognized by its name]", metavar="NAME")
    ] = ""
    header: Annotated[str | None, Option("Code that runs before each program, such as 'from typing import *'.")] = None
    setup: Annotated[
        Literal["all", "imports", "none"] | None,
        Option("The code of the prompt that is added to complete programs.  [default: imports]"),
    ] = None
