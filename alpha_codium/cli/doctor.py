"""`gencode eval doctor`: how far the judge itself can be trusted."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.errors import UserError

if TYPE_CHECKING:
    from alpha_codium.config import CodeTesterSection
    from alpha_codium.eval.doctor import Examination
    from alpha_codium.eval.doctor.known_verdicts import KnownReport, KnownVerdicts
    from alpha_codium.judge import Rules
    from alpha_codium.runs import Journal, RunFolder


@click.command()
@click.option("--backend", help="The sandbox to examine; else that of code_tester.tester_type.")
@click.option(
    "--known_verdicts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Problems with submissions of known verdict: judge those, too.",
)
@click.option(
    "--time_limit_factor",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Times the problems' own limits, under which the labels of --known_verdicts were given.",
)
@click.option("--skip_kit", is_flag=True, help="Judge the file of --known_verdicts only.")
@click.option("--run", "run_name", help="A name for the run folder of --known_verdicts.")
@click.option("--resume", help="Go on with an earlier run of --known_verdicts.")
@common_options
def doctor(
    backend: str | None,
    known_verdicts: Path | None,
    time_limit_factor: float,
    skip_kit: bool,
    run_name: str | None,
    resume: str | None,
    common: CommonOptions,
) -> None:  # fmt: skip
    """Judge programs whose verdict is known: a kit of idioms and cheats that ships with gencode, and your own file."""
    if backend is not None:
        common.extra_overrides.append(f"code_tester.tester_type={backend}")
    if known_verdicts is None and (run_name or resume or skip_kit):
        raise UserError("--run, --resume and --skip_kit are for --known_verdicts: give a file")
    settings = common.settings.code_tester
    known = _read_known(known_verdicts)
    click.echo(f"judge: {settings.tester_type}{'' if settings.sandbox else ', without isolation'}")
    parts: list[tuple[dict[str, Any], bool]] = []
    with ExitStack() as stack:
        folder = None
        if known is not None:
            # Before the kit, which takes its time: what is amiss with the run is said at once.
            job = _known_job(known, str(known_verdicts), time_limit_factor, common)
            folder = stack.enter_context(_open_run(job, run_name, resume, common))
        if not skip_kit:
            parts.append(_kit_part(common))
        if known is not None and folder is not None:
            parts.append(_known_part(known, folder, time_limit_factor, common))
    values: dict[str, Any] = {"backend": settings.tester_type, "isolation": settings.sandbox, "kit": None}
    for part, _ in parts:
        values |= part
    common.write_json(values)
    if not all(faultless for _, faultless in parts):
        click.echo("NOT all as it should be", err=True)
        raise click.exceptions.Exit(1)
    click.echo("all as it should be")


def _read_known(path: Path | None) -> "KnownVerdicts | None":
    """The file of submissions, read before anything runs."""
    from alpha_codium.eval.doctor.known_verdicts import KnownVerdicts

    return None if path is None else KnownVerdicts(path)


def _kit_part(common: CommonOptions) -> tuple[dict[str, Any], bool]:
    """Examine the judge with the kit and print it; its part of the result, and whether all is as it should be."""
    from alpha_codium.eval.doctor.report import kit_lines

    examination = _examine(common)
    for line in kit_lines(examination):
        click.echo(line)
    return {"kit": examination.to_json()}, examination.faultless


def _known_part(
    known: "KnownVerdicts", folder: "RunFolder", time_limit_factor: float, common: CommonOptions
) -> tuple[dict[str, Any], bool]:
    """Judge a file's submissions and print it; its part of the result, and whether all is as it should be."""
    from alpha_codium.eval.doctor.report import known_lines

    report = _judge_known(known, folder, time_limit_factor, common)
    for line in known_lines(report):
        click.echo(line)
    return report.to_json(), report.faultless


def _known_job(known: "KnownVerdicts", path: str, time_limit_factor: float, common: CommonOptions) -> dict[str, Any]:
    """What a run is of, as its folder keeps it."""
    from alpha_codium.cli.run_folders import versions

    return {
        "command": "doctor",
        "known_verdicts": path,
        "fingerprint": known.problems.fingerprint,
        "code_tester": _settings_of(time_limit_factor, common).model_dump(exclude={"workers"}),
        "versions": versions(),
    }


def _open_run(job: dict[str, Any], run_name: str | None, resume: str | None, common: CommonOptions) -> "RunFolder":
    """The run's folder, once the settings are known to give a sandbox: else it would take the name for nothing."""
    from alpha_codium.cli.run_folders import open_run
    from alpha_codium.sandbox import sandbox_of

    sandbox_of(common.settings.code_tester)
    folder = open_run("doctor", run_name, resume, job)
    click.echo(f"run folder: {folder.path}", err=True)
    return folder


def _settings_of(time_limit_factor: float, common: CommonOptions) -> "CodeTesterSection":
    """The settings with the factor of this command, whose labels were given under the problems' own limits."""
    return common.settings.code_tester.model_copy(update={"time_limit_factor": time_limit_factor})


def _examine(common: CommonOptions) -> "Examination":
    from alpha_codium.cli.progress import Progress
    from alpha_codium.eval.doctor import CaseResult, Finding, examine, load_kit, witnesses
    from alpha_codium.judge import Judge, Rules
    from alpha_codium.sandbox import sandbox_of

    settings = common.settings.code_tester
    otherwise = 0

    async def run() -> "Examination":
        async with sandbox_of(settings) as sandbox:
            judge = Judge(sandbox, Rules(time_limit_factor=1.0))
            isolated = settings.sandbox is not False
            return await examine(judge, kit, isolated=isolated, at_once=_at_once(common), on_result=count)

    def count(result: CaseResult) -> None:
        nonlocal otherwise
        otherwise += result.finding not in (Finding.RIGHT, Finding.NOT_RUN)
        progress.advance()

    with witnesses() as secrets:
        kit = load_kit(secrets)
        with Progress("kit", len(kit) + 1, common.verbosity < 0, lambda: f"{otherwise} otherwise") as progress:
            return asyncio.run(run())


def _judge_known(
    known: "KnownVerdicts", folder: "RunFolder", time_limit_factor: float, common: CommonOptions
) -> "KnownReport":
    """Judge the submissions of a file, with the journal of the run's folder, and keep the result there."""
    from alpha_codium.judge import Rules

    rules = Rules.of(_settings_of(time_limit_factor, common))
    with folder.journal as journal:
        results = asyncio.run(_run_known(known, rules, journal, common))
    limits = {problem.name: rules.limits_for(problem).cpu_seconds for problem in known.problems}
    report = known.report(results, limits)
    folder.write_json("results.json", report.to_json())
    return report


async def _run_known(known: "KnownVerdicts", rules: "Rules", journal: "Journal", common: CommonOptions) -> Any:
    from alpha_codium.cli.progress import Progress
    from alpha_codium.eval.running import run_evaluation
    from alpha_codium.judge import Judge
    from alpha_codium.sandbox import sandbox_of

    settings = common.settings.code_tester
    with Progress("judged", known.programs, common.verbosity < 0) as progress:
        async with sandbox_of(settings) as sandbox:
            return await run_evaluation(
                known.evaluation_set,
                Judge(sandbox, rules),
                journal=journal,
                on_result=lambda _name, _result: progress.advance(),
                workers=settings.workers,
            )


def _at_once(common: CommonOptions) -> int:
    import os

    return common.settings.code_tester.workers or os.cpu_count() or 1
