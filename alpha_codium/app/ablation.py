"""Ablation of a flow: runs of the whole flow and of variants without some stages, and their comparison."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from alpha_codium.app.comparison import compare_async
from alpha_codium.app.events import AblationPlanned, OnEvent, VariantEnded, VariantStarted, ignore
from alpha_codium.app.generation import SetOptions, generate_set_async, preview
from alpha_codium.app.run_folders import SettingsOn, run_options, run_settings
from alpha_codium.coroutines import blocking
from alpha_codium.errors import UserError
from alpha_codium.eval.comparing.report import Comparison
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.gen.choosing import chosen_flow
from alpha_codium.gen.preview import Preview
from alpha_codium.paths import runs_folder
from alpha_codium.runs.folder import RUN_FILE, new_run_name


@dataclass(frozen=True)
class AblateOptions:
    """The options of an ablation; each of `variants` is a comma-separated list of stages to omit together."""

    flow: str
    variants: tuple[str, ...]
    dataset_name: str
    split_name: str | None
    samples: int | None
    sample_rate: float | None
    limit: int | None
    names: tuple[str, ...] | None
    run_name: str | None
    test_type: tuple[str, ...]
    k: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """One run of an ablation: its name, and the stages that it omits."""

    run: str
    without: tuple[str, ...] | None = None


async def ablate_async(options: AblateOptions, settings: SettingsOn, on_event: OnEvent = ignore) -> Comparison:
    """Run the whole flow and each variant, resuming existing runs, and compare the variants with the whole flow.

    Raises UserError, before the first call, if a variant names a stage that the flow doesn't have.
    """
    parse_test_types(options.test_type)
    planned, variants = _planned(options, settings)
    begun = _is_begun(planned.name)
    on_event(planned)
    for number, variant in enumerate(variants, start=1):
        on_event(VariantStarted(variant.run, number, len(variants)))
        summary = await generate_set_async(
            *_call(options, variant, settings, planned.name if begun else None), on_event
        )
        on_event(VariantEnded(summary))
    return await compare_async(
        planned.runs,
        test_type=options.test_type,
        k=options.k,
        baseline=planned.name,
        settings=settings(None),
        on_event=on_event,
    )


ablate = blocking(ablate_async)


def previews(options: AblateOptions, settings: SettingsOn, on_event: OnEvent = ignore) -> list[Preview]:
    """Estimate each run of the ablation, or the rest of an existing run."""
    planned, variants = _planned(options, settings)
    on_event(planned)
    whole = planned.name if _is_begun(planned.name) else None
    return [preview(*_call(options, variant, settings, whole)) for variant in variants]


def _planned(options: AblateOptions, settings: SettingsOn) -> tuple[AblationPlanned, list[Variant]]:
    """Return the plan and the runs of the ablation; raises UserError if a variant names an unknown stage."""
    name = _full_path(options.run_name) if options.run_name else new_run_name("ablate")
    in_force = settings(None)
    flow = chosen_flow(options.flow, in_force)
    found: dict[tuple[str, ...], Variant] = {}
    same: list[tuple[str, str]] = []
    for variant in variants_of(name, options.variants):
        stages = variant.without or ()
        if stages:
            chosen_flow(options.flow, in_force, stages)
        first = found.setdefault(flow.stage_kinds_named(stages), variant)
        if first is not variant:
            same.append((", ".join(stages), first.run))
    return AblationPlanned(name, tuple(variant.run for variant in found.values()), tuple(same)), list(found.values())


def variants_of(name: str, left_out: tuple[str, ...]) -> Iterator[Variant]:
    """Yield the whole flow, then one variant for each different `--without`."""
    yield Variant(name)
    for stages in dict.fromkeys(map(_stages_in, left_out)):
        yield Variant(f"{name}-without-{'-'.join(stages)}", stages)


def _stages_in(text: str) -> tuple[str, ...]:
    stages = tuple(dict.fromkeys(part.strip().replace("-", "_") for part in text.split(",") if part.strip()))
    if not stages:
        raise UserError(f"--without {text!r} matches no stage")
    return stages


def _full_path(name: str) -> str:
    """Return the name of a run; a path is made absolute."""
    return str(Path(name).absolute()) if "/" in name else name


def _is_begun(run: str) -> bool:
    return (runs_folder() / run / RUN_FILE).exists()


def _call(
    options: AblateOptions, variant: Variant, settings: SettingsOn, whole: str | None
) -> tuple[SetOptions, SettingsOn]:
    """Return the arguments that start or resume the run of one variant.

    If a variant is added to an existing ablation, options that aren't given are taken from the run of the `whole` flow.
    """
    begun = _is_begun(variant.run)
    given = SetOptions(
        dataset_name=options.dataset_name,
        split_name=options.split_name,
        samples=options.samples,
        sample_rate=options.sample_rate,
        limit=options.limit,
        names=options.names,
        run_name=None if begun else variant.run,
        resume=variant.run if begun else None,
        flow=options.flow,
        without=variant.without,
    )
    if begun or whole is None or variant.run == whole:
        return given, settings
    base = run_settings(whole)
    return replace(given, **run_options(whole, given)), lambda _base: settings(base)
