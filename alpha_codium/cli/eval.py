"""`gencode eval`: run candidates, human solutions or samples made elsewhere against tests, and check the judge."""

from typing import Any

import click

from alpha_codium.app.options.judging import CheckOptions, EvaluateOptions, HumanOptions, ScoreOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.reporting import Reporter
from alpha_codium.cli.scores import new_run, run_and_print, score_options
from alpha_codium.errors import UserError


@click.group()
def group() -> None:
    """Run programs against tests and compute pass@k."""


@group.command("eval_cc_solutions")
@fields_of(HumanOptions)
@score_options
@common_options
def eval_cc_solutions(common: CommonOptions, **given: Any) -> None:
    """Judge the human solutions of a dataset, and compare the verdicts with its labels."""
    from alpha_codium.app.evaluation import evaluate_human

    run_and_print("eval_cc_solutions", common, evaluate_human, command="eval_cc_solutions", **given)


@group.command("pass_at_k")
@fields_of(HumanOptions)
@score_options
@common_options
def pass_at_k(common: CommonOptions, **given: Any) -> None:
    """Compute pass@k of the human solutions of a dataset."""
    from alpha_codium.app.evaluation import evaluate_human

    run_and_print("pass_at_k", common, evaluate_human, command="pass_at_k", **given)


@group.command("eval_gen_solutions")
@fields_of(EvaluateOptions)
@score_options
@common_options
def eval_gen_solutions(common: CommonOptions, **given: Any) -> None:
    """Judge a model's candidates and score them over all problems of the split."""
    from alpha_codium.app.evaluation import evaluate

    run_and_print("eval_gen_solutions", common, evaluate, **given)


@group.command()
@fields_of(ScoreOptions)
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
@fields_of(CheckOptions)
@common_options
def doctor(common: CommonOptions, backend: str | None, **options: Any) -> None:
    """Check the judge with programs whose verdicts are known: built-in cases, and a file of your own."""
    from alpha_codium.app.examination import check_judge

    if backend is not None:
        common.extra_overrides.append(f"code_tester.tester_type={backend}")
    if options["known_verdicts"] is None and (options["run"] or options["resume"] or options["skip_kit"]):
        raise UserError("`run`, `resume` and `skip_kit` need `known_verdicts` FILE")
    settings = common.settings.code_tester
    click.echo(f"judge: {settings.tester_type}{'' if settings.sandbox else ', without isolation'}")
    options["run"] = new_run("doctor", options["run"], options["resume"])
    reporter = Reporter(common)
    report = check_judge(**options, settings=common.settings, on_event=reporter)
    for line in report.known.lines() if report.known else ():
        click.echo(line)
    common.write_json({"backend": settings.tester_type, "isolation": settings.sandbox} | report.to_json())
    reporter.tell_how_to_look()
    if not report.faultless:
        click.echo("judge check FAILED", err=True)
        raise click.exceptions.Exit(1)
    click.echo("judge check passed")
