"""Options as values: the fields of a dataclass for each use case, from which all else about an option is derived.

A field's annotation is `Annotated[TYPE, Option(...)]`. From the fields come the options of a command (`cli.options`),
the arguments of the Python function (`use_case`), what `run.toml` records (`recorded`), and what may differ when a run
is resumed (`app.resuming`). A message names an argument in backticks, such as `split`; the command line shows its
option in that place.
"""

import functools
import inspect
import math
import textwrap
import types
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, ForwardRef, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from alpha_codium.errors import UserError

P = ParamSpec("P")
O = TypeVar("O")  # noqa: E741 - options
T = TypeVar("T")
# The options that name the folder of a run, and say nothing about the run.
RUN_FOLDER = ("run", "resume")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in Python that isn't an option of the command line; `text` says what it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Option(Argument):
    """An option of the command line, and an argument in Python.

    `flags` are its names on the command line, separated by blanks, by default `--` and the field's name; `argument` is
    the metavar if it is given without a name, too. Numbers are at least `least`, greater than `above`, and at most
    `most`. `parse` turns a text into the value; it raises ValueError. An option that doesn't change the result
    (`changes_result`) may differ when a run is resumed.
    """

    flags: str = ""
    metavar: str | None = None
    argument: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    parse: Callable[[str], Any] | None = None
    changes_result: bool = True


@dataclass(frozen=True, slots=True)
class OptionField:
    """An option with its name, type and default, which is MISSING if there is none."""

    name: str
    kind: Any
    default: Any
    option: Option

    @property
    def many(self) -> bool:
        """Whether it takes several texts, for which it is repeated."""
        kinds = (self.kind, *get_args(self.kind))
        return self.option.parse is None and any(each in (Sequence[str], tuple[str, ...]) for each in kinds)

    def as_text(self, value: Any) -> Any:
        """Return the value with texts in place of paths, unless the option takes a path as it is."""
        if Path in get_args(self.kind) or self.kind is Path:
            return value
        if isinstance(value, list | tuple) and any(isinstance(each, Path) for each in value):
            return tuple(str(each) if isinstance(each, Path) else each for each in value)
        return str(value) if isinstance(value, Path) else value

    def fault(self, value: Any) -> str:
        """Return why a value isn't one of this option; empty if it may be."""
        kinds = get_args(self.kind) if get_origin(self.kind) in (Union, types.UnionType) else (self.kind,)
        if self.option.parse is not None or (value is None and types.NoneType in kinds):
            return ""
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if choices and value not in choices:
            return f"must be one of {', '.join(choices)}, not {value!r}"
        if bool in kinds and not isinstance(value, bool):
            return f"must be True or False, not {value!r}"
        if int in kinds or float in kinds:
            return self._fault_of_number(value, Real if float in kinds else Integral)
        return ""

    def _fault_of_number(self, value: Any, kind: type) -> str:
        least, above, most = self.option.least, self.option.above, self.option.most
        if isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value):
            large = above < value if above is not None else least is None or least <= value
            if large and (most is None or value <= most):
                return ""
        bounds = [f"above {above:g}"] if above is not None else [f"at least {least:g}"] if least is not None else []
        bounds += [f"at most {most:g}"] if most is not None else []
        what = "number" if kind is Real else "whole number"
        return f"must be a {what}{', ' if bounds else ''}{' and '.join(bounds)}, not {value!r}"


def options_of(model: type[Any]) -> Iterator[OptionField]:
    """Yield the options of a dataclass, its own before those of its base classes."""
    for field in _own_first(model):
        if isinstance(described := _described(field), Option):
            yield OptionField(field.name, get_args(field.type)[0], field.default, described)


def _own_first(model: type[Any]) -> list[Field[Any]]:
    by_name = {field.name: field for field in fields(model)}
    names = dict.fromkeys(name for base in model.__mro__ for name in vars(base).get("__annotations__", ()))
    return [by_name[name] for name in names if name in by_name]


def recorded(options: Any) -> dict[str, Any]:
    """Return the values of options that `run.toml` can hold: texts, numbers, and lists of these."""
    found: dict[str, Any] = {}
    for each in options_of(type(options)):
        if each.name in RUN_FOLDER:
            continue
        value = getattr(options, each.name)
        if isinstance(value, list | tuple) and all(isinstance(part, str | int | float) for part in value):
            found[each.name] = [_plain(part) for part in value]
        elif isinstance(value, str | int | float):
            found[each.name] = _plain(value)
    return found


def use_case(
    options: Callable[P, O],
) -> Callable[[Callable[[O], Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Turn a coroutine that takes its options as one value into one that takes them as arguments, documented."""

    def wrap(function: Callable[[O], Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(function)
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return await function(_checked(options(*args, **kwargs)))

        # What `help` shows: without the descriptions, which are in the text.
        call.__signature__ = _signature(options)  # type: ignore[attr-defined]
        call.__doc__ = f"{textwrap.dedent(f'    {function.__doc__}').strip()}\n\n{_arguments(options)}"
        return call

    return wrap


def _checked(options: O) -> O:
    """Return options, with texts in place of paths, and a list of one of a text where several may be given.

    Raises UserError.
    """
    changed: dict[str, Any] = {}
    for each in options_of(type(options)):
        given = getattr(options, each.name)
        value = each.as_text(given)
        if each.many and isinstance(value, str):
            value = (value,)
        elif fault := each.fault(value):
            raise UserError(f"`{each.name}` {fault}")
        if value is not given:
            changed[each.name] = value
    return replace(options, **changed) if changed else options  # type: ignore[type-var]


def in_options(text: str, flags: Mapping[str, str]) -> str:
    """Return a text with the options of a command in place of the arguments that it names in backticks."""
    for name, flag in flags.items():
        text = text.replace(f"`{name}`", flag)
    return text


def _signature(model: Any) -> inspect.Signature:
    """Return the arguments with their types, those by position first, and those that no command has last."""
    by_position = inspect.signature(model).parameters
    named = [field for field in _own_first(model) if field.kw_only]
    named.sort(key=lambda field: not isinstance(_described(field), Option))
    names = [name for name, each in by_position.items() if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    found = [by_position[name] for name in (*names, *(field.name for field in named))]
    return inspect.Signature([each.replace(annotation=_plain_type(each.annotation)) for each in found])


def _plain_type(annotation: Any) -> Any:
    kind = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind


def _arguments(model: Any) -> str:
    """Return the documentation of all arguments, in the order of the signature."""
    by_name = {field.name: _described(field) for field in fields(model)}
    described = [(name, by_name[name]) for name in _signature(model).parameters]
    lines = [f"{name}: {each.text}" for name, each in described if each is not None]
    indents = {"initial_indent": " " * 4, "subsequent_indent": " " * 8}
    return "\n".join(["Arguments:", *(textwrap.fill(line, 116, **indents) for line in lines)])


def _described(field: Field[Any]) -> Argument | None:
    if get_origin(field.type) is not Annotated:
        return None
    return next((each for each in get_args(field.type)[1:] if isinstance(each, Argument)), None)


def _plain(value: str | float) -> str | float:
    """Return the value without its enum, which would be written as a list."""
    return str(value) if isinstance(value, str) else value
