"""The options of the commands that score, and a score on stdout."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions
from alpha_codium.log import visible

if TYPE_CHECKING:
    from alpha_codium.eval.scoring import Score


class KList(click.ParamType):
    """A list of numbers with commas: 1,5,10."""

    name = "K,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The numbers, each above 0, in order and once."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = sorted({int(part) for part in str(value).split(",")})
        except ValueError:
            numbers = []
        if not numbers or numbers[0] < 1:
            self.fail(f"{value!r} is not a list of numbers above 0, such as 1,5,10", param, ctx)
        return tuple(numbers)


def tests_option(*, default: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option that says which tests judge; it must be given where there is no default."""
    return click.option(
        "--evaluation_test_type", "test_types", multiple=True, required=default is None, metavar="TESTS",
        default=(default,) if default else None, show_default=default is not None,
        help="public_tests, private_tests, generated_tests or all; repeatable.",
    )  # fmt: skip


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which k, and which run folder."""
    for option in reversed(
        (
            click.option("--k", "ks", type=KList(), default="1,5,10", show_default=True, help="The k of pass@k."),
            click.option("--run", "run_name", help="A name for this run's folder."),
            click.option("--resume", help="Go on with an earlier run."),
        )
    ):
        command = option(command)
    return command


def run_and_print(
    command: str, common: CommonOptions, run: Mapping[str, Any], evaluate: "Callable[..., Score]"
) -> None:
    """Evaluate in a run folder and print the score; `run` holds the options of `run_options`."""
    from alpha_codium.cli.reporting import Reporter

    reporter = Reporter(common)
    result = evaluate(
        k=run["ks"],
        settings=common.settings,
        run=new_run(command, run["run_name"], run["resume"]),
        resume=run["resume"],
        on_event=reporter,
    )
    print_score(result, common, reporter.run.name if reporter.run else "")


def new_run(command: str, name: str | None, resume: str | None) -> str | None:
    """The name of a new run: the one given, else one of the command's; None where an earlier run is resumed."""
    from alpha_codium.runs.folder import new_run_name

    return name or (None if resume else new_run_name(command))


def print_score(result: "Score", common: CommonOptions, run: str) -> None:
    """Print the scores; exit with 1 where the result is incomplete."""
    _print_how_to_complete(result, run)
    candidates = sum(len(problem.candidates) for problem in result.problems)
    common.write_json(result.to_json())
    click.echo(f"{len(result.problems)} problems, {candidates} programs")
    for verdict, count in result.verdicts.most_common():
        click.echo(f"  {verdict:<24}{count:>7}")
    for name, value in result.pass_at_k.items():
        click.echo(f"{name:<8} {_with_interval(value, result.intervals[name])}" if value is not None
                   else f"{name:<8} n/a ({result.reasons[name]})")  # fmt: skip
    for low, high in result.bounds:
        if low.value is not None and high.value is not None:
            click.echo(f"pass@{low.k} lies between {low.value:.4f} and {high.value:.4f}")
    _print_facts(result.extra)
    if not result.complete:
        click.echo("the result is INCOMPLETE", err=True)
        raise click.exceptions.Exit(1)


def _print_facts(facts: Mapping[str, Any]) -> None:
    from alpha_codium.eval.known import JudgeError
    from alpha_codium.eval.rates import Rates

    if rates := facts.get("rates"):
        told = Rates.from_json(rates)
        click.echo(f"samples      {told}")
        if told.problems_without_samples:
            click.echo(f"{told.problems_without_samples} problems have no sample: they count as failed", err=True)
    click.echo(f"judge error  {JudgeError(**facts['judge_error'])}")
    if agreed := facts.get("agreement"):
        click.echo(f"correct solutions accepted    {agreed['correct_accepted']} of {agreed['correct_total']}")
        click.echo(f"incorrect solutions rejected  {agreed['incorrect_rejected']} of {agreed['incorrect_total']}")
    if facts.get("skipped_solutions"):
        click.echo(f"not run (not python3)         {facts['skipped_solutions']}")


def _with_interval(value: float, bounds: list[float] | None) -> str:
    return f"{value:.4f}" + (f"  95 % interval {bounds[0]:.4f} to {bounds[1]:.4f}" if bounds else "")


def _print_how_to_complete(result: "Score", run: str) -> None:
    """What got no verdict, why, and what helps: judging again doesn't give a sample that was never made."""
    from alpha_codium.solution import ErrorKind, SampleError

    unjudged = [c for p in result.problems for c in p.candidates if c.verdict == "internal_error"]
    lost = [c for c in unjudged if (error := SampleError.parse(c.error)) and error.kind is not ErrorKind.MODEL]
    if lost:
        why = visible(lost[0].error)
        click.echo(f"{len(lost)} samples were never made ({why}): gencode gen solve_set --resume", err=True)
    if len(unjudged) > len(lost):
        reason = visible(next(c.error for c in unjudged if c not in lost))
        click.echo(f"{len(unjudged) - len(lost)} programs got no verdict ({reason or 'a fault of the sandbox'}): "
                   f"try them again with --resume {run}", err=True)  # fmt: skip
