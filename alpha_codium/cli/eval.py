"""`gencode eval`: run candidates or human solutions against tests, and score them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.doctor import doctor
from alpha_codium.cli.options import CommonOptions, Group, common_options

if TYPE_CHECKING:
    from alpha_codium.eval.prepare import EvaluationSet
    from alpha_codium.eval.results import ProblemResult
    from alpha_codium.eval.scoring import Score
    from alpha_codium.runs import RunFolder


@click.group(cls=Group)
def group() -> None:
    """Run candidates against tests; pass@k."""


group.add_command(doctor)


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


def _evaluation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(
        (
            click.option("--evaluation_test_type", "test_types", multiple=True, required=True, metavar="TESTS",
                         help="public_tests, private_tests, generated_tests or all; repeatable."),
            click.option("--k", "ks", type=KList(), default="1,5,10", show_default=True, help="The k of pass@k."),
            click.option("--run", "run_name", help="A name for this run's folder."),
            click.option("--resume", help="Go on with an earlier run."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def _dataset_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(
        (
            click.option("--dataset_name", required=True, help="A name saved by etl, a hub id, or a path."),
            click.option("--split_name", help="The split; not needed where there is one."),
            click.option("--sample_rate", type=click.FloatRange(0, 1, min_open=True), default=1.0,
                         help="Judge this share of the problems."),
            click.option("--seed", type=int, default=0, help="The seed of --sample_rate."),
            click.option("--solutions", type=click.Choice(["correct", "incorrect", "both"]), default="correct",
                         show_default=True, help="Which human solutions."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@group.command()
@_dataset_options
@_evaluation_options
@common_options
def eval_cc_solutions(solutions: str, **options: Any) -> None:
    """Judge the human solutions of a dataset: how far do its labels and this judge agree?"""
    _judge_human_solutions("eval_cc_solutions", solutions, **options)


@group.command()
@_dataset_options
@_evaluation_options
@common_options
def pass_at_k(solutions: str, **options: Any) -> None:
    """pass@k of the human solutions of a dataset."""
    _judge_human_solutions("pass_at_k", solutions, **options)


@group.command()
@click.option("--solution_dataset", required=True, help="A Solutions dataset: a name or a path.")
@click.option("--ground_truth_dataset", required=True, help="The problems: a name saved by etl, a hub id, or a path.")
@click.option("--ground_truth_split", help="The split; not needed where there is one.")
@_evaluation_options
@common_options
def eval_gen_solutions(
    solution_dataset: str,
    ground_truth_dataset: str,
    ground_truth_split: str | None,
    test_types: tuple[str, ...],
    ks: tuple[int, ...],
    run_name: str | None,
    resume: str | None,
    common: CommonOptions,
) -> None:
    """Judge a model's candidates and score them over all problems of the split."""
    from alpha_codium.data import load_problems, load_solutions
    from alpha_codium.eval.prepare import prepare_for_evaluation

    problems = load_problems(ground_truth_dataset, ground_truth_split)
    solutions = load_solutions(solution_dataset)
    evaluation_set = prepare_for_evaluation(solutions, problems, test_types)
    what = {
        "command": "eval_gen_solutions",
        "solutions": solution_dataset,
        "dataset": ground_truth_dataset,
        "split": problems.split_name,
        "fingerprint": problems.fingerprint,
        "test_types": [kind.value for kind in evaluation_set.test_types],
    }
    result = _evaluate(evaluation_set, what, ks, run_name, resume, common)
    _print_score(result, common)


def _judge_human_solutions(
    command: str,
    groups: str,
    dataset_name: str,
    split_name: str | None,
    sample_rate: float,
    seed: int,
    test_types: tuple[str, ...],
    ks: tuple[int, ...],
    run_name: str | None,
    resume: str | None,
    common: CommonOptions,
) -> None:
    from alpha_codium.data import load_problems
    from alpha_codium.eval.prepare import human_solutions

    problems = load_problems(dataset_name, split_name)
    chosen = problems.sample(sample_rate, seed) if sample_rate < 1 else problems
    evaluation_set = human_solutions(chosen, groups, test_types)
    what = {
        "command": command,
        "dataset": dataset_name,
        "split": problems.split_name,
        "fingerprint": problems.fingerprint,
        "sample_rate": sample_rate,
        "seed": seed,
        "solutions": groups,
        "test_types": [kind.value for kind in evaluation_set.test_types],
    }
    result = _evaluate(evaluation_set, what, ks, run_name, resume, common, humans=True)
    _print_score(result, common)


