"""Reading flows: a user's own folder works, and whatever is wrong in it is one line that says where."""

import dataclasses
import re
import shutil
from pathlib import Path

import pytest

from alpha_codium.errors import FlowError
from alpha_codium.flows.catalogue import copy_flow, flow_lines, list_flows
from alpha_codium.flows.loading import load_flow, shipped_flows
from alpha_codium.flows.stages import built_in_stages
from alpha_codium.flows.variables import TASK
from tests.flows.scripted_flow import ONE, SUM, program

FLOW = """
description = "Mine."
[[stages]]
kind = "write_code"
prompt = "mine"
"""
PROMPT = 'code = true\nuser = "MY OWN WORDS for {{ problem.name }}"\n'
REFLECTING = '[[stages]]\nkind = "reflect"\nprompt = "reflect"\nvalidate_prompt = "reflect"\n'


@pytest.fixture
def folder(tmp_path):
    """A flow of one stage in a user's folder."""
    made = tmp_path / "my_flow"
    made.mkdir()
    (made / "flow.toml").write_text(FLOW)
    (made / "mine.toml").write_text(PROMPT)
    return made


def error_of(folder):
    with pytest.raises(FlowError) as caught:
        load_flow(str(folder))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["alphacodium", "baseline"])
def test_the_shipped_flows_can_be_read(name):
    flow = load_flow(name)
    assert flow.name == name
    assert flow.description
    assert flow.stages


async def test_a_users_own_folder_is_a_flow(bench, folder):
    flow = load_flow(str(folder))
    assert (flow.name, flow.description) == ("my_flow", "Mine.")
    outcome = await bench.solve(ONE, {"unknown": program(SUM)}, flow=flow)
    assert outcome.calls[0].user.startswith("MY OWN WORDS for Sum")
    assert outcome.program == SUM
    assert outcome.candidate.flow == "my_flow"


