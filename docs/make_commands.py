"""Prints docs/commands.md: what every command's --help says. `make docs` writes it, a test compares."""

from importlib import import_module

import click

from alpha_codium.cli.main import COMMANDS, cli

HEAD = """# Commands

Made by `make docs` from the commands themselves. `-` and `_` are the same in names of commands and options.
Results go to stdout, progress and logs to stderr. Exit status: 0 done, 2 your mistake, 1 ours or an incomplete result.
"""


def commands(command: click.Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    """The command and all below it, with their paths."""
    found = [(path, command)]
    if isinstance(command, click.Group) and command is not cli:
        for name in sorted(command.commands):
            found += commands(command.commands[name], (*path, name))
    return found


def text() -> str:
    """The whole page."""
    parts = [HEAD]
    top = [(("gencode", name), getattr(import_module(e[0]), e[1])) for name, e in COMMANDS.items()]
    for path, command in [(("gencode",), cli), *(pair for p, c in top for pair in commands(c, p))]:
        context = click.Context(
            command,
            info_name=" ".join(path),
            max_content_width=100,
            terminal_width=100,
            help_option_names=cli.context_settings["help_option_names"],
        )
        title = " ".join(path)
        parts.append(f"## {title}\n\n```text\n{command.get_help(context).strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(text(), end="")
