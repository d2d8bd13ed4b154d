"""Options of commands from the fields of a dataclass, and the names of arguments in messages as options."""

import functools
import math
import types
from collections.abc import Callable
from dataclasses import MISSING
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import click

from alpha_codium.options import OptionField, in_options, options_of

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Parsed(click.ParamType):
    """A value that a function makes of a text; it raises ValueError."""

    def __init__(self, parse: Callable[[str], Any], name: str) -> None:
        self.parse, self.name = parse, name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; a default is one already."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def fields_of(model: type[Any], *left_out: str, **defaults: Any) -> Decorator:
    """Add the options of a dataclass to a command, which gets their values by the names of the fields.

    Those that are `left_out` aren't added. `defaults` take the place of the fields' own.
    """
    chosen = [field for field in options_of(model) if field.name not in left_out]
    resumable = any(field.name == "resume" for field in chosen)
    flags = {field.name: _flags(field)[0] for field in chosen if not field.option.argument}

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for field in reversed(chosen):
            command = _added(field, defaults.get(field.name, field.default), resumable, flags)(command)
        return command

    return add


def needed(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Refuse a missing value, unless it is taken from the run to resume."""
    if value is None and not context.params.get("resume"):
        raise click.MissingParameter(ctx=context, param=parameter)
    return value


def refuse_nameless_part(shard: str | None, run: str | None, resume: str | None, **_others: Any) -> None:
    """Refuse a part of a run without the name that all parts have in common."""
    if shard and not run and not resume:
        raise click.UsageError("--shard needs --run NAME, the same for all parts")


class Integer(click.IntRange):
    """An integer in a range; help and messages call it an integer, where click says "integer range"."""

    name = "integer"


class Number(click.FloatRange):
    """A float in a range, but not NaN, which click takes to be in any range."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fails with a usage error for NaN and for other texts."""
        if math.isnan(number := super().convert(value, param, ctx)):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def argument_or_option(name: str, metavar: str, flag: str) -> Decorator:
    """Add an argument that may also be given as an option, or taken from the run to resume."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("positional", metavar=f"[{metavar}]", required=False)
        @click.option(flag, "named", metavar=metavar, help=f"The same as the argument {metavar}.")
        @functools.wraps(command)
        def with_it(*args: Any, positional: str | None, named: str | None, **kwargs: Any) -> Any:
            given = positional or named
            if (positional and named) or not (given or kwargs.get("resume")):
                raise click.UsageError(f"give the {name} once: {metavar} or {flag} {metavar}")
            return command(*args, **{name: given}, **kwargs)

        return with_it

    return add


def _added(field: OptionField, default: Any, resumable: bool, flags: dict[str, str]) -> Decorator:
    option, required = field.option, default is MISSING
    if option.argument and option.flags:
        return argument_or_option(field.name, option.argument, option.flags)
    if option.argument and field.many:
        return click.argument(field.name, nargs=-1, required=required, metavar=option.argument)
    if option.argument:
        own: dict[str, Any] = {"required": False, "callback": needed} if resumable else {"required": True}
        return click.argument(field.name, metavar=option.argument, **own)
    more: dict[str, Any] = {"callback": needed} if required and resumable else {"required": required}
    if field.many:
        value = (default,) if isinstance(default, str) else None if required else default or ()
        more |= {"multiple": True, "default": value}
    elif not required:
        # As it is typed, which the help shows.
        more |= {"default": ",".join(map(str, default)) if isinstance(default, tuple) and default else default}
    more |= {"is_flag": True} if field.kind is bool else {"type": _type(field)}
    shown = not required and default not in (None, "", (), False)
    text = in_options(option.text, flags)
    if field.many:
        text = text.replace(".", "; repeatable.", 1)
    return click.option(
        *_flags(field), field.name, metavar=option.metavar, help=text, show_default=shown,
        is_eager=field.name == "resume", **more,
    )  # fmt: skip


def _flags(field: OptionField) -> list[str]:
    return field.option.flags.split() or [f"--{field.name}"]


def _type(field: OptionField) -> Any:
    option, kind = field.option, field.kind
    if option.parse is not None:
        return Parsed(option.parse, option.metavar or "TEXT")
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind in (int, float) and (option.least, option.above, option.most) != (None, None, None):
        ranges: Any = Integer if kind is int else Number
        lowest = option.least if option.above is None else option.above
        return ranges(lowest, option.most, min_open=option.above is not None)
    if kind is Path:
        return click.Path(path_type=Path)
    return Number() if kind is float else kind if kind is int else str
