"""`gencode data validate`: what the known solutions of a dataset say of its tests, checkers and limits."""

import asyncio
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say

if TYPE_CHECKING:
    from alpha_codium.data.load import ProblemSet
    from alpha_codium.eval.validation.assessment import Assessment
    from alpha_codium.eval.validation.report import ValidationReport
    from alpha_codium.judge import Rules
    from alpha_codium.problem import TestType
    from alpha_codium.runs import RunFolder

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
    from alpha_codium.data import load_problems
    from alpha_codium.eval.prepare import parse_test_types
    from alpha_codium.eval.validation.columns import check_output

    problems = load_problems(name, split_name)
    kinds = parse_test_types(test_types)
    if output_dataset_name is not None:
        check_output(output_dataset_name, problems.split_name)
    what = {
        "command": "validate",
        "dataset": name,
        "split": problems.split_name,
        "fingerprint": problems.fingerprint,
        "sample_rate": sample_rate,
        "seed": seed,
        "test_types": [kind.value for kind in kinds],
        "code_tester": common.settings.code_tester.model_dump(
            exclude={"workers", "stop_on_first_failure", "test_order"}
        ),
    }
    chosen = problems.sample(sample_rate, seed) if sample_rate < 1 else problems
    report = _validate(chosen, kinds, what, near, output_dataset_name, run_name, resume, common)
    common.write_json(report.to_json())
    _print_report(report)
    if report.unjudged:
        click.echo(f"the result is INCOMPLETE: {report.unjudged} programs got no verdict", err=True)
        raise click.exceptions.Exit(1)


def _validate(
    problems: "ProblemSet",
    kinds: "tuple[TestType, ...]",
    what: dict[str, Any],
    near: float,
    output: str | None,
    run_name: str | None,
    resume: str | None,
    common: CommonOptions,
) -> "ValidationReport":
    """Judge the known programs in a run folder, and assess the problems; the report is kept there."""
    from alpha_codium.cli.run_folders import open_run, versions
    from alpha_codium.eval.validation.columns import write_validated
    from alpha_codium.eval.validation.report import ValidationReport
    from alpha_codium.eval.validation.running import assess_known
    from alpha_codium.eval.validation.timing import calibration
    from alpha_codium.judge import Judge
    from alpha_codium.sandbox import sandbox_of

    rules = _rules(common)
    # Made before the run's folder: what the settings get wrong mustn't take the run's name.
    judge = Judge(sandbox_of(common.settings.code_tester), rules)
    with open_run("validate", run_name, resume, what | {"versions": versions()}) as folder:
        click.echo(f"run folder: {folder.path}", err=True)
        results = asyncio.run(_observe(problems, kinds, rules, folder, common))
        assessed = list(assess_known(problems, kinds, judge, folder, results, near))
        assessments = tuple(each.assessment for each in assessed)
        timings = [each.timing for each in assessments if each.timing is not None]
        factor = _factor_in_force(problems, rules, assessments)
        report = ValidationReport(
            assessments, calibration(timings, near, factor), sum(each.unjudged for each in assessed)
        )
        folder.write_json("results.json", report.to_json())
        if output is not None:
            path = write_validated(problems, assessments, output, what | {"calibration": report.calibration})
            click.echo(f"stored in {path}", err=True)
    return report


def _factor_in_force(problems: "ProblemSet", rules: "Rules", assessments: "tuple[Assessment, ...]") -> float | None:
    """The time_limit_factor, if all limits that programs were timed under are problems' own times it; else None."""
    timed = {each.name for each in assessments if each.timing is not None and each.timing.share is not None}
    own = all(problem.time_limit_seconds for problem in problems if problem.name in timed)
    return rules.time_limit_factor if timed and own and not rules.cpu_seconds else None


def _rules(common: CommonOptions) -> "Rules":
    """The rules of the settings, but every test is run: each says something of its own."""
    from dataclasses import replace

    from alpha_codium.judge import Rules

    return replace(Rules.of(common.settings.code_tester), stop_on_first_failure=False)


async def _observe(
    problems: "ProblemSet", kinds: "tuple[TestType, ...]", rules: "Rules", folder: "RunFolder", common: CommonOptions
) -> Any:
    from alpha_codium.cli.progress import Progress
    from alpha_codium.eval.prepare import human_solutions
    from alpha_codium.eval.validation.running import observe_known
    from alpha_codium.judge import Judge
    from alpha_codium.sandbox import sandbox_of

    settings = common.settings.code_tester
    total = sum(len(task.entries) for task in human_solutions(problems, "both", kinds))
    with Progress("known programs judged", total, common.verbosity < 0) as progress:
        async with sandbox_of(settings) as sandbox:
            return await observe_known(
                problems, kinds, Judge(sandbox, rules), folder,
                on_result=lambda _name, _result: progress.advance(), workers=settings.workers,
            )  # fmt: skip


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
