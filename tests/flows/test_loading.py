"""Reading flows: a user's own folder works, and whatever is wrong in it is one line that says where."""

import re
import shutil

import pytest

from alpha_codium.errors import FlowError
from alpha_codium.flows.loading import load_flow, shipped_flows
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
    assert "is not valid TOML" in error_of(folder)


async def test_a_template_with_a_mistake_ends_the_run_with_one_line(bench, folder):
    (folder / "mine.toml").write_text('code = true\nuser = "{{ problem.nme }}"')
    with pytest.raises(FlowError, match=r"prompt 'mine' can't be rendered: .*nme"):
        await bench.solve(ONE, flow=load_flow(str(folder)))
    (folder / "mine.toml").write_text('code = true\nuser = "{% for %}"')
    with pytest.raises(FlowError, match="prompt 'mine' can't be rendered"):
        await bench.solve(ONE, flow=load_flow(str(folder)))
