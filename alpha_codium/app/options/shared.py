"""Options that several use cases have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from alpha_codium.app.events import OnEvent, ignore
from alpha_codium.options import Argument, Option

if TYPE_CHECKING:
    from alpha_codium.app.run_folders import SettingsOn
    from alpha_codium.config import Settings


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers in a list such as `1,5,10`, each above 0, in order and once; raises ValueError."""
    try:
        found = sorted({int(part) for part in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise ValueError(f"{text!r} is not a list of numbers above 0, such as 1,5,10")
    return tuple(found)


DATASET = "A name saved by etl, a hub id, or a path."
FLOW = "A shipped flow, or a folder with a flow.toml."
OUTPUT = "Where to save the candidates: a name or a folder."
Dataset = Annotated[str, Option(DATASET, "--dataset_name")]
Split = Annotated[str | None, Option("The split; needed only if there are several.", "--split_name")]
ProgramColumn = Annotated[str, Option("The column that holds the programs.  [default: recognized by its name]")]
TestTypes = Annotated[
    str | Sequence[str],
    Option("public_tests, private_tests, generated_tests or all.", "--evaluation_test_type", "TESTS"),
]
Ks = Annotated[Sequence[int], Option("The k of pass@k.", metavar="K,...", parse=numbers, changes_result=False)]
NAMES = Option("Take only these.", "--problems", "NAME,...")
Limit = Annotated[int | None, Option("Take only the first N problems.", metavar="N", least=1)]
Overwrite = Annotated[bool, Option("Replace the output if it exists already.", changes_result=False)]


@dataclass(frozen=True, kw_only=True)
class UseCase:
    """What every use case takes, in Python only."""

    on_event: Annotated["OnEvent", Argument("Called with each event of `alpha_codium.app.events`.")] = ignore


@dataclass(frozen=True, kw_only=True)
class Configured(UseCase):
    """A use case with settings."""

    settings: Annotated["Settings | None", Argument("By default those of `load_settings()`.")] = None


@dataclass(frozen=True, kw_only=True)
class ConfiguredByRun(UseCase):
    """A use case with settings that are based on those of an earlier run, if it goes on with one."""

    settings: Annotated[
        "Settings | SettingsOn | None", Argument("By default those of `load_settings()`, or of the earlier run.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class InRunFolder(UseCase):
    """A use case whose progress and result are kept in a run folder, if one is named."""

    run: Annotated[str | None, Option("A name for this run's folder.", changes_result=False)] = None
    resume: Annotated[
        str | None,
        Option("Resume this run; its arguments and options need not be repeated.", metavar="RUN", changes_result=False),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Sharded(InRunFolder):
    """A use case of which parts can be done apart: see `alpha_codium.eval.shards`."""

    shard: Annotated[
        str | None,
        Option(
            "Do only the part I of N; auto in a task of an array job. See `gencode runs merge`.",
            metavar="I/N",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Judging:
    """A use case that judges programs."""

    executor: Annotated[
        str | None,
        Option(
            "Where to judge: local, on this machine; ray, on a Ray cluster.  [default: that of the settings]",
            metavar="NAME",
            changes_result=False,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OfPart:
    """A choice of some of the problems."""

    sample_rate: Annotated[float, Option("Take this share of the problems.", above=0, most=1)] = 1.0
    seed: Annotated[int, Option("The seed of `sample_rate`.")] = 0
    names: Annotated[Sequence[str], NAMES] = ()
    limit: Limit = None
