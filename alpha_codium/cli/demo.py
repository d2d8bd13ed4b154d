"""`gencode demo`: three small problems, solved live by a small model and scored in the sandbox."""

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options, model_options
from alpha_codium.cli.reporting import Reporter

# (flow, samples of each problem, settings): small enough for a model of 135 million parameters on two cores.
RUNS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("baseline", 5, ()),
    ("write_and_repair", 1, ("initial_code_generation.max_attempts=2", "public_tests.max_allowed_calls=1")),
)
BOUNDS = ("config.max_tokens=128", "config.concurrency=4", "solve.max_format_retries=0")


@click.command()
@common_options
@model_options
def command(common: CommonOptions) -> None:
    """Solve three small problems with the embedded model."""
    from alpha_codium.data import load_problems

    path = Path(str(resources.files("alpha_codium.data").joinpath("examples", "demo.json")))
    problems = load_problems(path)
    click.echo(f"{len(problems)} problems, easy to harder: {', '.join(problems.names)}")
    _embed(common)
    results = [_run(path, flow, samples, bounds, common) for flow, samples, bounds in RUNS]
    click.echo("")
    for result in results:
        _show(result)
    common.write_json(results)


def _embed(common: CommonOptions) -> None:
    """Use a local model if no --model was given: the best one that is downloaded, else the smallest."""
    if common.settings.config.model:
        return
    from alpha_codium.app.models import smallest_model

    name = smallest_model()
    click.echo(f"the model is the embedded {name}", err=True)
    common.extra_overrides.append(f"config.model={name}")
    del common.settings


def _run(path: Path, flow: str, samples: int, bounds: tuple[str, ...], common: CommonOptions) -> dict[str, Any]:
    """Run a flow, and judge its candidates by all tests."""
    from alpha_codium.app.evaluation import evaluate
    from alpha_codium.app.generation import solve_set

    # What the user asked for stands behind the demo's own bounds, and wins.
    own = replace(common, overrides=(*BOUNDS, *bounds, *common.overrides))
    click.echo(f"\n{flow}, {samples} sample{'s' * (samples > 1)} a problem", err=True)
    reporter = Reporter(own)
    with reporter.resumable():
        summary = solve_set(str(path), samples=samples, flow=flow, settings=own.settings, on_event=reporter)
    result = evaluate(summary.solutions, str(path), "all", k=sorted({1, samples}), settings=own.settings)
    return {"flow": flow, "summary": summary.to_json()} | result.to_json()


def _show(result: dict[str, Any]) -> None:
    """One run's table: each problem's programs that pass all tests, then pass@k."""
    summary = result["summary"]
    click.echo(f"{result['flow']} ({summary['llm_calls']} calls, {summary['completion_tokens']} tokens written)")
    for problem in result["problems"]:
        verdicts = [candidate["verdict"] for candidate in problem["candidates"]]
        solved = verdicts.count("accepted")
        outcome = (
            f"solved by {solved} of {len(verdicts)}" if solved else f"not solved ({', '.join(sorted(set(verdicts)))})"
        )
        click.echo(f"  {problem['name']:<20} {outcome}")
    scores = [
        f"{name} = n/a" if value is None else f"{name} = {value:.2f}" for name, value in result["pass_at_k"].items()
    ]
    click.echo(f"  {', '.join(scores)}")
    click.echo(f"  run folder: {summary['run_folder']}")
