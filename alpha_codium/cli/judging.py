"""What the commands of `gencode eval` share: their options, judging in a run folder, and printing a score."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions
from alpha_codium.errors import UserError
from alpha_codium.log import visible

if TYPE_CHECKING:
    from alpha_codium.eval.prepare import EvaluationSet
    from alpha_codium.eval.results import ProblemResult
    from alpha_codium.eval.scoring import Score
    from alpha_codium.runs import RunFolder
    from alpha_codium.sandbox import Sandbox
    from alpha_codium.verdict import Identity


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
            self.fail(f"{value!r} is no list of numbers above 0, such as 1,5,10", param, ctx)
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


@dataclass(frozen=True)
class Evaluation:
    """One evaluation: what is judged, what `run.toml` says of it, and where it is kept.

    `solutions` are the rows of a Solutions dataset, for the rates of samples; None where human solutions are judged.
    """

    tasks: "EvaluationSet"
    what: dict[str, Any]
    ks: Sequence[int]
    run_name: str | None = None
    resume: str | None = None
    solutions: Iterable[Mapping[str, Any]] | None = None

    def run(self, common: CommonOptions) -> "Score":
        """Judge everything, with a journal in a run folder, and keep the result there.

        Beside candidates, known solutions are judged for the judge's own error; human ones are known themselves.
        """
        from alpha_codium.cli.run_folders import open_run, versions
        from alpha_codium.eval.scoring import labels_of, score
        from alpha_codium.languages.python.prelude import check_header
        from alpha_codium.sandbox import sandbox_of

        # Created first: invalid settings must not use up the run's name.
        sandbox = sandbox_of(common.settings.code_tester)
        check_header(common.settings.code_tester.header)
        code_tester = common.settings.code_tester.model_dump(exclude={"workers"})
        self._refuse_without_tests()
        known = 0 if self.solutions is None else common.settings.code_tester.known_solutions
        with opened(sandbox) as (runner, identity):
            identified = {"sandbox": identity.to_json()}
            description = self.what | {"code_tester": code_tester} | identified | {"versions": versions()}
            with open_run(self.what["command"], self.run_name, self.resume, description) as folder:
                click.echo(f"run folder: {folder.path}", err=True)
                with folder.journal as journal:
                    judged = runner.run(_judge_all(sandbox, self.tasks, known, journal, common))
                results, facts = self._facts(judged, known, common.settings.code_tester.tester_type)
                result = score(results, self.ks, facts | identified, labels_of(self.tasks))
                folder.write_json("results.json", result.to_json())
                _say_how_to_resume(result, folder)
        return result

    def _refuse_without_tests(self) -> None:
        if not any(task.tests for task in self.tasks):
            kinds, dataset = " and ".join(kind.value for kind in self.tasks.test_types), self.what["dataset"]
            raise UserError(f"no problem of {dataset!r} has {kinds}: choose another --evaluation_test_type")

    def _facts(
        self, judged: "Sequence[ProblemResult]", known: int, backend: str
    ) -> "tuple[Sequence[ProblemResult], dict[str, Any]]":
        """What is scored, and what is said beside the score."""
        from alpha_codium.eval.known import split_known
        from alpha_codium.eval.rates import rates_of

        if self.solutions is None:
            return self._human_facts(judged, backend)
        results, error = split_known(judged, backend, known)
        return results, {"judge_error": error.to_json(), "rates": rates_of(self.solutions, results).to_json()}

    def _human_facts(
        self, judged: "Sequence[ProblemResult]", backend: str
    ) -> "tuple[Sequence[ProblemResult], dict[str, Any]]":
        """The same of human solutions: all are scored, but one in both lists says nothing of the judge."""
        from alpha_codium.eval.known import error_of_human_solutions, without_disputed
        from alpha_codium.eval.scoring import human_facts

        told = without_disputed(judged, self.tasks)
        return judged, human_facts(told) | {"judge_error": error_of_human_solutions(told, backend).to_json()}


@contextmanager
def opened(sandbox: "Sandbox") -> "Iterator[tuple[asyncio.Runner, Identity]]":
    """Open `sandbox`; gives a runner for the coroutines that use it, and its identity."""
    with asyncio.Runner() as runner:
        runner.run(sandbox.__aenter__())
        try:
            yield runner, runner.run(sandbox.identity())
        finally:
            runner.run(sandbox.__aexit__(None, None, None))


async def _judge_all(
    sandbox: "Sandbox", tasks: "EvaluationSet", known: int, journal: Any, common: CommonOptions
) -> Any:
    from alpha_codium.cli.progress import Progress
    from alpha_codium.eval.known import KNOWN_GROUPS, with_known
    from alpha_codium.eval.running import run_evaluation
    from alpha_codium.judge import Judge, Rules

    settings = common.settings.code_tester
    accepted = 0

    def count(_name: str, result: Any) -> None:
        nonlocal accepted
        accepted += result.verdict.value == "accepted" and result.group not in KNOWN_GROUPS
        progress.advance()

    total = sum(len(task.entries) for task in with_known(tasks, known))
    with Progress("judged", total, common.verbosity < 0, lambda: f"{accepted} accepted") as progress:
        judge = Judge(sandbox, Rules.of(settings))
        entries = with_known(tasks, known)
        return await run_evaluation(entries, judge, journal=journal, on_result=count, workers=settings.workers)


def _say_how_to_resume(result: "Score", folder: "RunFolder") -> None:
    """What got no verdict, why, and what helps: more of the same doesn't give a sample that was never made."""
    from alpha_codium.solution import ErrorKind, SampleError

    unjudged = [c for p in result.problems for c in p.candidates if c.verdict == "internal_error"]
    lost = [c for c in unjudged if (error := SampleError.parse(c.error)) and error.kind is not ErrorKind.MODEL]
    if lost:
        why = visible(lost[0].error)
        click.echo(f"{len(lost)} samples were never made ({why}): gencode gen solve_set --resume", err=True)
    if len(unjudged) > len(lost):
        reason = visible(next(c.error for c in unjudged if c not in lost))
        click.echo(f"{len(unjudged) - len(lost)} programs got no verdict ({reason or 'a fault of the sandbox'}): "
                   f"try them again with --resume {folder.name}", err=True)  # fmt: skip


def print_score(result: "Score", common: CommonOptions) -> None:
    """Print the scores; exit with 1 where the result is incomplete."""
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
