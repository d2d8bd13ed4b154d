"""`gencode report`: a page of HTML on stored runs."""

from typing import Any

import click

from alpha_codium.app.options.reporting import ReportOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.reporting import Reporter
from alpha_codium.wording import counted, size_text


@click.command()
@fields_of(ReportOptions)
@common_options
def command(common: CommonOptions, **given: Any) -> None:
    """Write a page of HTML on runs: scores, what they are worth, and what is behind each sample.

    RUN is a run's name or the path of its folder. The page is one file, which any browser opens from disk; it shows no
    path or user name of this machine, and no settings but those that verdicts and samples depend on.
    """
    from alpha_codium.app.reporting import report

    page = report(**given, on_event=Reporter(common))
    common.write_json(page)
    click.echo(page.path)
    what = f"{counted(page.problems, 'problem')}, {counted(page.samples, 'sample')}, {size_text(page.size_bytes)}"
    beside = f"; its texts ({size_text(page.beside_bytes)}) are in {page.path.name}.bodies" if page.beside_bytes else ""
    click.echo(f"open it in a browser: {what}{beside}", err=True)
