"""Options of the use cases of the repository benchmark: `build_tasks`, `run_repository`."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from alpha_codium.app.options.shared import Configured, InRunFolder, Overwrite, UseCase
from alpha_codium.options import Argument, Option


def words(text: str) -> tuple[str, ...]:
    """Return the words of a list with commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


@dataclass(frozen=True)
class BuildOptions(InRunFolder, Configured):
    """Options of `build_tasks`."""

    repository: Annotated[str, Option("The name of a recipe: django, sympy, or one of yours.", "--repository --repo")]
    _: KW_ONLY
    version: Annotated[str, Option("The version to fetch from PyPI.  [default: the recipe's]")] = ""
    sdist: Annotated[str | None, Option("Take this source package, NAME-VERSION.tar.gz, instead.", metavar="FILE")] = (
        None
    )
    checkout: Annotated[str | None, Option("Take the files of this folder instead.", metavar="DIR")] = None
    labels: Annotated[
        Sequence[str], Option("The labels of tests.  [default: the recipe's]", metavar="NAME,...", parse=words)
    ] = ()
    only_labels: Annotated[bool, Option("Take the tests of a method from these labels only, not from all.")] = False
    max_items: Annotated[int | None, Option("Make at most N tasks.", metavar="N", least=1)] = None
    seed: Annotated[int, Option("The seed for the choice of methods and bugs.")] = 0
    repeats: Annotated[int, Option("Runs of each kind to certify a task.", least=0)] = 10
    output: Annotated[
        str | None,
        Option(
            "The name to store under.  [default: that of the repository]",
            "--output_dataset_name",
            "NAME",
            changes_result=False,
        ),
    ] = None
    overwrite: Overwrite = False


CONFIG = Option("A YAML file, such as `get-resources` makes.")
Overrides = Annotated[Sequence[str], Option("Override a value.", "-o", "SECTION.KEY=VALUE")]
BasePort = Annotated[int, Option("The port of the first server; the others have the next ones.", least=1, most=65535)]
GpuIds = Annotated[str, Option("The GPUs, a server for each.", metavar="ID,...")]


@dataclass(frozen=True, kw_only=True)
class TasksOptions:
    """What is run, here or in a cluster."""

    config: Annotated[Path | None, CONFIG] = None
    overrides: Overrides = ()
    repository: Annotated[str | None, Option("The repository; takes precedence over the file.", "--repo", "NAME")] = (
        None
    )
    benchmark: Annotated[str | None, Option("method_gen_multiturn, completion or program_repair.", metavar="NAME")] = (
        None
    )
    max_items: Annotated[int | None, Option("Run only the first N tasks.", metavar="N", least=1)] = None

    def all_overrides(self) -> tuple[str, ...]:
        """Return the overrides, and the options that stand for some."""
        given: dict[str, object] = {"repository": self.repository, "benchmark": self.benchmark}
        given["inference.max_items"] = self.max_items
        return (*self.overrides, *(f"{name}={value}" for name, value in given.items() if value is not None))


@dataclass(frozen=True, kw_only=True)
class RunOptions(TasksOptions, UseCase):
    """Options of `run_repository`."""

    checkout: Annotated[
        str | None, Option("A folder with the repository's files, such as a clone at some commit.", metavar="DIR")
    ] = None
    autorun: Annotated[bool, Option("Start servers for this run, see serve-vllm, and end them after it.")] = False
    gpu_ids: GpuIds = "0"
    base_port: BasePort = 3117
    resume: Annotated[str | None, Option("Resume this run; its configuration need not be repeated.", metavar="RUN")] = (
        None
    )
    servers: Annotated[
        Sequence[str], Argument("Addresses of OpenAI-compatible servers in place of those of the configuration.")
    ] = ()

    def all_overrides(self) -> tuple[str, ...]:
        """Return the overrides, and the options that stand for some."""
        checkout = () if self.checkout is None else (f"paths.checkout={self.checkout}",)
        return (*super().all_overrides(), *checkout)


@dataclass(frozen=True)
class ServersOptions:
    """Options of `serve_models`."""

    config: Annotated[Path, CONFIG]
    overrides: Overrides = ()
    gpu_ids: GpuIds = "0"
    base_port: BasePort = 3117
