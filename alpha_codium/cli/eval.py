"""`gencode eval`: run candidates or human solutions against tests, and score them."""

from collections.abc import Callable
from typing import Any

import click

from alpha_codium.cli.doctor import doctor
from alpha_codium.cli.judging import Evaluation, print_score, run_options, tests_option
from alpha_codium.cli.options import CommonOptions, Group, common_options
from alpha_codium.cli.score import ignore_fingerprint_option, score


@click.group(cls=Group)
def group() -> None:
    """Run candidates against tests; pass@k."""


group.add_command(doctor)
group.add_command(score)


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
@tests_option()
@run_options
@common_options
def eval_cc_solutions(solutions: str, **options: Any) -> None:
    """Judge the human solutions of a dataset: how far do its labels and this judge agree?"""
    _judge_human_solutions("eval_cc_solutions", solutions, **options)


@group.command()
@_dataset_options
@tests_option()
@run_options
@common_options
def pass_at_k(solutions: str, **options: Any) -> None:
    """pass@k of the human solutions of a dataset."""
    _judge_human_solutions("pass_at_k", solutions, **options)


@group.command()
@click.option("--solution_dataset", required=True, help="A Solutions dataset: a name or a path.")
@click.option("--ground_truth_dataset", required=True, help="The problems: a name saved by etl, a hub id, or a path.")
@click.option("--ground_truth_split", help="The split; not needed where there is one.")
@ignore_fingerprint_option
@tests_option()
@run_options
@common_options
def eval_gen_solutions(
    solution_dataset: str,
    ground_truth_dataset: str,
    ground_truth_split: str | None,
    ignore_fingerprint: bool,
    test_types: tuple[str, ...],
    ks: tuple[int, ...],
    run_name: str | None,
    resume: str | None,
    common: CommonOptions,
) -> None:
    """Judge a model's candidates and score them over all problems of the split."""
    from alpha_codium.data import load_problems, load_solutions
    from alpha_codium.data.solutions import refuse_other_problems
    from alpha_codium.errors import DatasetError
    from alpha_codium.eval.prepare import prepare_for_evaluation

    problems = load_problems(ground_truth_dataset, ground_truth_split)
    solutions = load_solutions(solution_dataset)
    if not len(solutions):
        raise DatasetError(f"{solution_dataset} holds no rows: there is nothing to judge")
    evaluation_set = prepare_for_evaluation(solutions, problems, test_types)
    if not ignore_fingerprint:
        refuse_other_problems(solutions, problems)
    what = {
        "command": "eval_gen_solutions",
        "solutions": solution_dataset,
        "dataset": ground_truth_dataset,
        "split": problems.split_name,
        "fingerprint": problems.fingerprint,
        "test_types": [kind.value for kind in evaluation_set.test_types],
    }
    print_score(Evaluation(evaluation_set, what, ks, run_name, resume, solutions).run(common), common)


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
    print_score(Evaluation(evaluation_set, what, ks, run_name, resume).run(common), common)
