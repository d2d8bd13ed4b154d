"""`gencode sandbox`: what keeps untrusted programs from this machine."""

import asyncio
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.options import CommonOptions, Group, common_options, normalize
from alpha_codium.errors import UserError, nearest

if TYPE_CHECKING:
    from alpha_codium.verdict import Execution

# Tries what it must not be able to do, one thing an input, and says whether it could.
ATTEMPTS = ("network", "other_processes", "host_files")
PROBE = """
import os, socket
def tried(action):
    try:
        return bool(action())
    except OSError:
        return False
def network():
    return tried(lambda: socket.create_connection(("127.0.0.1", PORT), 1))
def other_processes():
    others = set(range(1, 40000)) - {1, os.getpid(), os.getppid()}
    return any(tried(lambda: os.kill(number, 0) is None) for number in others)
def host_files():
    return tried(lambda: open(FILE).close() is None)
print(globals()[input()]())
"""


@click.group(cls=Group)
def group() -> None:
    """What isolation this machine gives."""


@group.command()
@click.argument("backend", metavar="BACKEND")
@click.option("--python", default="", help="The CPython 3.9 to make it of (else pyenv's, else that of the path).")
@common_options
def install(common: CommonOptions, backend: str, python: str) -> None:
    """Install what a backend needs beside gencode, for this user: `code_contests`, DeepMind's C++ sandbox.

    It gets an environment of its own in $GENCODE_HOME; where that is there already, nothing is done.
    """
    from alpha_codium.paths import home
    from alpha_codium.sandbox.code_contests import environment

    if normalize(backend) != "code_contests":
        known = nearest(backend, ["code_contests"])
        raise UserError(f"there is nothing to install for {backend!r}{known}")
    home()  # said to be unwritable before anything is begun
    folder = environment.default_folder()
    done = environment.install(folder, python, lambda line: click.echo(line, err=True))
    common.write_json({"backend": "code_contests", "folder": str(folder), "installed": done})
    click.echo(f"{'installed' if done else 'there already'}: {folder}")


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
            report = await sandbox.run(probe, ATTEMPTS)
            layers = getattr(sandbox, "layers", [])
    return {
        "tester_type": common.settings.code_tester.tester_type,
        "sandbox": common.settings.code_tester.sandbox,
        **dict.fromkeys(ATTEMPTS, "?"),
        **dict(zip(ATTEMPTS, map(reached, report.executions), strict=False)),
        "layers": [{"name": x.name, "used": x.used, "for": x.for_, "how": x.how} for x in layers],
    }


def reached(execution: "Execution") -> str:
    """Whether an attempt came through: not where the program was ended for it."""
    if execution.status == "sandbox_violation":
        return "no"
    return {"True": "YES", "False": "no"}.get(execution.stdout.strip(), "?")
