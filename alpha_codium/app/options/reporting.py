"""Options of the use cases that look at stored runs: `report`, `verify`."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from alpha_codium.app.options.shared import ConfiguredByRun, UseCase
from alpha_codium.options import Option


@dataclass(frozen=True)
class ReportOptions(UseCase):
    """Options of `report`."""

    runs: Annotated[Sequence[str], Option("Names of runs, or their folders.", argument="RUN...")]
    _: KW_ONLY
    output: Annotated[
        Path | None, Option("The page's file.  [default: RUN.html, or report.html for several runs]", metavar="FILE")
    ] = None
    follow: Annotated[bool, Option("Write the page again while a run goes on; an open page reloads itself.")] = False


@dataclass(frozen=True)
class VerifyOptions(ConfiguredByRun):
    """Options of `verify`."""

    run: Annotated[str, Option("A run's name, or its folder.", argument="RUN")]
    _: KW_ONLY
    sample: Annotated[
        int | None, Option("Judge only so many of the programs, chosen at random.", metavar="N", least=1)
    ] = None
