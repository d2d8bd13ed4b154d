"""`gencode runs`: the stored runs, and why a sample of one failed."""

import click

from alpha_codium.cli.options import CommonOptions, Group, common_options
from alpha_codium.cli.output import print_table, say
from alpha_codium.wording import size_text


@click.group(cls=Group)
def group() -> None:
    """List, show and delete stored runs."""


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
    common.write_json([run.to_json() for run in found])


@group.command()
@click.argument("run", metavar="RUN")
@click.option("--problem", help="Show a sample of this problem.  [default: the first that failed]")
@click.option("--sample", type=click.IntRange(min=0), help="The index of the sample, from 0.")
@common_options
def show(run: str, problem: str | None, sample: int | None, common: CommonOptions) -> None:
    """Show a sample of a run: the program, its first failing test, the difference, and stderr."""
    from alpha_codium.app.stored_runs import show_sample

    shown = show_sample(run, problem, sample)
    common.write_json(shown.sample.to_json())
    for line in shown.sample.lines():
        say(line)
    more = "others with --problem NAME --sample I" if shown.total > 1 else ""
    click.echo(f"{shown.failed} of {shown.total} samples of the run failed{'; show ' * bool(more)}{more}", err=True)


@group.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common_options
def rm(runs: tuple[str, ...], yes: bool, common: CommonOptions) -> None:  # noqa: ARG001
    """Delete stored runs with everything in their folders."""
    from alpha_codium.app.stored_runs import remove_run

    for run in runs:
        if yes or click.confirm(f"delete the run {run!r}?", err=True):
            remove_run(run)
            click.echo(f"deleted {run}")
