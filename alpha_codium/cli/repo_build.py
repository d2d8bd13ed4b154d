"""`gencode repo build` and `gencode repo show`: a dataset of tasks, made from the methods of a repository."""

from collections import Counter
from typing import Any

import click

from alpha_codium.app.options.repository import BuildOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say
from alpha_codium.cli.reporting import Reporter
from alpha_codium.cli.scores import new_run, with_earlier
from alpha_codium.errors import UserError
from alpha_codium.wording import counted


@click.command()
@fields_of(BuildOptions)
@common_options
def build(common: CommonOptions, **options: Any) -> None:
    """Make tasks from the documented methods of a repository, and store them as a dataset.

    Each task has tests that pass with the method, and fail with every body that does nothing, without the second half
    of it, and with small bugs in it. Methods whose tests don't say the same in all runs are left out.
    """
    from alpha_codium.app.repository_building import build_tasks

    reporter, settings = Reporter(common), with_earlier(common, options)
    options["run"] = new_run("repo_build", options["run"], options["resume"])
    with reporter.resumable():
        report = build_tasks(**options, settings=settings, on_event=reporter)
    click.echo(f"{counted(report.tasks, 'task')} of each kind, stored in {report.stored}")
    common.write_json(report)


@click.command()
@click.argument("dataset", metavar="DATASET")
@click.option("--split_name", "split", help="The split; needed only if there are several.")
@click.option("--idx", type=int, help="Show this task.")
@common_options
def show(common: CommonOptions, dataset: str, split: str | None, idx: int | None) -> None:
    """Show a summary of a dataset of tasks, or one of its tasks."""
    from alpha_codium.repository.dataset import load_tasks

    tasks = load_tasks(dataset, split)
    if idx is not None:
        if idx not in tasks:
            raise UserError(f"{dataset} has no task with idx {idx}")
        common.show(tasks[idx].row(idx), tasks[idx].lines())
        return
    common.write_json({str(number): task.row(number) for number, task in tasks.items()})
    click.echo(counted(len(tasks), "task"))
    kinds = Counter((task.repository, task.version, *task.labels[:1]) for task in tasks.values())
    for kind, count in kinds.items():
        say(f"  {' '.join(kind)}: {count}")
