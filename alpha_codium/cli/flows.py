"""`gencode flows`: the shipped flows, and copies of them to change."""

from pathlib import Path

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say


@click.group()
def group() -> None:
    """List, show and copy flows."""


@group.command("list")
@common_options
def list_command(common: CommonOptions) -> None:
    """List the shipped flows."""
    from alpha_codium.flows.catalogue import list_flows

    flows = list_flows()
    found = [{"name": flow.name, "description": flow.description} for flow in flows]
    common.show(found, (f"{flow.name:<17} {flow.description}" for flow in flows))


@group.command()
@click.argument("name")
def show(name: str) -> None:
    """Show the stages of a flow, its prompts, and their variables."""
    from alpha_codium.flows.catalogue import flow_lines
    from alpha_codium.flows.loading import load_flow

    say("\n".join(flow_lines(load_flow(name))))


@group.command()
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path))
def copy(name: str, folder: Path) -> None:
    """Copy a flow to a new FOLDER, to change its prompts: `--flow FOLDER`."""
    from alpha_codium.flows.catalogue import copy_flow, prompts_of_others
    from alpha_codium.flows.loading import load_flow

    click.echo(f"copied to {copy_flow(name, folder)}; use it with --flow {folder}")
    for line in prompts_of_others(load_flow(str(folder))):
        click.echo(line, err=True)
