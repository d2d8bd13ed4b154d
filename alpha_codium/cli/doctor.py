"""`gencode eval doctor`: checks of the judge itself."""

from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.reporting import Reporter
from alpha_codium.cli.scores import new_run
from alpha_codium.errors import UserError


@click.command()
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
    help="Multiply the time limits of the problems in --known_verdicts by this factor.",
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
