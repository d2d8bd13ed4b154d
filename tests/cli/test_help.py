"""What `--help` and wrong options say."""

import shlex
from collections.abc import Iterator

import click
import pytest

from alpha_codium.cli.main import cli
from tests.gen.running import run_cli
from tests.support import ROOT


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, by their paths."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), f"{path} {name}")


SETTINGS = cli.context_settings  # click keeps the names of the help option that it is first given
ALL = dict(commands(cli, "gencode"))


def examples(path: str) -> list[str]:
    """The examples in the help of a command."""
    _, _, text = ALL[path].get_help(click.Context(ALL[path], info_name=path, **SETTINGS)).partition("Example:\n")
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("path", ALL)
def test_every_help_ends_with_an_example_of_the_command(path):
    shown = examples(path)
    assert shown
    assert all(line == path or line.startswith(f"{path} ") for line in shown)


@pytest.mark.parametrize("path", ALL)
def test_names_of_commands_have_underscores_since_dashes_that_are_typed_become_these(path):
    assert "-" not in path


@pytest.mark.parametrize("line", dict.fromkeys(line for path in ALL for line in examples(path)))
def test_every_example_parses(line, monkeypatch):
    monkeypatch.chdir(ROOT)
    words = shlex.split(line.partition(" > ")[0])
    path = next(path for path in sorted(ALL, key=len, reverse=True) if f"{line} ".startswith(f"{path} "))
    arguments = words[len(path.split()) :]
    context = ALL[path].make_context(path, arguments, **SETTINGS)
    assert context.args == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["data", "show"],
            "error: give the dataset once: NAME or --dataset_name NAME (see gencode data show",
        ),
        (["gen", "solve_set", "--sampels", "3"], "error: No such option '--sampels'"),
        (["data", "etl", "--dataset_name", "x"], "error: Missing option '--output_dataset_name'"),
        (["gen", "solve_set", "--samples", "x"], "error: Invalid value for '--samples'"),
        (["settings", "-o", "config.modle=x"], "error: -o config.modle=x: unknown setting"),
    ],
)
def test_every_error_is_one_line_that_begins_alike(arguments, message):
    done = run_cli(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_the_names_of_a_dataset_are_aliases(home):
    stored = run_cli("data", "etl", "--source", ROOT / "examples" / "jars.json", "--output_dataset_name", "jars")
    assert "1 of 1 problem\n" in stored.stdout
    again = ("data", "etl", "--dataset_name", "jars", "--output_dataset_name", "more")
    assert run_cli(*again).returncode == 0
    assert run_cli("data", "show", "more").stdout == run_cli("data", "show", "--dataset_name", "more").stdout
    judged = ["--evaluation_test_type", "private_tests", "--k", "1"]
    for names in (("--ground_truth_dataset", "--ground_truth_split"), ("--dataset_name", "--split_name")):
        options = [*judged, "--solution_dataset", "none", names[0], "jars", names[1], "test"]
        assert "no such option" not in run_cli("eval", "eval_gen_solutions", *options).stderr.lower()
