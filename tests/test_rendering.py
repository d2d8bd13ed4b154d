"""Prompts from templates."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.errors import FlowError
from alpha_codium.rendering import Prompt, load_prompt


def written(folder: Path, text: str, name: str = "ask.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_prompt_is_read_and_filled(tmp_path: Path) -> None:
    path = written(
        tmp_path, 'system = "You are {{ role }}."\nuser = "Solve {{ name }}."\ntemperature = 0.7\ncode = true'
    )
    prompt = load_prompt(path)
    assert (prompt.name, prompt.temperature, prompt.code) == ("ask", 0.7, True)
    assert prompt.render({"role": "a judge", "name": "A"}) == ("You are a judge.", "Solve A.")


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_what_is_put_in_stays_text_and_is_never_rendered_again(value: str) -> None:
    _, user = Prompt("p", "<{{ value }}>").render({"value": value})
    assert user == f"<{value}>".strip()


@pytest.mark.parametrize("value", ["{{ 7 * 7 }}", "{% raw %}", "{# x #}", "<b>&amp;</b>", "{{ value.__class__ }}"])
def test_template_marks_in_a_value_are_text(value: str) -> None:
    assert Prompt("p", "<{{ value }}>").render({"value": value})[1] == f"<{value}>"


def test_a_variable_that_is_not_given_is_an_error_that_names_it() -> None:
    with pytest.raises(FlowError, match="prompt 'p' can't be rendered: 'nothing' is undefined"):
        Prompt("p", "{{ nothing }}").render({})


@pytest.mark.parametrize(
    "template",
    ["{{ ''.__class__.__mro__ }}", "{{ x.append(1) }}", "{% include 'none' %}", "{{ 1 + 'a' }}", "{% if %}"],
)
def test_a_template_can_not_reach_outside_nor_change_what_it_is_given(template: str) -> None:
    values: list[int] = []
    with pytest.raises(FlowError, match="can't be rendered"):
        Prompt("p", template).render({"x": values})
    assert values == []


def test_partials_beside_a_prompt_can_be_included(tmp_path: Path) -> None:
    written(tmp_path, 'tests = "{{ name }}!"', "partials.toml")
    prompt = load_prompt(written(tmp_path, """user = "Hello {% include 'tests' %}" """))
    assert prompt.render({"name": "A"})[1] == "Hello A!"


def test_partials_of_another_folder_serve_too_and_the_own_go_before(tmp_path: Path) -> None:
    for folder, text in (("one", "a = 'A'\nb = 'B'\nfrom = '../none'"), ("two", "from = '../one'\nb = 'own'")):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder, text, "partials.toml")
    ask = """user = "{% include 'a' %} {% include 'b' %}" """
    assert load_prompt(written(tmp_path / "two", ask)).render({})[1] == "A own"
    for wrong, said in (("from = 1", "must be the folder of another flow"), ("from = '../none'", "can't be read")):
        written(tmp_path / "two", wrong, "partials.toml")
        with pytest.raises(FlowError, match=said):
            load_prompt(tmp_path / "two/ask.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("user = 'x'\nsytem = 'y'", "unknown key 'sytem' (did you mean 'system'?)"),
        ("system = 'x'", "needs a text `user`"),
        ("user = '  '", "needs a text `user`"),
        ("user = ", "is not valid TOML"),
    ],
)
def test_a_broken_prompt_file_is_one_line_with_its_path(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FlowError) as caught:
        load_prompt(written(tmp_path, text))
    assert said in str(caught.value) and "ask.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_prompt_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FlowError, match="can't be read: No such file"):
        load_prompt(tmp_path / "none.toml")


def test_a_prompt_file_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ask.toml"
    path.write_bytes(b"user = '\xff'")
    with pytest.raises(FlowError, match="is not a text in UTF-8"):
        load_prompt(path)
