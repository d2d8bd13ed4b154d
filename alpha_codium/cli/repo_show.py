"""`gencode repo show`: a dataset of tasks, or one of them."""

from collections import Counter

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say
from alpha_codium.errors import UserError
from alpha_codium.wording import counted


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
        common.write_json(tasks[idx].row(idx))
        say("\n".join(tasks[idx].lines()))
        return
    common.write_json({str(number): task.row(number) for number, task in tasks.items()})
    click.echo(counted(len(tasks), "task"))
    for label, count in Counter(f"{task.repository} {task.version} {task.label}" for task in tasks.values()).items():
        say(f"  {label}: {count}")
