"""`gencode eval`: run candidates or human solutions against tests, and score them."""

from typing import Any

import click

from alpha_codium.cli.doctor import doctor
from alpha_codium.cli.options import (
    CommonOptions,
    common_options,
    dataset_option,
    needed,
    only_present_option,
    options,
    split_option,
    subset_options,
)
from alpha_codium.cli.score import ignore_fingerprint_option, score
from alpha_codium.cli.scores import run_and_print, score_options, tests_option


@click.group()
def group() -> None:
    """Run programs against tests and compute pass@k."""


group.add_command(doctor)
group.add_command(score)


_dataset_options = options(
    dataset_option,
    split_option,
    subset_options,
    click.option(
        "--solutions",
        "groups",
        type=click.Choice(["correct", "incorrect", "both"]),
        default="correct",
        show_default=True,
        help="Which human solutions to judge.",
    ),
    click.option(
        "--language",
        "languages",
        multiple=True,
        metavar="NAME",
        help="Judge only the solutions in this language, such as cpp; repeatable. Default: all that can be run.",
    ),
    tests_option(default="private_tests"),
    score_options,
    common_options,
)


@group.command("eval_cc_solutions")
@_dataset_options
def eval_cc_solutions(common: CommonOptions, **given: Any) -> None:
    """Judge the human solutions of a dataset, and compare the verdicts with its labels."""
    from alpha_codium.app.evaluation import evaluate_human

    run_and_print("eval_cc_solutions", common, evaluate_human, command="eval_cc_solutions", **given)


@group.command("pass_at_k")
@_dataset_options
def pass_at_k(common: CommonOptions, **given: Any) -> None:
    """Compute pass@k of the human solutions of a dataset."""
    from alpha_codium.app.evaluation import evaluate_human

    run_and_print("pass_at_k", common, evaluate_human, command="pass_at_k", **given)


@group.command("eval_gen_solutions")
@click.option("--solution_dataset", "solutions", callback=needed, help="A Solutions dataset: a name or a path.")
@click.option("--dataset_name", "--ground_truth_dataset", "problems", callback=needed,
              help="The problems: a name saved by etl, a hub id, or a path.")  # fmt: skip
@click.option("--split_name", "--ground_truth_split", "split", help="The split; needed only if there are several.")
@subset_options
@only_present_option
@ignore_fingerprint_option
@tests_option(default="private_tests")
@score_options
@common_options
def eval_gen_solutions(common: CommonOptions, **given: Any) -> None:
    """Judge a model's candidates and score them over all problems of the split."""
    from alpha_codium.app.evaluation import evaluate

    run_and_print("eval_gen_solutions", common, evaluate, **given)
