"""`gencode repo run-k8s`, which is also the program `run-multiturn-k8s`."""

from pathlib import Path
from typing import Any

import click

from alpha_codium.cli.output import say
from alpha_codium.cli.repo_run import selection_options


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
    from alpha_codium.app.repository_cluster import cluster_run, follow, submit
    from alpha_codium.app.repository_plan import RunOptions

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
