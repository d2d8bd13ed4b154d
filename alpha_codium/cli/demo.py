"""`gencode demo`: three small problems, solved live by a small model and scored in the sandbox."""

import asyncio
from importlib import resources
from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options, model_options

# (flow, samples of each problem, settings): small enough for a model of 135 million parameters on two cores.
RUNS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("baseline", 5, ()),
    ("write_and_repair", 1, ("initial_code_generation.max_attempts=2", "public_tests.max_allowed_calls=1")),
)
SMALLEST = "smollm2-135m"
BOUNDS = ("config.max_tokens=128", "config.concurrency=4", "solve.max_format_retries=0")


@click.command()
@common_options
@model_options
def command(common: CommonOptions) -> None:
    """Solve three small problems, live, with the embedded model."""
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
    """Without a --model, the best local one that is here, else the smallest: no key is used, no hub waited for."""
    if common.settings.config.model:
        return
    from alpha_codium.errors import ModelNotFound
    from alpha_codium.llm.local import best_available, fetch, known_model
    from alpha_codium.paths import models_folder

    try:
        name = best_available(models_folder(), fetch_missing=False).name
    except ModelNotFound:
        name = fetch(known_model(SMALLEST), models_folder()).name
    click.echo(f"the model is the embedded local/{name}", err=True)
    common.extra_overrides.append(f"config.model=local/{name}")
    del common.settings


def _run(path: Path, flow: str, samples: int, bounds: tuple[str, ...], common: CommonOptions) -> dict[str, Any]:
    """One generating run, and its candidates judged by the private tests."""
    from alpha_codium.cli.generating import SetOptions, solve_many

    # What the user asked for stands behind the demo's own bounds, and wins.
    own = CommonOptions(
        common.config_file, (*BOUNDS, *bounds, *common.overrides), None, common.verbosity, common.extra_overrides
    )
    click.echo(f"\n{flow}, {samples} sample{'s' * (samples > 1)} a problem", err=True)
    summary = solve_many(SetOptions(dataset_name=str(path), samples=samples, flow=flow), own)
    return {"flow": flow, "summary": summary} | asyncio.run(_scored(path, summary["solutions"], own, samples))


async def _scored(path: Path, solutions: str, common: CommonOptions, samples: int) -> dict[str, Any]:
    from alpha_codium.data import load_problems, load_solutions
    from alpha_codium.eval import prepare_for_evaluation, run_evaluation, score
    from alpha_codium.judge import Judge, Rules
    from alpha_codium.sandbox import sandbox_of

    settings = common.settings.code_tester
    evaluation_set = prepare_for_evaluation(load_solutions(solutions), load_problems(path), "all")
    async with sandbox_of(settings) as sandbox:
        results = await run_evaluation(evaluation_set, Judge(sandbox, Rules.of(settings)))
    return score(results, sorted({1, samples})).to_json()


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
