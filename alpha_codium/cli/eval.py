"""`gencode eval`: run candidates or human solutions against tests, and score them."""

from collections.abc import Callable
from typing import Any

import click

from alpha_codium.cli.doctor import doctor
from alpha_codium.cli.options import CommonOptions, Group, common_options
from alpha_codium.cli.score import ignore_fingerprint_option, score
from alpha_codium.cli.scores import run_and_print, run_options, tests_option


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
def eval_cc_solutions(**options: Any) -> None:
    """Judge the human solutions of a dataset: how far do its labels and this judge agree?"""
    _evaluate_human("eval_cc_solutions", **options)


@group.command()
@_dataset_options
@tests_option()
@run_options
@common_options
def pass_at_k(**options: Any) -> None:
    """pass@k of the human solutions of a dataset."""
    _evaluate_human("pass_at_k", **options)


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
    common: CommonOptions,
    **run: Any,
) -> None:
    """Judge a model's candidates and score them over all problems of the split."""
    from alpha_codium.app.evaluation import evaluate

    run_and_print("eval_gen_solutions", common, run, lambda **given: evaluate(
        solution_dataset, ground_truth_dataset, test_types, split=ground_truth_split,
        ignore_fingerprint=ignore_fingerprint, **given,
    ))  # fmt: skip


def _evaluate_human(
    command: str,
    dataset_name: str,
    split_name: str | None,
    sample_rate: float,
    seed: int,
    solutions: str,
    test_types: tuple[str, ...],
    common: CommonOptions,
    **run: Any,
) -> None:
    from alpha_codium.app.evaluation import evaluate_human

    run_and_print(command, common, run, lambda **given: evaluate_human(
        dataset_name, solutions, test_types, command=command, split=split_name, sample_rate=sample_rate, seed=seed,
        **given,
    ))  # fmt: skip
