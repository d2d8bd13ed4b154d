"""Ablation of a flow: runs of the whole flow and of variants without some stages, and their comparison."""

from dataclasses import fields, replace
from pathlib import Path

from alpha_codium.app.comparison import compare_async
from alpha_codium.app.events import Noted
from alpha_codium.app.generation import preview, solve_set_async
from alpha_codium.app.options.solving import AblateOptions, SolveSetOptions, ToSolve
from alpha_codium.app.run_folders import is_begun, run_options, run_settings, settings_on
from alpha_codium.comparison.report import Comparison
from alpha_codium.coroutines import blocking
from alpha_codium.errors import UserError
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.gen.choosing import chosen_flow
from alpha_codium.gen.preview import Preview
from alpha_codium.options import use_case
from alpha_codium.runs.folder import new_run_name
from alpha_codium.wording import counted


@use_case(AblateOptions)
async def ablate_async(options: AblateOptions) -> Comparison:
    """Run the whole flow and each variant, resuming existing runs, and compare the variants with the whole flow.

    Raises UserError, before the first call, if a variant names a stage that the flow doesn't have.
    """
    parse_test_types(options.test_type)
    settings, on_event = settings_on(options.settings), options.on_event
    runs = _planned(options)
    name = next(iter(runs))
    whole = name if is_begun(name) else None
    again = f"repeat the command with `run` {name}"
    on_event(Noted(f"if this is interrupted, {again}"))
    for number, (run, stages) in enumerate(runs.items(), start=1):
        on_event(Noted(f"run {number} of {len(runs)}: {run}"))
        summary = await solve_set_async(**vars(_options(options, run, stages, whole)))
        for budget, samples in summary.ended_by_budget.items():
            ended = f"{budget} is spent and ended {counted(samples, 'sample')} of {run}"
            on_event(Noted(f"{ended}: raise it and {again}"))
    return await compare_async(
        list(runs),
        test_type=options.test_type,
        k=options.k,
        baseline=name,
        settings=settings(None),
        on_event=on_event,
    )


ablate = blocking(ablate_async)


def previews(options: AblateOptions) -> list[Preview]:
    """Estimate each run of the ablation, or the rest of an existing run."""
    runs = _planned(options)
    name = next(iter(runs))
    whole = name if is_begun(name) else None
    return [preview(_options(options, run, stages, whole)) for run, stages in runs.items()]


def _planned(options: AblateOptions) -> dict[str, tuple[str, ...]]:
    """Return the stages that each run omits, by its name or full path; the whole flow is first.

    Variants that omit the same stages are one run. Raises UserError if a variant names an unknown stage.
    """
    name = options.run or new_run_name("ablate")
    name = str(Path(name).absolute()) if "/" in name else name
    in_force = settings_on(options.settings)(None)
    flow = chosen_flow(options.flow, in_force)
    runs: dict[str, tuple[str, ...]] = {name: ()}
    first: dict[tuple[str, ...], str] = {}
    for stages in dict.fromkeys(map(_stages_in, options.variants)):
        chosen_flow(options.flow, in_force, stages)
        run = f"{name}-without-{'-'.join(stages)}"
        if (same := first.setdefault(flow.stage_kinds_named(stages), run)) == run:
            runs[run] = stages
        else:
            options.on_event(Noted(f"without {', '.join(stages)} is the same as {same}, and run once"))
    return runs


def _stages_in(text: str) -> tuple[str, ...]:
    stages = tuple(dict.fromkeys(part.strip().replace("-", "_") for part in text.split(",") if part.strip()))
    if not stages:
        raise UserError(f"`variants`: {text!r} matches no stage")
    return stages


def _options(options: AblateOptions, run: str, stages: tuple[str, ...], whole: str | None) -> SolveSetOptions:
    """Return the options that start or resume a run.

    If a variant is added to an existing ablation, options that aren't given are taken from the run of the `whole` flow.
    """
    begun, settings = is_begun(run), settings_on(options.settings)
    shared = {field.name: getattr(options, field.name) for field in fields(ToSolve)}
    given = SolveSetOptions(
        options.dataset,
        **shared,
        flow=options.flow,
        without=stages or None,
        run=None if begun else run,
        resume=run if begun else None,
        settings=settings,
        on_event=options.on_event,
    )
    if begun or whole is None or run == whole:
        return given
    base = run_settings(whole)
    return replace(given, **run_options(whole, given), settings=lambda _base: settings(base))
