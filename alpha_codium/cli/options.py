"""Options that several commands share, and what they amount to."""

import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from alpha_codium.cli.fields import Decorator, Integer
from alpha_codium.cli.output import say
from alpha_codium.errors import SettingsError, UserError
from alpha_codium.log import visible
from alpha_codium.options import in_options
from alpha_codium.values import plain

if TYPE_CHECKING:
    from alpha_codium.config import Settings


def normalize(name: str) -> str:
    """A name with `_` in place of `-`."""
    return name.replace("-", "_")


def add_examples(command: click.Command, path: str) -> click.Command:
    """End the help of a command, and of all below it, with the examples of `examples.txt` that begin with its path."""
    lines = Path(__file__).with_name("examples.txt").read_text("utf-8").splitlines()
    own = [line for line in lines if line == path or line.startswith(f"{path} ")]
    shown = own[: 1 if isinstance(command, click.Group) else None]
    command.epilog = "\b\nExample:\n" + "\n".join(f"  {line}" for line in shown)
    for name, sub in getattr(command, "commands", {}).items():
        add_examples(sub, f"{path} {name}")
    return command


@dataclass
class CommonOptions:
    """The common options of a command."""

    config_file: Path | None = None
    overrides: tuple[str, ...] = ()
    json_path: Path | None = None
    verbosity: int = 0
    extra_overrides: list[str] = field(default_factory=list)
    stdout: TextIO | None = None

    @cached_property
    def settings(self) -> "Settings":
        """The settings in force; raises SettingsError."""
        return self.settings_on(None)

    def settings_on(self, base: Mapping[str, Any] | None) -> "Settings":
        """The settings in force on the base of an earlier run's, if there is one; raises SettingsError."""
        from alpha_codium.config import load_settings
        from alpha_codium.log import setup_logging

        settings = load_settings(self.config_file, [*self.overrides, *self.extra_overrides], base=base)
        setup_logging(self.verbosity, short=settings.solve.reduce_verbose, said=said)
        return settings

    @property
    def json_on_stdout(self) -> bool:
        """Whether the result goes to stdout as JSON: it stands there alone, everything else goes to stderr."""
        return str(self.json_path) == "-"

    def write_files(self, result: Any, csv_path: str | None) -> None:
        """Write a result to the files of `--json` and `--csv`, if they are asked for."""
        self.write_json(result)
        if csv_path:
            result.to_csv(csv_path)

    def show(self, value: Any, lines: Iterable[str]) -> None:
        """Write a result to the file of `--json`, if one is asked for, and its lines to stdout."""
        self.write_json(value)
        for line in lines:
            say(line)

    def write_json(self, value: Any) -> None:
        """Write a result to the file of `--json`, if one is asked for; `-` is stdout."""
        if self.json_path is None:
            return
        text = json.dumps(plain(value), indent=2, ensure_ascii=False) + "\n"
        if self.json_on_stdout:
            assert self.stdout is not None
            click.echo(visible(text) if self.stdout.isatty() else text, nl=False, file=self.stdout)
            return
        try:
            self.json_path.write_text(text, "utf-8")
        except OSError as error:
            raise UserError(f"--json {self.json_path} can't be written: {error.strerror}") from error


