"""`gencode verify`: programs of an evaluation, judged again."""

from typing import Any

import click

from alpha_codium.app.options.reporting import VerifyOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.reporting import Reporter


@click.command()
@fields_of(VerifyOptions)
@click.option("--backend", help="The sandbox to judge in.  [default: that of the run]")
@common_options
def command(common: CommonOptions, backend: str | None, **given: Any) -> None:
    """Judge the programs of an evaluation again, with its settings, and say what differs from its verdicts.

    The receipts of the run tell whether the tests, checkers and limits are still the same. A program near a limit may
    get another verdict on another machine: it is named. Exits with 1 if anything else differs.
    """
    from alpha_codium.app.verification import verify

    if backend is not None:
        common.extra_overrides.append(f"code_tester.tester_type={backend}")
    found = verify(**given, settings=common.settings_on, on_event=Reporter(common))
    common.show(found, found.lines())
    if not found.confirmed:
        raise click.exceptions.Exit(1)
