"""`gencode repo serve-vllm` and `gencode repo kill-vllm`, which are also programs of these names."""

from pathlib import Path

import click

from alpha_codium.cli.options import CommonOptions, options
from alpha_codium.cli.output import say

gpu_options = options(
    click.option("--gpu_ids", default="0", show_default=True, metavar="ID,...", help="The GPUs, a server for each."),
    click.option("--base_port", type=click.IntRange(1, 65535), default=3117, show_default=True,
                 help="The port of the first server; the others have the next ones."),
)  # fmt: skip


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
    from alpha_codium.repository.vllm import kill_servers

    ended = kill_servers()
    for server in ended:
        say(f"GPU {server.gpu}: ended process {server.pid}")
    if not ended:
        say("no servers were running")
