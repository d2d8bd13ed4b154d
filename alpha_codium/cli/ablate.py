"""`gencode ablate`: a flow whole, and without some of its stages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.compare import CompareOptions, compare_runs, print_report
from alpha_codium.cli.judging import KList, tests_option
from alpha_codium.cli.options import CommonOptions, cache_option, common_options, model_options
from alpha_codium.cli.output import say
from alpha_codium.errors import UserError
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.paths import runs_folder
from alpha_codium.runs.folder import RUN_FILE, new_run_name

if TYPE_CHECKING:
    from alpha_codium.cli.generating import SetOptions
    from alpha_codium.eval.comparing.report import Report
    from alpha_codium.gen.preview import Preview


@click.command("ablate")
@click.option("--flow", default="alphacodium", show_default=True, help="A shipped flow, or a folder.")
@click.option("--without", "variants", multiple=True, required=True, metavar="STAGE",
              help="Run a variant without the stages of this kind, or whose kinds hold this word; repeatable, "
              "several with commas are left out together.")  # fmt: skip
@click.option("--dataset_name", required=True, help="A name saved by etl, a hub id, or a path.")
@click.option("--split_name", help="The split; not needed where there is one.")
@click.option("--samples", type=click.IntRange(min=1), help="Samples of each problem.")
@click.option("--sample_rate", type=click.FloatRange(0, 1, min_open=True), help="Solve this share of the problems.")
@click.option("--run", "run_name", help="A name for the runs, or that of earlier ones to go on with.")
@tests_option(default="private_tests")
@click.option("--k", "ks", type=KList(), default="1,5", show_default=True, help="The k of pass@k.")
@click.option("--dry_run", is_flag=True, help="Ask nothing, write nothing: say what each run would take.")
@common_options
@model_options
@cache_option
def command(common: CommonOptions, dry_run: bool, **options: Any) -> None:
    """Run a flow, and once more for each --without; then compare each variant with the whole flow.

    The runs are called NAME, NAME-without-STAGE, ... An answer that two of them ask for in the same words is shared
    through the cache. Repeat the command with --run NAME to go on where it was cut off.
    """
    from alpha_codium.gen.preview import HOW

    if dry_run:
        told = previews(AblateOptions(**options), common)
        common.write_json([preview.values() for preview in told])
        for preview in told:
            say(preview.line())
        click.echo(HOW, err=True)
        return
    print_report(ablate(AblateOptions(**options), common), common)


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


def ablate(options: AblateOptions, common: CommonOptions) -> "Report":
    """Run the flow whole and each variant, going on with those that are there, and compare them with the whole.

    Raises UserError, before the first call, where a variant names a stage that the flow hasn't.
    """
    from alpha_codium.cli.generating import solve_many

    parse_test_types(options.test_types)
    name, variants = _planned(options, common)
    begun = _begun(name)
    if not options.run_name:
        click.echo(f"runs {name}...: if this is cut off, repeat the command with --run {name}", err=True)
    try:
        for number, variant in enumerate(variants, start=1):
            click.echo(f"run {number} of {len(variants)}: {variant.run}", err=True)
            _tell_budgets(solve_many(*_call(options, variant, common, name if begun else None)), name)
    except KeyboardInterrupt:
        click.echo(f"with the whole ablation: repeat the command with --run {name}", err=True)
        raise
    runs = tuple(variant.run for variant in variants)
    return compare_runs(CompareOptions(runs, options.test_types, options.ks, baseline=name), common)


def previews(options: AblateOptions, common: CommonOptions) -> "list[Preview]":
    """What each run of the ablation would take; of those that are there, what is left."""
    from alpha_codium.cli.previews import preview_set

    name, variants = _planned(options, common)
    whole = name if _begun(name) else None
    return [preview_set(*_call(options, variant, common, whole)) for variant in variants]


def _planned(options: AblateOptions, common: CommonOptions) -> tuple[str, list[Variant]]:
    """The name of the ablation, and its runs; raises UserError where a variant names a stage that the flow hasn't."""
    from alpha_codium.gen.ablation import kinds_meant
    from alpha_codium.gen.api import chosen_flow

    name = _settled(options.run_name) if options.run_name else new_run_name("ablate")
    flow = chosen_flow(options.flow, common.settings)
    found: dict[tuple[str, ...], Variant] = {}
    for variant in variants_of(name, options.variants):
        stages = variant.without or ()
        if stages:
            chosen_flow(options.flow, common.settings, stages)
        first = found.setdefault(kinds_meant(flow, stages), variant)
        if first is not variant:
            click.echo(f"without {', '.join(stages)} is the same as {first.run}, and run once", err=True)
    return name, list(found.values())


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


def _begun(run: str) -> bool:
    return (runs_folder() / run / RUN_FILE).exists()


def _tell_budgets(summary: Mapping[str, Any], name: str) -> None:
    """Which budgets ended samples of a run that is done."""
    for budget, samples in summary["ended_by_budget"].items():
        click.echo(
            f"{budget} is spent, and ended {samples} samples of {summary['run']}: raise it, and repeat the command "
            f"with --run {name}",
            err=True,
        )


def _call(
    options: AblateOptions, variant: Variant, common: CommonOptions, whole: str | None
) -> "tuple[SetOptions, CommonOptions]":
    """What makes the run of one variant: a new one, or that of this name to go on with.

    A variant that is added to an ablation, whose `whole` flow was run before, has what isn't given as it was then.
    """
    from alpha_codium.cli.generating import SetOptions
    from alpha_codium.cli.run_folders import run_options, run_settings

    begun = _begun(variant.run)
    given = SetOptions(
        dataset_name=options.dataset_name,
        split_name=options.split_name,
        samples=options.samples,
        sample_rate=options.sample_rate,
        run_name=None if begun else variant.run,
        resume=variant.run if begun else None,
        flow=options.flow,
        without=variant.without,
    )
    if begun or whole is None or variant.run == whole:
        return given, replace(common)
    return replace(given, **run_options(whole, given)), replace(common, base=run_settings(whole))
