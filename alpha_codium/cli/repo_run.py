"""`gencode repo run` and `gencode repo get-resources`, which are also `run-multiturn` and `get-resources`."""

from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, options
from alpha_codium.cli.output import say
from alpha_codium.cli.repo_vllm import gpu_options

# What is run, here or in a cluster.
selection_options = options(
    click.option("--config", type=click.Path(path_type=Path), help="A YAML file, such as `get-resources` makes."),
    click.option("-o", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Override a value; repeatable."),
    click.option("--repo", "repository", metavar="NAME", help="The repository; takes precedence over the file."),
    click.option("--benchmark", metavar="NAME", help="method_gen_multiturn, completion or program_repair."),
    click.option("--max_items", type=click.IntRange(min=1), metavar="N", help="Run only the first N tasks."),
)


@click.command()
@selection_options
@click.option("--autorun", is_flag=True, help="Start servers for this run, see serve-vllm, and end them after it.")
@gpu_options
@click.option("--resume", metavar="RUN", help="Resume this run; its configuration need not be repeated.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the result to this file as JSON.")
@click.option("-v", "--verbose", count=True, help="More output; repeatable.")
@click.option("-q", "--quiet", count=True, help="Less output; twice for errors only.")
def run(json_path: Path | None, verbose: int, quiet: int, **given: Any) -> None:
    """Run the tasks of a repository with a model, in several turns with the results of tests."""
    from alpha_codium.app.repository_runs import RunOptions, run_repository
    from alpha_codium.cli.reporting import Reporter
    from alpha_codium.log import setup_logging

    common = CommonOptions(json_path=json_path, verbosity=verbose - quiet)
    setup_logging(common.verbosity)
    common.check_json_path()
    reporter = Reporter(common)
    with reporter.resumable():
        runs = run_repository(RunOptions(**given), reporter)
    common.write_json([each.to_json() for each in runs])
    for each in runs:
        say("\n".join(each.summary.lines()))
    if not all(each.summary.complete for each in runs):
        raise click.exceptions.Exit(1)


@click.command("get_resources")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def get_resources(folder: Path) -> None:
    """Copy the configuration files and the prompts to a folder, to be edited there."""
    from alpha_codium.app.repository_resources import copy_resources

    for path in copy_resources(folder):
        say(str(path))
