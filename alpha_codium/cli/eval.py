"""`gencode eval`: run candidates, human solutions or samples made elsewhere against tests, and check the judge."""

from typing import Any

import click

from alpha_codium.cli.options import (
    CommonOptions,
    common_options,
    dataset_option,
    needed,
    only_present_option,
    options,
    sample_file_options,
    split_option,
    subset_options,
)
from alpha_codium.cli.reporting import Reporter
from alpha_codium.cli.scores import new_run, run_and_print, score_options, tests_option
from alpha_codium.errors import UserError


@click.group()
def group() -> None:
    """Run programs against tests and compute pass@k."""


ignore_fingerprint_option = click.option(
    "--ignore_fingerprint", is_flag=True, help="Score samples even if they were made for other problems."
)
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


@group.command()
@sample_file_options
@click.option(
    "--select",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Score only the rows with this value, or one that it matches as a part or a pattern; repeatable.",
)
@click.option(
    "--language",
    metavar="NAME",
    help="The language of samples that don't name one, such as cpp.  [default: the benchmark's, or python3]",
)
@click.option("--clean", is_flag=True, help="Clean the samples first, as `gencode data clean_generations` does.")
@click.option("--header", help="Code that runs before each program, such as 'from typing import *'.")
@click.option(
    "--setup",
    type=click.Choice(["all", "imports", "none"]),
    help="The code of the prompt that is added to complete programs.  [default: imports; all in a Solutions dataset]",
)
@subset_options
@only_present_option
@ignore_fingerprint_option
@tests_option(default="private_tests")
@score_options
@common_options
def score(common: CommonOptions, **options: Any) -> None:
    """Score samples that were generated elsewhere.

    FILE holds rows with task_id and completion or solution (JSON lines), a list of programs for each problem or an
    object of them (JSON, or a pickle of APPS), or is a Solutions dataset.
    """
    from alpha_codium.app import scoring

    run_and_print("score", common, scoring.score, **options)


@group.command()
@click.option("--backend", help="The sandbox to check.  [default: code_tester.tester_type]")
@click.option(
    "--known_verdicts",
    metavar="FILE",
    help="Also judge the submissions in this file, whose verdicts are known.",
)
@click.option(
    "--time_limit_factor",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Multiply the time limits in --known_verdicts by this factor, in every language.",
)
@click.option(
    "--skip_kit", is_flag=True, help="Skip the built-in cases (the kit); judge only the file of --known_verdicts."
)
@click.option("--run", help="A name for the run folder of --known_verdicts.")
@click.option("--resume", help="Resume this run of --known_verdicts.")
@common_options
def doctor(common: CommonOptions, backend: str | None, skip_kit: bool, **options: Any) -> None:
    """Check the judge with programs whose verdicts are known: built-in cases, and a file of your own."""
    from alpha_codium.app.examination import check_judge

    if backend is not None:
        common.extra_overrides.append(f"code_tester.tester_type={backend}")
    if options["known_verdicts"] is None and (options["run"] or options["resume"] or skip_kit):
        raise UserError("--run, --resume and --skip_kit need --known_verdicts FILE")
    settings = common.settings.code_tester
    click.echo(f"judge: {settings.tester_type}{'' if settings.sandbox else ', without isolation'}")
    options["run"] = new_run("doctor", options["run"], options["resume"])
    report = check_judge(**options, kit=not skip_kit, settings=common.settings, on_event=Reporter(common))
    for line in report.known.lines() if report.known else ():
        click.echo(line)
    common.write_json({"backend": settings.tester_type, "isolation": settings.sandbox} | report.to_json())
    if not report.faultless:
        click.echo("judge check FAILED", err=True)
        raise click.exceptions.Exit(1)
    click.echo("judge check passed")
