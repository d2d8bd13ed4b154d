"""Commands of `gencode repo` that are also programs: runs of tasks, here and in a cluster, and servers of models."""

from pathlib import Path
from typing import Any

import click

from alpha_codium.app.options.repository import RunOptions, ServersOptions, TasksOptions
from alpha_codium.cli.fields import fields_of
from alpha_codium.cli.options import CommonOptions, note_options, output_options
from alpha_codium.cli.output import say
from alpha_codium.cli.reporting import Reporter


@click.command()
@fields_of(RunOptions)
@output_options
def run(common: CommonOptions, **given: Any) -> None:
    """Run the tasks of a repository with a model, in several turns with the results of tests."""
    from alpha_codium.app.repository_runs import run_repository

    reporter = Reporter(common)
    with reporter.resumable():
        runs = run_repository(**given, on_event=reporter)
    common.write_json(runs)
    for each in runs:
        say("\n".join(each.summary.lines()))
    reporter.tell_how_to_look()
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
@fields_of(TasksOptions)
@click.option("--k8s_config_file", "k8s_config", type=click.Path(path_type=Path),
              help="A YAML file about the cluster: config_k8s.yaml of `get-resources`.")  # fmt: skip
@click.option("--dry_run", is_flag=True, help="Print the manifests, and submit nothing.")
@click.option("--no_wait", is_flag=True, help="Submit the Job, and don't wait for its end.")
def run_k8s(k8s_config: Path | None, dry_run: bool, no_wait: bool, **given: Any) -> None:
    """Run the tasks of a repository in a Kubernetes cluster, as a Job.

    The configuration and the prompts are sent along; data, checkpoints and outputs must be in S3. The Job's log is
    shown, and its results are copied to this machine.
    """
    from alpha_codium.app.repository_runs import cluster_run, follow, submit

    note_options()
    run = cluster_run(TasksOptions(**given), k8s_config)
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
@fields_of(ServersOptions)
@output_options
def serve_vllm(common: CommonOptions, **given: Any) -> None:
    """Start servers for the model and LoRA adapters of a configuration, and wait until they are ready.

    They run until `kill-vllm` ends them. Runs with inference.provider = vllm use them. The command that starts a
    server is vllm.command in the configuration.
    """
    from alpha_codium.app.repository_servers import serve_models

    records = serve_models(**given)
    common.show(records.servers, (f"GPU {each.gpu}: {each.address} (log: {each.log})" for each in records.servers))


@click.command()
def kill_vllm() -> None:
    """End the servers that `serve-vllm` has started, and no other process."""
    from alpha_codium.llm.vllm import kill_servers

    ended = kill_servers()
    for server in ended:
        say(f"GPU {server.gpu}: ended process {server.pid}")
    if not ended:
        say("no servers were running")
