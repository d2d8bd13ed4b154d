"""Options as fields: what is derived from them."""

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import Annotated, Literal, get_origin

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import alpha_codium as ac
from alpha_codium.app.options import judging, repository, shared, solving
from alpha_codium.app.resuming import RESUMABLE_ENTRIES
from alpha_codium.cli.fields import fields_of
from alpha_codium.errors import UserError
from alpha_codium.gen import choosing
from alpha_codium.options import Argument, Option, in_options, recorded, use_case

MODELS = [
    each
    for module in (judging, repository, shared, solving)
    for each in vars(module).values()
    if isinstance(each, type) and each.__name__.endswith("Options")
]


@dataclass(frozen=True, kw_only=True)
class Base:
    seed: Annotated[int, Option("The seed of `rate`.", least=0)] = 0
    rate: Annotated[float | None, Option("A share.", above=0, most=1)] = None


@dataclass(frozen=True)
class Options(Base):
    name: Annotated[str, Option("The name.", "--full_name")]
    _: KW_ONLY
    kind: Annotated[Literal["a", "b"] | None, Option("The kind.")] = None
    words: Annotated[Sequence[str], Option("Words.", changes_result=False)] = ()
    ks: Annotated[Sequence[int], Option("Numbers.", parse=shared.numbers)] = (1, 5)
    file: Annotated[Path | None, Option("A file.")] = None
    flag: Annotated[bool, Option("A flag.")] = False
    hook: Annotated[object, Argument("A hook.")] = None


@click.command()
@fields_of(Options)
def command(**given: object) -> None:
    print(Options(**given))  # type: ignore[arg-type]


@use_case(Options)
async def show_async(options: Options) -> str:
    """Show the options.

    Raises nothing.
    """
    return repr(options)


def invoked(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command, arguments)
    return done.exit_code, done.output


def test_a_command_and_a_function_give_the_same_options() -> None:
    typed = ["--full_name", "x", "--kind", "a", "--words", "v", "--words", "w", "--ks", "5,1", "--file", "f", "--flag"]
    given = {"kind": "a", "words": ("v", "w"), "ks": (1, 5), "file": Path("f"), "flag": True}
    assert invoked(*typed) == (0, f"{Options('x', **given)}\n")  # type: ignore[arg-type]
    assert asyncio.run(show_async("x", **given)) == repr(Options("x", **given))  # type: ignore[arg-type]
    assert invoked("--full_name", "x") == (0, f"{Options('x')}\n")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ((), "Missing option '--full_name'"),
        (("--full_name", "x", "--kind", "c"), "'c' is not one of 'a', 'b'"),
        (("--full_name", "x", "--seed", "-1"), "-1 is not in the range x>=0"),
        (("--full_name", "x", "--rate", "0"), "0.0 is not in the range 0<x<=1"),
        (("--full_name", "x", "--ks", "1,x"), "'1,x' is not a list of numbers above 0, such as 1,5,10"),
        (("--full_name", "x", "--hook", "h"), "No such option"),
    ],
)
def test_what_cannot_be_is_refused_on_the_command_line(typed: tuple[str, ...], message: str) -> None:
    code, output = invoked(*typed)
    assert (code, message in output) == (2, True), output


def test_a_misspelt_argument_is_refused_in_python() -> None:
    with pytest.raises(TypeError, match="nam"):
        asyncio.run(show_async("x", nam=1))  # type: ignore[call-arg]


def test_the_help_names_options_and_defaults() -> None:
    _, text = invoked("--help")
    assert "The seed of --rate." in text
    assert "[default: 1,5]" in text


def test_the_documentation_of_a_function_has_its_arguments() -> None:
    text = inspect.getdoc(show_async) or ""
    assert text.startswith("Show the options.\n\nRaises nothing.\n\nArguments:\n    ")
    assert {"    name: The name.", "    seed: The seed of `rate`.", "    hook: A hook."} <= set(text.splitlines())
    assert str(inspect.signature(show_async)).startswith("(name: str, *, kind: ")
    assert list(inspect.signature(show_async).parameters)[-4:] == ["flag", "seed", "rate", "hook"]
    assert list(inspect.signature(ac.score).parameters)[:2] == ["file", "benchmark"]
    assert list(inspect.signature(ac.evaluate).parameters)[:5] == ["solutions", "problems", "test_type", "sandbox", "k"]
    assert "limit: Take only the first N problems." in (ac.score.__doc__ or "")


def test_only_texts_and_numbers_of_options_are_recorded() -> None:
    options = Options("x", words=["a"], ks=(2,), file=Path("f"), hook=[1])
    assert recorded(options) == {"name": "x", "words": ["a"], "ks": [2], "flag": False, "seed": 0}


def test_a_message_names_options_in_place_of_arguments() -> None:
    assert (
        in_options("give `split`, not `x` or split", {"split": "--split_name"}) == "give --split_name, not `x` or split"
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_argument_is_described(model: type) -> None:
    assert [field.name for field in fields(model) if get_origin(field.type) is not Annotated] == []


def test_what_may_differ_on_resume_is_what_changes_no_result() -> None:
    assert {
        "versions",
        "options",
        "began_in",
        "written_to",
        "output_dataset_name",
        "overwrite",
        "run",
        "resume",
    } == RESUMABLE_ENTRIES


def test_the_default_flow_is_the_one_of_the_flows() -> None:
    assert solving.DEFAULT_FLOW == choosing.DEFAULT_FLOW


@given(st.text(max_size=20))
def test_a_list_of_numbers_is_read_or_refused(text: str) -> None:
    try:
        found = shared.numbers(text)
    except ValueError:
        return
    assert found and list(found) == sorted(set(found)) and found[0] > 0
    assert shared.numbers(",".join(map(str, found))) == found


def test_a_path_is_a_text_where_no_path_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file or folder"):
        ac.score(tmp_path / "samples.jsonl", dataset=tmp_path / "none.jsonl")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="there is no run"):
        ac.compare([tmp_path / "none"])  # type: ignore[list-item]
    with pytest.raises(UserError, match="there is no run"):
        ac.replay(tmp_path / "none")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="`runs` is empty"):
        ac.compare([])


def test_a_text_where_several_may_be_given_is_one_of_them() -> None:
    assert "words=('ab',)" in asyncio.run(show_async("x", words="ab"))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"kind": "c"}, "`kind` must be one of a, b, not 'c'"),
        ({"flag": "no"}, "`flag` must be True or False, not 'no'"),
        ({"seed": -1}, "`seed` must be a whole number, at least 0, not -1"),
        ({"seed": 1.5}, "`seed` must be a whole number, at least 0, not 1.5"),
        ({"seed": None}, "`seed` must be a whole number, at least 0, not None"),
        ({"rate": 0}, "`rate` must be a number, above 0 and at most 1, not 0"),
        ({"rate": float("nan")}, "`rate` must be a number, above 0 and at most 1, not nan"),
        ({"rate": "1"}, "`rate` must be a number, above 0 and at most 1, not '1'"),
    ],
)
def test_a_value_that_the_command_would_refuse_is_refused_in_python(given: dict[str, object], fault: str) -> None:
    with pytest.raises(ac.UserError) as raised:
        asyncio.run(show_async("x", **given))  # type: ignore[arg-type]
    assert str(raised.value) == fault
