"""What `gencode ablate` does: the runs, one after the other, and then their comparison."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from alpha_codium.cli.comparing import CompareOptions, compare_runs
from alpha_codium.cli.generating import SetOptions, solve_many
from alpha_codium.cli.options import CommonOptions
from alpha_codium.data.home import runs_folder
from alpha_codium.errors import UserError
from alpha_codium.eval.comparing.report import Report
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.gen.api import chosen_flow
from alpha_codium.runs.folder import RUN_FILE, new_run_name


@dataclass(frozen=True)
class AblateOptions:
    """The options of `ablate`."""

    flow: str
    variants: tuple[str, ...]
    dataset_name: str
    split_name: str | None
    samples: int | None
    sample_rate: float | None
    run_name: str | None
    test_types: tuple[str, ...]
    ks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """One run of an ablation: its name, and the stages that it leaves out."""

    run: str
    without: tuple[str, ...] | None = None


def ablate(options: AblateOptions, common: CommonOptions) -> Report:
    """Run the flow whole and each variant, going on with those that are there, and compare them with the whole.

    Raises UserError, before the first call, where a variant names a stage that the flow hasn't.
    """
    parse_test_types(options.test_types)
    name = _settled(options.run_name) if options.run_name else new_run_name("ablate")
    variants = list(variants_of(name, options.variants))
    for variant in variants:
        chosen_flow(options.flow, common.settings, variant.without or ())
    if not options.run_name:
        click.echo(f"runs {name}...: if this is cut off, repeat the command with --run {name}", err=True)
    try:
        for number, variant in enumerate(variants, start=1):
            click.echo(f"run {number} of {len(variants)}: {variant.run}", err=True)
            solve_many(_set_options(options, variant), replace(common))
    except KeyboardInterrupt:
        click.echo(f"with the whole ablation: repeat the command with --run {name}", err=True)
        raise
    runs = tuple(variant.run for variant in variants)
    return compare_runs(CompareOptions(runs, options.test_types, options.ks, baseline=name), common)


def variants_of(name: str, left_out: tuple[str, ...]) -> Iterator[Variant]:
    """The whole flow, then one variant for each `--without`, each once; names with commas are left out together."""
    yield Variant(name)
    for stages in dict.fromkeys(map(_stages_in, left_out)):
        yield Variant(f"{name}-without-{'-'.join(stages)}", stages)


def _stages_in(text: str) -> tuple[str, ...]:
    stages = tuple(dict.fromkeys(part.strip().replace("-", "_") for part in text.split(",") if part.strip()))
    if not stages:
        raise UserError(f"--without {text!r} names no stage")
    return stages


def _settled(name: str) -> str:
    """The name of a run; a path in full, so that it is one folder whichever folder it is looked up in."""
    return str(Path(name).absolute()) if "/" in name else name


def _set_options(options: AblateOptions, variant: Variant) -> SetOptions:
    """The run of one variant: a new one, or that of this name to go on with."""
    begun = (runs_folder() / variant.run / RUN_FILE).exists()
    return SetOptions(
        dataset_name=options.dataset_name,
        split_name=options.split_name,
        samples=options.samples,
        sample_rate=options.sample_rate,
        run_name=None if begun else variant.run,
        resume=variant.run if begun else None,
        flow=options.flow,
        without=variant.without,
    )