def test_stages_may_come_in_any_order_and_number(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(shipped_flows()["alphacodium"], copy)
    (copy / "flow.toml").write_text(
        '[[stages]]\nkind = "initial_code"\n[[stages]]\nkind = "fix_ai_tests"\n' + REFLECTING
    )
    names = [type(stage).__name__ for stage in load_flow(str(copy)).stages]
    assert names == ["InitialCode", "FixAiTests", "Reflect"]


def test_the_fingerprint_follows_the_files(folder):
    before = load_flow(str(folder)).fingerprint
    assert load_flow(str(folder)).fingerprint == before
    (folder / "mine.toml").write_text(PROMPT + "temperature = 0.5\n")
    assert load_flow(str(folder)).fingerprint != before


def test_a_mistyped_flow_is_told_the_nearest():
    assert "there is no flow 'alphacodum' (did you mean 'alphacodium'?)" in error_of("alphacodum")


def test_a_folder_without_a_flow_says_so(tmp_path):
    assert error_of(tmp_path) == f"{tmp_path} holds no flow.toml"


@pytest.mark.parametrize(
    ("flow", "says"),
    [
        (FLOW.replace("write_code", "write_cod"), "there is no kind of stage 'write_cod' (did you mean 'write_code'?)"),
        (FLOW.replace('kind = "write_code"', "kind = 3"), "there is no kind of stage '3'"),
        (FLOW.replace('kind = "write_code"', ""), "there is no kind of stage ''"),
        (FLOW.replace("prompt =", "promt ="), "unknown parameter 'promt' (did you mean 'prompt'?)"),
        (FLOW.replace('"mine"', '"min"'), "there is no prompt 'min' in .* (did you mean 'mine'?)"),
        (FLOW.replace('"mine"', '"../mine"'), "there is no prompt '../mine'"),
        (FLOW.replace('"mine"', "7"), "there is no prompt 7"),
        (FLOW.replace('prompt = "mine"', ""), "there is no prompt 'code'"),
        (FLOW.replace("description", "descripton"), "unknown key 'descripton' (did you mean 'description'?)"),
        ('description = "no stages"', "a flow needs at least one [[stages]]"),
        ("stages = [1, 2]", "a flow needs at least one [[stages]]"),
        ("[[stages]", "is not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_flow_is_told(folder, flow, says):
    (folder / "flow.toml").write_text(flow)
    assert re.search(re.escape(says).replace(r"\.\*", ".*"), error_of(folder))


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        ('user = "write"', "mine.toml: the stage needs a program: say `code = true`"),
        ("code = true", "mine.toml: a prompt needs a text `user`"),
        ('cod = true\nuser = "write"', "mine.toml: unknown key 'cod' (did you mean 'code'?)"),
        (PROMPT + 'temperature = "hot"', "mine.toml: `temperature` must be a number, not 'hot'"),
        (PROMPT.replace("true", '"yes"'), "mine.toml: `code` must be true or false, not 'yes'"),
        ("code = true\nuser = 5", "mine.toml: `user` must be a text, not 5"),
        (PROMPT + 'fields = "all"', "mine.toml: `fields` must be a table, not 'all'"),
        (PROMPT + '[fields]\nwhy = "txt: the reason"', "prompt 'mine': fields.why: there is no kind of field 'txt'"),
        ("user = [", "mine.toml is not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_prompt_is_told_before_the_first_call(folder, prompt, says):
    (folder / "mine.toml").write_text(prompt)
    assert says in error_of(folder)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ("", "the stage needs the field 'self_reflection' in [fields]"),
        (
            '[fields]\nself_reflexion = "text"',
            "the stage needs the field 'self_reflection' in [fields] (did you mean 'self_reflexion'?)",
        ),
        (
            '[fields]\nself_reflection = "text"\n[fields.tests_explanations]\nkind = "records"\ninput = "text"',
            "the stage needs the field 'tests_explanations.output'",
        ),
    ],
)
def test_a_prompt_that_does_not_ask_for_what_its_stage_reads_is_told(folder, fields, says):
    (folder / "flow.toml").write_text(REFLECTING)
    (folder / "reflect.toml").write_text(f'user = "Think."\n{fields}')
    assert says in error_of(folder)


def test_a_prompt_that_is_no_utf8_is_told(folder):
    (folder / "mine.toml").write_bytes(b'user = "\xff"')
    assert "is not a text in UTF-8" in error_of(folder)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        (
            "a\nb {{ problm.name }}",
            "mine.toml, line 4: there is no variable 'problm' (did you mean 'problem'?); "
            "there are: beginning, is_function, kind, language, problem, tag, tests",
        ),
        ("{% if 0 %}\n{{ nothing }}{% endif %}", "mine.toml, line 4: there is no variable 'nothing'; there are: begin"),
        (
            "{{ problem.private_tests }}",
            "mine.toml, line 3: there is no problem.private_tests (did you mean 'public_tests'?); "
            "there are: name, description, public_tests",
        ),
        ("x\n\n{% for %}", "mine.toml, line 5: Expected an expression, got 'end of statement block'"),
        ("{% include 'tsk' %}", "mine.toml, line 3: there is no partial 'tsk' (did you mean 'task'?); there are: task"),
        ("{% include 'task' %}", "partials.toml, line 4: there is no variable 'nme'; there are: beginning, is_func"),
    ],
)
def test_a_mistake_in_a_template_is_found_before_the_first_call_with_its_file_and_line(folder, template, says):
    (folder / "mine.toml").write_text(f"code = true\nuser = '''\n{template}\n'''\n")
    (folder / "partials.toml").write_text("# parts\ntask = '''\n{{ problem.name }}\n{{ nme }}\n'''\n")
    assert says in error_of(folder)


def test_a_line_is_that_of_the_file_for_a_text_in_one_line(folder):
    (folder / "mine.toml").write_text('code = true\n\nuser = "{{ nothing }}"')
    assert "mine.toml, line 3: there is no variable 'nothing'" in error_of(folder)


def test_names_that_a_template_binds_are_known_in_its_partials(folder):
    loop = "{% for one in problem.public_tests %}{% set n = loop.index %}{% include 'task' %}{% endfor %}{{ range(3) }}"
    (folder / "mine.toml").write_text(f'code = true\nuser = "{loop}"')
    (folder / "partials.toml").write_text('task = "{{ one.input }} {{ n }}"')
    assert "mine" in load_flow(str(folder)).prompts


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(shipped_flows()))
def test_a_copy_of_a_flow_stands_alone_and_does_the_same(tmp_path, name):
    copy = copy_flow(name, tmp_path / "mine")
    original, copied = load_flow(name), load_flow(str(copy))
    assert copied.fingerprint == original.fingerprint
    assert "from =" not in "".join(path.read_text() for path in copy.glob("partials.toml"))
    with pytest.raises(FlowError, match="mine exists: choose another folder"):
        copy_flow(name, tmp_path / "mine")


@pytest.mark.thorough
def test_a_flow_is_shown_with_its_prompts_and_their_variables():
    lines = list(flow_lines(load_flow("alphacodium")))
    assert "variables of every prompt: problem, kind, is_function, beginning, language, tag, tests" in lines
    assert "   validate_prompt = validate_reflection; more variables: example, explanations" in lines
    assert "stdin: the flow alphacodium" in list(flow_lines(load_flow("auto")))
    assert [flow.name for flow in list_flows()] == sorted(shipped_flows())


def test_the_docs_describe_every_variable_and_the_prompts_that_have_it():
    text = (Path(__file__).parents[2] / "docs/flows.md").read_text()
    described = re.findall(r"^\| `(\w+)` \| [^|]+ \| (`\w+\.\w+`.*) \|$", text, re.MULTILINE)
    assert dict(described) == {
        name: ", ".join(f"`{each}`" for each in where) for name, where in variables_of_prompts().items()
    }
    for name in TASK:
        assert re.search(rf"^\| `{name}` \| [^|]+ \|$", text, re.MULTILINE)


def variables_of_prompts() -> dict[str, list[str]]:
    """For each variable that only some prompts have, the stages and parameters of these prompts."""
    found: dict[str, list[str]] = {}
    for kind, stage in built_in_stages().items():
        for field in dataclasses.fields(stage):
            for name in field.metadata.get("variables") or ():
                found.setdefault(name, []).append(f"{kind}.{field.name}")
    return found
