"""`gencode data validate`: what the known solutions of a dataset say of its tests, checkers and limits."""

from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say
from alpha_codium.cli.reporting import Reporter
from alpha_codium.cli.scores import new_run

if TYPE_CHECKING:
    from alpha_codium.eval.validation.assessment import Assessment
    from alpha_codium.eval.validation.report import ValidationReport

# Findings shown of each reason; `--json` has all.
SHOWN = 10


@click.command()
@click.argument("name")
@click.option("--split_name", help="The split; not needed where there is one.")
@click.option(
    "--evaluation_test_type",
    "test_types",
    multiple=True,
    default=("all",),
    show_default=True,
    metavar="TESTS",
    help="public_tests, private_tests, generated_tests or all; repeatable.",
)
@click.option(
    "--sample_rate", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Take this share of the problems."
)
@click.option("--seed", type=int, default=0, help="The seed of --sample_rate.")
@click.option(
    "--near",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="From which share of a limit a known-correct program is near to it.",
)
@click.option("--output_dataset_name", metavar="NAME", help="Store the problems with what was found as columns.")
@click.option("--run", "run_name", help="A name for this run's folder.")
@click.option("--resume", help="Go on with an earlier run.")
@common_options
def validate(
    common: CommonOptions,
    name: str,
    split_name: str | None,
    test_types: tuple[str, ...],
    sample_rate: float,
    seed: int,
    near: float,
    output_dataset_name: str | None,
    run_name: str | None,
    resume: str | None,
) -> None:  # fmt: skip
    """Run the known solutions of a dataset: are its tests right, and enough, its checkers and limits fair?"""
    from alpha_codium.app import validation

    report = validation.validate(
        name,
        split=split_name,
        test_type=test_types,
        sample_rate=sample_rate,
        seed=seed,
        near=near,
        output=output_dataset_name,
        settings=common.settings,
        run=new_run("validate", run_name, resume),
        resume=resume,
        on_event=Reporter(common),
    )
    if report.stored is not None:
        click.echo(f"stored in {report.stored}", err=True)
    common.write_json(report.to_json())
    _print_report(report)
    if report.unjudged:
        click.echo(f"the result is INCOMPLETE: {report.unjudged} programs got no verdict", err=True)
        raise click.exceptions.Exit(1)


def _print_report(report: "ValidationReport") -> None:
    """The rates, the calibration, and the first findings of each reason."""
    click.echo(f"{len(report.problems)} problems")
    for rate in report.rates.values():
        click.echo(f"  {rate.label:<38}{rate}")
    _print_calibration(report.calibration)
    _print_findings(report.problems)


def _print_calibration(calibration: dict[str, Any]) -> None:
    if calibration["factor"] is None:
        click.echo(f"calibration  n/a ({calibration['reason']})")
        return
    click.echo(
        f"calibration  factor {calibration['factor']:g}: the slowest known-correct program of a problem takes "
        f"{calibration['median_share']:.1%} of the limit (median), {calibration['share_at_95_percent']:.1%} (95 % of "
        f"{calibration['problems']} problems), {calibration['largest_share']:.1%} (most)"
    )


def _print_findings(problems: "tuple[Assessment, ...]") -> None:
    from alpha_codium.eval.validation.findings import Reason

    for reason in Reason:
        found = [(p.name, f) for p in problems for f in p.findings if f.reason is reason]
        if found:
            names = len({name for name, _ in found})
            click.echo(f"\n{reason.value} ({names} {'problem' if names == 1 else 'problems'})")
        for name, finding in found[:SHOWN]:
            say(f"  {name}: {finding.text}")
            for entry in finding.evidence[:1]:
                say(f"    {_evidence(entry)}")
        if len(found) > SHOWN:
            click.echo(f"  and {len(found) - SHOWN} more: see --json")


def _evidence(entry: dict[str, Any]) -> str:
    """One entry of evidence as a line."""
    where = [
        f"{entry[key]}[{entry[place]}]"
        for key, place in (("column", "solution"), ("test_type", "test"))
        if key in entry
    ]
    rest = {k: v for k, v in entry.items() if k not in ("column", "solution", "test_type", "test")}
    return " ".join(
        [*where, *(f"{key}={value!r}" if isinstance(value, str) else f"{key}={value}" for key, value in rest.items())]
    )
