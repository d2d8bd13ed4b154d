"""Options of the use cases that look at stored runs: `report`, `verify`, `export_run`."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

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


@dataclass(frozen=True)
class ExportOptions(UseCase):
    """Options of `export_run`."""

    run: Annotated[str, Option("A run's name, or its folder.", argument="RUN")]
    format: Annotated[
        Literal["hf", "eee", "inspect"],
        Option("The Hub's .eval_results, Every Eval Ever's schema, or a log of inspect_ai."),
    ]
    _: KW_ONLY
    output: Annotated[
        Path | None,
        Option("The file; for eee the folder.  [default: RUN.yaml, the folder RUN.eee, or RUN.eval]", metavar="PATH"),
    ] = None
    model: Annotated[str, Option("The model.  [default: that which the samples record]", metavar="NAME")] = ""
    dataset: Annotated[str, Option("The benchmark's id on the Hub.  [default: the run's dataset]", metavar="ID")] = ""
    task: Annotated[str, Option("The benchmark's task, as its eval.yaml names it; hf needs it.", metavar="ID")] = ""
    organization: Annotated[str, Option("Who evaluated; eee needs it.", metavar="NAME")] = ""
    relationship: Annotated[
        Literal["first_party", "third_party", "collaborative", "other"],
        Option("What the evaluator is to the model's developer, for eee."),
    ] = "other"
    source_url: Annotated[str, Option("Where the run is published, for hf.", metavar="URL")] = ""
