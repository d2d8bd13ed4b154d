"""`gencode sandbox`: what keeps untrusted programs from this machine."""

import asyncio

import click

from alpha_codium.cli.options import CommonOptions, Group, common_options

PROBE = """
import os, socket
print(os.getpid() < 100, end=" ")
try:
    socket.create_connection(("127.0.0.1", 9), 1)
except OSError as error:
    print(error.strerror)
"""


@click.group(cls=Group)
def group() -> None:
    """What isolation this machine gives."""


@group.command()
@common_options
def check(common: CommonOptions) -> None:
    """Run a program in the sandbox that the settings ask for, and say what it is kept from."""
    from alpha_codium.sandbox import sandbox_of
    from alpha_codium.sandbox.isolation import namespaces_command

    async def run() -> str:
        async with sandbox_of(common.settings.code_tester) as sandbox:
            report = await sandbox.run(PROBE, [""])
        return report.executions[0].stdout.strip() if report.executions else report.compilation.stderr

    answer = asyncio.run(run())
    isolated = common.settings.code_tester.sandbox is not False
    facts = {
        "tester_type": common.settings.code_tester.tester_type,
        "sandbox": common.settings.code_tester.sandbox,
        "namespaces": " ".join(namespaces_command()) or "none",
        "network": "no" if isolated and answer.startswith("True") and "unreachable" in answer else "YES",
        "other_processes": "no" if isolated and answer.startswith("True") else "YES",
        "files": "YES: the local backend doesn't isolate the file system",
    }
    common.write_json(facts)
    for name, value in facts.items():
        click.echo(f"{name:<16} {value}")
