"""`gencode runs`: the stored runs, why a sample of one failed, and their results in the formats of others."""

import sys
from typing import Any

import click

from alpha_codium.app.options.judging import MergeOptions
from alpha_codium.app.options.reporting import ExportOptions
from alpha_codium.cli.fields import Integer, fields_of
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import print_table, say
from alpha_codium.log import one_line, visible
from alpha_codium.wording import size_text


@click.group()
def group() -> None:
    """List, show, export and delete stored runs."""


@group.command("list")
@common_options
def list_command(common: CommonOptions) -> None:
    """List the stored runs, the latest first."""
    from alpha_codium.app.stored_runs import list_runs

    found = list_runs()
    rows = [[r.name, r.command, r.dataset, f"{r.changed:%F %H:%M}", size_text(r.size_bytes), r.state] for r in found]
    if rows:
        print_table([("name", "command", "problems", "changed (UTC)", "size", "state"), *rows])
    else:
        click.echo("no run is stored yet", err=True)
    common.write_json(found)


@group.command()
@click.argument("run", metavar="RUN")
@click.option("--problem", help="Show a sample of this problem.  [default: the first that failed]")
@click.option("--sample", type=Integer(min=0), help="The index of the sample, from 0.")
@click.option("--failed", is_flag=True, help="List all samples that failed, with the reason, instead of showing one.")
@click.option("--transcript", is_flag=True, help="Show its prompts and answers, too, if the run generated it.")
@common_options
def show(
    run: str, problem: str | None, sample: int | None, failed: bool, transcript: bool, common: CommonOptions
) -> None:
    """Show a sample of a run: the program, its first failing test, the difference, and stderr."""
    from alpha_codium.app.stored_runs import show_sample, transcript_of

    if failed and transcript:
        raise click.UsageError("--transcript is of one sample: leave out --failed")
    if failed:
        _list_failed(run, problem, sample, common)
        return
    shown = show_sample(run, problem, sample)
    common.show(shown.sample, shown.sample.lines())
    for line in transcript_of(run, shown.sample).lines() if transcript else ():
        say(line)
    more = "; show others with --problem NAME --sample I, list them with --failed" if shown.samples > 1 else ""
    click.echo(f"{shown.failures}{more}", err=True)


def _list_failed(run: str, problem: str | None, sample: int | None, common: CommonOptions) -> None:
    from alpha_codium.app.stored_runs import chosen_samples

    chosen = chosen_samples(run, problem, sample)
    failed = chosen.failed
    common.write_json(failed)
    if failed:
        rows = [
            (each.problem, str(each.result.index), each.result.verdict.value, one_line(each.reason)) for each in failed
        ]
        print_table([("problem", "sample", "verdict", "reason"), *rows])
    reasons = f": {visible(chosen.reasons())}" if failed else ""
    click.echo(f"{chosen.failures()}{reasons}", err=True)


@group.command()
@click.argument("sql", metavar="SQL")
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Only this run; repeatable.  [default: all]")
@common_options
def query(sql: str, runs: tuple[str, ...], common: CommonOptions) -> None:
    """Query finished evaluations in SQL: tables `candidates` and `executions`, with a column `run`.

    For example "SELECT run, verdict, count(*) FROM candidates GROUP BY ALL". docs/runs.md lists the columns.
    """
    from alpha_codium.app.querying import query_runs

    found = query_runs(sql, runs)
    common.write_json(found.to_json())
    if found.columns:
        rows = [["" if value is None else one_line(str(value)) for value in row] for row in found.rows]
        print_table([found.columns, *rows])


@group.command()
@fields_of(MergeOptions)
@common_options
def merge(common: CommonOptions, **given: Any) -> None:
    """Merge the runs of all parts, made with --shard, into one run, and print its result.

    RUN... are these runs, or only NAME, for NAME-1-of-8 and so on. No model is asked, and nothing is judged, but the
    sandbox must be the same.
    """
    from alpha_codium.app.merging import merge
    from alpha_codium.cli.gen import print_summary
    from alpha_codium.cli.reporting import Reporter
    from alpha_codium.cli.scores import print_score, print_validation
    from alpha_codium.eval.scoring import Score
    from alpha_codium.gen.summary import RunSummary

    reporter = Reporter(common)
    result = merge(**given, on_event=reporter)
    if isinstance(result, RunSummary):
        print_summary(result, common)
        return
    common.write_json(result)
    if isinstance(result, Score):
        print_score(result, reporter.name)
    else:
        print_validation(result, reporter.name)


@group.command()
@fields_of(ExportOptions)
@common_options
def export(common: CommonOptions, **given: Any) -> None:
    """Write the result of a run for others, with what judged it, the judge's error, intervals and the subset.

    Formats: the YAML of results on the Hugging Face Hub (hf), the JSON of Every Eval Ever (eee), and a log that
    inspect view opens (inspect).
    """
    from alpha_codium.app.exporting import export_run

    files = export_run(**given)
    common.show(files, map(str, files))


@group.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common_options
def rm(runs: tuple[str, ...], yes: bool, common: CommonOptions) -> None:  # noqa: ARG001
    """Delete stored runs with everything in their folders."""
    from alpha_codium.app.stored_runs import folder_of, remove_run
    from alpha_codium.errors import UserError

    if not yes and (sys.stdin is None or not sys.stdin.isatty()):
        raise UserError("stdin is no terminal, so nothing was deleted: use --yes")
    for run in runs:
        folder_of(run)
    for run in runs:
        if yes or click.confirm(f"delete the run {run!r}?", err=True):
            remove_run(run)
            click.echo(f"deleted {run}")
