"""Commands of `gencode repo` that are also programs: runs of tasks, here and in a cluster, and servers of models."""

from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, options
from alpha_codium.cli.output import say

# What is run, here or in a cluster.
selection_options = options(
    click.option("--config", type=click.Path(path_type=Path), help="A YAML file, such as `get-resources` makes."),
    click.option("-o", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Override a value; repeatable."),
    click.option("--repo", "repository", metavar="NAME", help="The repository; takes precedence over the file."),
    click.option("--benchmark", metavar="NAME", help="method_gen_multiturn, completion or program_repair."),
    click.option("--max_items", type=click.IntRange(min=1), metavar="N", help="Run only the first N tasks."),
)
gpu_options = options(
    click.option("--gpu_ids", default="0", show_default=True, metavar="ID,...", help="The GPUs, a server for each."),
    click.option("--base_port", type=click.IntRange(1, 65535), default=3117, show_default=True,
                 help="The port of the first server; the others have the next ones."),
)  # fmt: skip


@click.command()
@selection_options
@click.option("--checkout", metavar="DIR", help="A folder with the repository's files, such as a clone at some commit.")
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
    from alpha_codium.app.repository_plan import copy_resources

    for path in copy_resources(folder):
        say(str(path))


@click.command()
@selection_options
@click.option("--k8s_config_file", "k8s_config", type=click.Path(path_type=Path),
              help="A YAML file about the cluster: config_k8s.yaml of `get-resources`.")  # fmt: skip
@click.option("--dry_run", is_flag=True, help="Print the manifests, and submit nothing.")
@click.option("--no_wait", is_flag=True, help="Submit the Job, and don't wait for its end.")
def run_k8s(k8s_config: Path | None, dry_run: bool, no_wait: bool, **given: Any) -> None:
    """Run the tasks of a repository in a Kubernetes cluster, as a Job.

    The configuration and the prompts are sent along; data, checkpoints and outputs must be in S3. The Job's log is
    shown, and its results are copied to this machine.
    """
    from alpha_codium.app.repository_plan import RunOptions
    from alpha_codium.app.repository_runs import cluster_run, follow, submit

    run = cluster_run(RunOptions(**given), k8s_config)
    if dry_run:
        import yaml

        say(yaml.safe_dump_all(run.manifests, sort_keys=False).rstrip())
        return
    cluster = submit(run, k8s_config)
    click.echo(f"Job {run.name} in namespace {cluster.namespace}; its results: {run.outputs}", err=True)
    if no_wait:
        return
    try:
        folder = follow(run, cluster, say)
    except KeyboardInterrupt:
        click.echo(f"the Job goes on: kubectl -n {cluster.namespace} logs -f job/{run.name}", err=True)
        raise
    click.echo(f"results: {folder}")


@click.command()
@click.option("--config", required=True, type=click.Path(path_type=Path), help="A YAML file: see `get-resources`.")
@click.option("-o", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Override a value; repeatable.")
@gpu_options
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the servers to this file as JSON.")
def serve_vllm(config: Path, overrides: tuple[str, ...], gpu_ids: str, base_port: int, json_path: Path | None) -> None:
    """Start servers for the model and LoRA adapters of a configuration, and wait until they are ready.

    They run until `kill-vllm` ends them. Runs with inference.provider = vllm use them. The command that starts a
    server is vllm.command in the configuration.
    """
    from alpha_codium.app.repository_servers import serve_models

    common = CommonOptions(json_path=json_path)
    common.check_json_path()
    records = serve_models(config, gpu_ids.split(","), base_port, overrides)
    common.write_json([server.to_json() for server in records.servers])
    for server in records.servers:
        say(f"GPU {server.gpu}: {server.address} (log: {server.log})")


@click.command()
def kill_vllm() -> None:
    """End the servers that `serve-vllm` has started, and no other process."""
    from alpha_codium.llm.vllm import kill_servers

    ended = kill_servers()
    for server in ended:
        say(f"GPU {server.gpu}: ended process {server.pid}")
    if not ended:
        say("no servers were running")
