"""`gencode audit`: what another grader gets wrong."""

from typing import Any

import click

from alpha_codium.app.options.grading import AuditOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say


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
    common.write_json(audit.to_json())
    for line in audit.lines():
        say(line)
    if not audit.faultless:
        click.echo("the grader errs", err=True)
        raise click.exceptions.Exit(1)
    click.echo("the grader is right on every case")
