"""Groups of commands that are imported when they are used, so that `--help` stays quick."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from alpha_codium.cli.options import add_examples, normalize
from alpha_codium.errors import nearest


class LazyGroup(click.Group):
    """A group of `entries`: each command's module, its attribute there, and what it does.

    `path` is how the group is called.
    """

    def __init__(self, *args: Any, path: str, entries: Mapping[str, tuple[str, str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.path, self.entries = path, entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the work."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        name = normalize(cmd_name)
        if name not in self.entries:
            return None
        module, attribute, _ = self.entries[name]
        return add_examples(getattr(import_module(module), attribute), f"{self.path} {name}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; an unknown one is a usage error that names the nearest, which click can't without imports."""
        unknown = not args[0].startswith("-") and normalize(args[0]) not in self.entries
        if unknown and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}{nearest(args[0], self.entries)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in self.entries.items()])