def check_writable(option: str, path: Path | None) -> None:
    """Raise SettingsError before any work is done where the file of an option couldn't be written after it."""
    if path is None:
        return
    if str(path) == "-":
        raise SettingsError(f"{option} - would make a file of that name: for stdout, give /dev/stdout")
    if path.is_dir():
        raise SettingsError(f"{option} {path} is a folder: name a file")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise SettingsError(f"{option} {path} can't be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise SettingsError(f"{option} {path} can't be written: permission denied")


def refuse_same_files() -> None:
    """Raise SettingsError if a file to write is also that of another option or argument, such as the input."""
    context = click.get_current_context()
    files = [
        (parameter, Path(value).absolute())
        for parameter in context.command.params
        for value in _flat(context.params.get(parameter.name or ""))
        if value != "-" and (parameter.name in WRITTEN or os.path.isfile(value))  # noqa: PTH113 - of a text that may be no path
    ]
    written = [(parameter, path) for parameter, path in files if parameter.name in WRITTEN]
    for parameter, path in written:
        for other, same in files:
            if other is not parameter and path.resolve() == same.resolve():
                named = other.opts[0] if isinstance(other, click.Option) else other.human_readable_name
                raise SettingsError(f"{parameter.opts[0]} {path} is also the file of {named}: give another one")
    if written:
        _refuse_files_of_runs(context, written)


def _refuse_files_of_runs(context: click.Context, written: Sequence[tuple[click.Parameter, Path]]) -> None:
    """Raise SettingsError if a file to write is one that an earlier run, which the command names, was made with."""
    from alpha_codium.app.run_folders import files_of_run

    # The option `--run` names a new run.
    of_runs = [each for each in context.command.params if each.name in ("resume", "runs")]
    of_runs += [each for each in context.command.params if each.name == "run" and isinstance(each, click.Argument)]
    for run in (str(name) for each in of_runs for name in _flat(context.params.get(each.name or ""))):
        used = {path.resolve() for path in files_of_run(run)}
        for parameter, path in written:
            if path.resolve() in used:
                raise SettingsError(
                    f"{parameter.opts[0]} {path} would replace a file that run {run!r} was made with: give another one"
                )


def _flat(value: Any) -> list[str | Path]:
    found = value if isinstance(value, list | tuple) else [value]
    return [each for each in found if isinstance(each, str | Path) and str(each) and "\0" not in str(each)]


# The parameters that name files to write.
WRITTEN = {"json_path", "csv_path", "output"}
# The options of the command that runs, by the names of its arguments and settings, for messages.
FLAGS: dict[str, str] = {}
SETTING = re.compile(r"`([a-z_]+(?:\.[a-z_]+)+)(=[^`]*)?`")
OVERRIDE = re.compile(r"\A-o ([a-z_.]+)=([^:]*): setting \1: ")
BACKEND = re.compile(r"`ac\.open_sandbox\('(\w+)'\)`")
ISOLATION = re.compile(r"`ac\.open_sandbox\(isolation=(True|False)\)`")


def note_options() -> None:
    """Remember the options of the command that runs, so that messages can name them."""
    FLAGS.clear()
    for parameter in click.get_current_context().command.params:
        if isinstance(parameter, click.Option) and parameter.name:
            setting, *_ = MODEL_OPTIONS.get(parameter.name, ("",))
            FLAGS.update({name: parameter.opts[0] for name in (parameter.name, setting) if name})


def said(text: str) -> str:
    """Return a message with options in place of the arguments, settings and sandboxes that it names in backticks.

    An override `-o NAME=VALUE` that an option of the command made is named by that option, too.
    """
    text = OVERRIDE.sub(lambda found: f"{FLAGS[found[1]]} {found[2]}: " if found[1] in FLAGS else found[0], text)
    text = BACKEND.sub(r"-o code_tester.tester_type=\1", SETTING.sub(_setting_option, in_options(text, FLAGS)))
    return ISOLATION.sub(lambda found: f"-o code_tester.sandbox={found[1].lower()}", text)


def _setting_option(found: re.Match[str]) -> str:
    from alpha_codium.config.sources import SETTINGS

    name, value = found.groups()
    return f"-o {name}{value or '=VALUE'}" if name in SETTINGS.known else found[0]


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about what is shown and written; they arrive as one argument, `common`."""

    @click.option(
        "--json",
        "json_path",
        type=click.Path(path_type=Path),
        help="Write the result to this file as JSON; - is stdout.",
    )
    @click.option("-v", "--verbose", count=True, help="More output; repeatable.")
    @click.option("-q", "--quiet", count=True, help="Less output; twice for errors only.")
    @functools.wraps(command)
    def with_output(*args: Any, json_path: Path | None, verbose: int, quiet: int, **kwargs: Any) -> Any:
        from alpha_codium.log import setup_logging

        note_options()
        common = CommonOptions(json_path=json_path, verbosity=verbose - quiet)
        setup_logging(common.verbosity, said=said)
        refuse_same_files()
        if not common.json_on_stdout:
            check_writable("--json", json_path)
            return command(*args, common=common, **kwargs)
        common.stdout = sys.stdout
        with contextlib.redirect_stdout(sys.stderr):
            return command(*args, common=common, **kwargs)

    return with_output


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command takes; they arrive as one argument, `common`."""

    @click.option("--config", "config_file", type=click.Path(path_type=Path), help="A TOML file of settings.")
    @click.option("-o", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Override a setting; repeatable.")
    @click.option("--workers", type=Integer(min=0), help="Programs to run in parallel; 0 means one per core.")
    @output_options
    @functools.wraps(command)
    def with_common(
        *args: Any,
        common: CommonOptions,
        config_file: Path | None,
        overrides: tuple[str, ...],
        workers: int | None,
        **kwargs: Any,
    ) -> Any:
        common.config_file, common.overrides = config_file, overrides
        if workers is not None:
            common.extra_overrides.append(f"code_tester.workers={workers}")
        return command(*args, common=common, **kwargs)

    return with_common


def language(name: str) -> str:
    """Return our name of a language, such as cpp for C++; raises UserError."""
    from alpha_codium.language_table import language_asked_for

    return language_asked_for(name)


# option -> setting: what a user types most often
MODEL_OPTIONS = {
    "model": ("config.model", str, "A litellm model string, or local/NAME."),
    "api_base": ("config.api_base", str, "The address of the model's server."),
    "temperature": ("config.temperature", float, "The temperature for all prompts."),
    "top_p": ("config.top_p", float, "Nucleus sampling."),
    "max_tokens": ("config.max_tokens", int, "The maximum number of tokens per answer."),
    "seed": ("config.seed", int, "The seed for the model, and for the choice of problems."),
    "concurrency": ("config.concurrency", int, "Samples to generate concurrently."),
    "language": (
        "solve.language",
        language,
        "The programs' language, such as cpp.  [default: that of the tests]",
    ),
}


def options(*decorators: Decorator) -> Decorator:
    """Return several options as one decorator."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return add


split_option = click.option("--split_name", "split", help="The split; needed only if there are several.")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace the output if it exists already.")


def cache_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--no-cache`, which becomes a setting of `common`; goes below `@common_options`."""

    @click.option("--no-cache", is_flag=True, help="Do not use the shared cache of answers.")
    @functools.wraps(command)
    def with_cache(*args: Any, common: CommonOptions, no_cache: bool, **kwargs: Any) -> Any:
        if no_cache:
            common.extra_overrides.append("config.cache=false")
        return command(*args, common=common, **kwargs)

    return with_cache


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a model and its programs, which become settings; goes below `@common_options`."""

    @functools.wraps(command)
    def with_model(*args: Any, common: CommonOptions, **kwargs: Any) -> Any:
        for name, (setting, _, _) in MODEL_OPTIONS.items():
            value = kwargs.pop(name)
            if value is not None:
                common.extra_overrides.append(f"{setting}={value}")
        return command(*args, common=common, **kwargs)

    for name, (_, kind, text) in reversed(MODEL_OPTIONS.items()):
        with_model = click.option(f"--{name}", type=kind, help=text)(with_model)
    return with_model