def _evaluate(
    evaluation_set: "EvaluationSet",
    what: dict[str, Any],
    ks: Sequence[int],
    run_name: str | None,
    resume: str | None,
    common: CommonOptions,
    *,
    humans: bool = False,
) -> "Score":
    """Judge everything, with a journal in a run folder, and keep the result there.

    Beside candidates, known solutions are judged for the judge's own error; those of `humans` are known themselves.
    """
    from alpha_codium.cli.run_folders import open_run, versions
    from alpha_codium.errors import UserError
    from alpha_codium.eval.scoring import labels_of, score
    from alpha_codium.sandbox import sandbox_of

    # Made, not opened, before the run's folder: what the settings get wrong mustn't take the run's name.
    sandbox_of(common.settings.code_tester)
    code_tester = common.settings.code_tester.model_dump(exclude={"workers"})
    description = what | {"code_tester": code_tester, "versions": versions()}
    if not any(task.tests for task in evaluation_set):
        kinds = " and ".join(kind.value for kind in evaluation_set.test_types)
        raise UserError(f"no problem of {what['dataset']!r} has {kinds}: choose another --evaluation_test_type")
    known = 0 if humans else common.settings.code_tester.known_solutions
    with open_run(what["command"], run_name, resume, description) as folder, folder.journal as journal:
        click.echo(f"run folder: {folder.path}", err=True)
        judged = asyncio.run(_judge_all(evaluation_set, known, journal, common))
        backend = common.settings.code_tester.tester_type
        results, facts = _human_facts(judged, evaluation_set, backend) if humans else _facts(judged, known, backend)
        result = score(results, ks, facts, labels_of(evaluation_set))
        folder.write_json("results.json", result.to_json())
        _say_how_to_resume(result, folder)
    return result


def _facts(
    judged: "Sequence[ProblemResult]", known: int, backend: str
) -> "tuple[Sequence[ProblemResult], dict[str, Any]]":
    """What is scored of candidates, and what is said beside the score."""
    from alpha_codium.eval.known import split_known

    results, error = split_known(judged, backend, known)
    return results, {"judge_error": error.to_json()}


def _human_facts(
    judged: "Sequence[ProblemResult]", evaluation_set: "EvaluationSet", backend: str
) -> "tuple[Sequence[ProblemResult], dict[str, Any]]":
    """The same of human solutions: all are scored, but one in both lists says nothing of the judge."""
    from alpha_codium.eval.known import error_of_human_solutions, without_disputed
    from alpha_codium.eval.scoring import human_facts

    told = without_disputed(judged, evaluation_set)
    return judged, human_facts(told) | {"judge_error": error_of_human_solutions(told, backend).to_json()}


async def _judge_all(evaluation_set: "EvaluationSet", known: int, journal: Any, common: CommonOptions) -> Any:
    from alpha_codium.cli.progress import Progress
    from alpha_codium.eval.known import KNOWN_GROUPS, with_known
    from alpha_codium.eval.running import run_evaluation
    from alpha_codium.judge import Judge, Rules
    from alpha_codium.sandbox import sandbox_of

    settings = common.settings.code_tester
    accepted = 0

    def count(_name: str, result: Any) -> None:
        nonlocal accepted
        accepted += result.verdict.value == "accepted" and result.group not in KNOWN_GROUPS
        progress.advance()

    total = sum(len(task.entries) for task in with_known(evaluation_set, known))
    with Progress("judged", total, common.verbosity < 0, lambda: f"{accepted} accepted") as progress:
        async with sandbox_of(settings) as sandbox:
            judge = Judge(sandbox, Rules.of(settings))
            tasks = with_known(evaluation_set, known)
            return await run_evaluation(tasks, judge, journal=journal, on_result=count, workers=settings.workers)


def _say_how_to_resume(result: "Score", folder: "RunFolder") -> None:
    """What got no verdict, why, and what helps: more of the same doesn't give a sample that was never made."""
    unjudged = [c for p in result.problems for c in p.candidates if c.verdict == "internal_error"]
    lost = [c for c in unjudged if c.error.startswith(("provider: ", "internal: "))]
    if lost:
        click.echo(f"{len(lost)} samples were never made ({lost[0].error}): gencode gen solve_set --resume", err=True)
    if len(unjudged) > len(lost):
        reason = next(c.error for c in unjudged if c not in lost)
        click.echo(f"{len(unjudged) - len(lost)} programs got no verdict ({reason or 'a fault of the sandbox'}): "
                   f"try them again with --resume {folder.name}", err=True)  # fmt: skip


def _print_score(result: "Score", common: CommonOptions) -> None:
    """Print the scores; exit with 1 where the result is incomplete."""
    from alpha_codium.eval.known import JudgeError

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
    click.echo(f"judge error  {JudgeError(**result.extra['judge_error'])}")
    if agreed := result.extra.get("agreement"):
        click.echo(f"correct solutions accepted    {agreed['correct_accepted']} of {agreed['correct_total']}")
        click.echo(f"incorrect solutions rejected  {agreed['incorrect_rejected']} of {agreed['incorrect_total']}")
    if result.extra.get("skipped_solutions"):
        click.echo(f"not run (not python3)         {result.extra['skipped_solutions']}")
    _exit_incomplete(result)


def _with_interval(value: float, bounds: list[float] | None) -> str:
    return f"{value:.4f}" + (f"  95 % interval {bounds[0]:.4f} to {bounds[1]:.4f}" if bounds else "")


def _exit_incomplete(result: "Score") -> None:
    if not result.complete:
        click.echo("the result is INCOMPLETE", err=True)
        raise click.exceptions.Exit(1)
