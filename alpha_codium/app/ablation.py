"""Ablation of a flow: runs of the whole flow and of variants without some stages, and their comparison."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from alpha_codium.app.comparison import compare_async
from alpha_codium.app.events import Noted, OnEvent, ignore
from alpha_codium.app.generation import SetOptions, generate_set_async, preview
from alpha_codium.app.run_folders import SettingsOn, run_options, run_settings
from alpha_codium.comparison.report import Comparison
from alpha_codium.coroutines import blocking
from alpha_codium.errors import UserError
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.gen.choosing import chosen_flow
from alpha_codium.gen.preview import Preview
from alpha_codium.paths import runs_folder
from alpha_codium.runs.folder import RUN_FILE, new_run_name
from alpha_codium.wording import counted


async def ablate_async(
    options: SetOptions,
    variants: Sequence[str],
    test_type: Sequence[str],
    k: Sequence[int],
    settings: SettingsOn,
    on_event: OnEvent = ignore,
) -> Comparison:
    """Run the whole flow and each variant, resuming existing runs, and compare the variants with the whole flow.

    `options` are those of the run of the whole flow; each of `variants` is a comma-separated list of stages to omit
    together. Raises UserError, before the first call, if a variant names a stage that the flow doesn't have.
    """
    parse_test_types(test_type)
    runs = _planned(options, variants, settings, on_event)
    name = next(iter(runs))
    begun = _is_begun(name)
    again = f"repeat the command with --run {name}"
    on_event(Noted(f"if this is interrupted, {again}"))
    for number, (run, stages) in enumerate(runs.items(), start=1):
        on_event(Noted(f"run {number} of {len(runs)}: {run}"))
        summary = await generate_set_async(*_call(options, run, stages, settings, name if begun else None), on_event)
        for budget, samples in summary.ended_by_budget.items():
            ended = f"{budget} is spent and ended {counted(samples, 'sample')} of {run}"
            on_event(Noted(f"{ended}: raise it and {again}"))
    return await compare_async(
        list(runs), test_type=test_type, k=k, baseline=name, settings=settings(None), on_event=on_event
    )


ablate = blocking(ablate_async)


def previews(
    options: SetOptions, variants: Sequence[str], settings: SettingsOn, on_event: OnEvent = ignore
) -> list[Preview]:
    """Estimate each run of the ablation, or the rest of an existing run."""
    runs = _planned(options, variants, settings, on_event)
    name = next(iter(runs))
    whole = name if _is_begun(name) else None
    return [preview(*_call(options, run, stages, settings, whole)) for run, stages in runs.items()]


def _planned(
    options: SetOptions, variants: Sequence[str], settings: SettingsOn, on_event: OnEvent
) -> dict[str, tuple[str, ...]]:
    """Return the stages that each run omits, by its name or full path; the whole flow is first.

    Variants that omit the same stages are one run. Raises UserError if a variant names an unknown stage.
    """
    name = options.run_name or new_run_name("ablate")
    name = str(Path(name).absolute()) if "/" in name else name
    in_force = settings(None)
    flow = chosen_flow(options.flow, in_force)
    runs: dict[str, tuple[str, ...]] = {name: ()}
    first: dict[tuple[str, ...], str] = {}
    for stages in dict.fromkeys(map(_stages_in, variants)):
        chosen_flow(options.flow, in_force, stages)
        run = f"{name}-without-{'-'.join(stages)}"
        if (same := first.setdefault(flow.stage_kinds_named(stages), run)) == run:
            runs[run] = stages
        else:
            on_event(Noted(f"without {', '.join(stages)} is the same as {same}, and run once"))
    return runs


def _stages_in(text: str) -> tuple[str, ...]:
    stages = tuple(dict.fromkeys(part.strip().replace("-", "_") for part in text.split(",") if part.strip()))
    if not stages:
        raise UserError(f"--without {text!r} matches no stage")
    return stages


def _is_begun(run: str) -> bool:
    return (runs_folder() / run / RUN_FILE).exists()


def _call(
    options: SetOptions, run: str, stages: tuple[str, ...], settings: SettingsOn, whole: str | None
) -> tuple[SetOptions, SettingsOn]:
    """Return the arguments that start or resume a run.

    If a variant is added to an existing ablation, options that aren't given are taken from the run of the `whole` flow.
    """
    begun = _is_begun(run)
    given = replace(options, run_name=run, without=stages or None)
    given = replace(given, run_name=None, resume=run) if begun else given
    if begun or whole is None or run == whole:
        return given, settings
    base = run_settings(whole)
    return replace(given, **run_options(whole, given)), lambda _base: settings(base)
