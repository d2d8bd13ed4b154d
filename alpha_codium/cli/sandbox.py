"""`gencode sandbox`: what keeps untrusted programs from this machine."""

import asyncio
from typing import Any

import click

from alpha_codium.cli.options import CommonOptions, Group, common_options

# Tries what it must not be able to do, and says how far it came.
PROBE = """
import os, socket
def tried(action):
    try:
        return bool(action())
    except OSError:
        return False
print(tried(lambda: socket.create_connection(("127.0.0.1", PORT), 1)))
others = set(range(1, 40000)) - {1, os.getpid(), os.getppid()}
print(any(tried(lambda: os.kill(number, 0) is None) for number in others))
print(tried(lambda: open(FILE).close() is None))
"""


@click.group(cls=Group)
def group() -> None:
    """What isolation this machine gives."""


@group.command()
@common_options
def check(common: CommonOptions) -> None:
    """Run a program in the sandbox that the settings ask for, and say what it is kept from.

    Then what the sandbox is made of on this machine, and how to get what is missing.
    """
    facts = asyncio.run(run_probe(common))
    common.write_json(facts)
    for name in ("tester_type", "sandbox", "network", "other_processes", "host_files"):
        click.echo(f"{name:<16} {facts[name]}")
    for layer in facts["layers"]:
        state = "yes" if layer["used"] else "NO"
        click.echo(f"{layer['name']:<16} {state:<4} {layer['for']}")
        if not layer["used"]:
            click.echo(f"{'':<21} to get it: {layer['how']}")


async def run_probe(common: CommonOptions) -> dict[str, Any]:
    """What a program in the sandbox can reach, and the layers that keep it from the rest."""
    import socket
    import tempfile

    from alpha_codium.sandbox import sandbox_of

    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.NamedTemporaryFile() as file:
        names = {"PORT": server.getsockname()[1], "FILE": file.name}
        probe = "".join(f"{name} = {value!r}\n" for name, value in names.items()) + PROBE
        async with sandbox_of(common.settings.code_tester) as sandbox:
            report = await sandbox.run(probe, [""])
            layers = getattr(sandbox, "layers", [])
    answers = report.executions[0].stdout.split() if report.executions else []
    reached = [{"True": "YES", "False": "no"}.get(answer, "?") for answer in answers] or ["?"] * 3
    return {
        "tester_type": common.settings.code_tester.tester_type,
        "sandbox": common.settings.code_tester.sandbox,
        "network": reached[0],
        "other_processes": reached[1],
        "host_files": reached[2],
        "layers": [{"name": x.name, "used": x.used, "for": x.for_, "how": x.how} for x in layers],
    }
