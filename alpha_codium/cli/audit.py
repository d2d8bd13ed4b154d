"""`gencode audit` and `gencode rejudge`: what other graders, and published verdicts, get wrong."""

from typing import Any

import click

from alpha_codium.app.options.auditing import AuditOptions, RejudgeOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, common_options


@click.command("audit")
@fields_of(AuditOptions)
@common_options
def command(common: CommonOptions, **options: Any) -> None:
    """Ask a grader about programs whose right verdicts are known, and list what it gets wrong.

    The grader runs in a process of its own, without network, where it can change no file. The exit status is 1 if it
    errs in more than choices of comparison and deviations of `--known`.
    """
    from alpha_codium.app.auditing import audit_grader
    from alpha_codium.cli.reporting import Reporter

    audit = audit_grader(**options, on_event=Reporter(common))
    common.show(audit, audit.lines())
    if not audit.faultless:
        click.echo("the grader errs", err=True)
        raise click.exceptions.Exit(1)
    click.echo("the grader is right on every case")


@click.command("rejudge")
@fields_of(RejudgeOptions)
@common_options
def rejudge_samples(common: CommonOptions, **options: Any) -> None:
    """Judge published samples again, and compare the verdicts with those in their files.

    For each run: pass@1 before and after, with 95 % intervals. For each verdict that changes: why, and what python3
    makes of the program. A verdict that changes isn't an error: the exit status is 0.
    """
    from alpha_codium.app.rejudging import rejudge
    from alpha_codium.cli.reporting import Reporter

    found = rejudge(**options, settings=common.settings, on_event=Reporter(common))
    common.show(found, found.lines())
