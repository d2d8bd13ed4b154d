"""An answer of a model can do no harm: it is text, and stays text, wherever it goes. Over real HTTP, all of it."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from alpha_codium.log import visible
from alpha_codium.runs.events import LONGEST_TEXT, Excerpt, ModelAnswer
from tests.flows.scripted_flow import ONE, SUM, Bench, chosen, fields, plan, program
from tests.gen.running import KEY, candidates_in, model_arguments, run_cli
from tests.servers.scripted import ScriptedServer, Status, Text

JINJA = (
    "{{ 7 * 7 }} {% for n in range(99) %}boom{% endfor %} {{ problem.__class__ }} {% include 'problem' %} {# gone #}"
)
# What a terminal would obey: a colour, the clipboard, the title, a cleared screen, the direction of writing, a bell.
NASTY = "\x1b[31m\x1b]52;c;aGk=\x07\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\x08\x7f"
OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b\\][0-9]")


@pytest.fixture(scope="module")
def bench():
    with Bench() as running:
        yield running


class Watch:
    """What this process opens, lists and starts while the watch is on; an audit hook can't be taken out again."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple) -> None:
        if self.on and event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.system"):
            self.seen.append(str(arguments[0]))

    @contextmanager
    def watched(self) -> Iterator[list[str]]:
        self.seen, self.on = [], True
        try:
            yield self.seen
        finally:
            self.on = False


@pytest.fixture(scope="module")
def watch():
    return Watch()


@pytest.mark.thorough
async def test_jinja_in_an_answer_is_not_rendered_where_it_comes_back_in_a_later_prompt(bench):
    evil = plan(f"addition {JINJA}") | {"content": JINJA}
    answers = {
        "reflect": fields(
            self_reflection=JINJA, tests_explanations=[{"input": "1 2", "output": "3", "explanation": JINJA}]
        ),
        "possible_solutions": fields(possible_solutions=[evil, plan("counting")]),
        "choose_best": fields(name=f"addition {JINJA}", content=JINJA, why=JINJA, flow=[JINJA]),
        "initial_code": program(f"# {JINJA}\nprint(0)"),
    }
    outcome = await bench.solve(ONE, answers)
    assert JINJA in outcome.user("possible_solutions")
    assert JINJA in outcome.user("choose_best")
    assert JINJA in outcome.user("initial_code")
    assert JINJA in outcome.user("fix")
    for call in outcome.calls:
        assert "49" not in call.user
        assert "boomboom" not in call.user
    assert outcome.program == SUM


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["{path}", "file://{path}", "@{path}", "!include {path}", "{{% include '{path}' %}}"])
async def test_a_path_in_an_answer_is_not_opened(bench, watch, tmp_path, way):
    secret = tmp_path / "the_secret.txt"
    secret.write_text("THE SECRET ITSELF")
    text = way.format(path=secret)
    answers = {
        "reflect": fields(
            self_reflection=text, tests_explanations=[{"input": text, "output": text, "explanation": text}]
        ),
        "possible_solutions": fields(possible_solutions=[plan(text)]),
        "choose_best": chosen(text),
        "generate_ai_tests": fields(tests=[{"input": text, "output": text, "explanation": text}]),
        "initial_code": f"{text}\n```python {secret}\nprint(0)\n```\n",
    }
    with watch.watched() as opened:
        outcome = await bench.solve(ONE, answers)
    assert outcome.program == SUM
    assert opened, "the watch sees nothing"
    assert not [name for name in opened if "the_secret" in name]
    assert not [call for call in outcome.calls if "THE SECRET ITSELF" in str(call.body)]


def laughs() -> str:
    lines = ['a: &a ["lol", "lol", "lol", "lol", "lol", "lol", "lol", "lol", "lol"]']
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    return "\n".join([*lines, "self_reflection: *i", "tests_explanations: []"])


BOMBS = {
    "billion laughs": laughs(),
    "a tag": 'self_reflection: !!python/object/apply:os.system ["touch {path}"]\ntests_explanations: []',
    "a new": "self_reflection: !!python/object/new:subprocess.Popen [[touch, '{path}']]\ntests_explanations: []",
    "an anchor": "self_reflection: &x [*x]\ntests_explanations: *x",
    "a merge": "base: &b {self_reflection: x, tests_explanations: []}\n<<: *b",
    "deep": "self_reflection: " + "[" * 100_000,
    "deep JSON": '{"self_reflection": ' + "[" * 100_000,
    "a long key": "? " + "x" * 190_000 + "\n: y",
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BOMBS)
async def test_yaml_that_would_do_something_does_nothing(bench, watch, tmp_path, name):
    bomb = BOMBS[name].replace("{path}", str(tmp_path / "touched"))
    with watch.watched() as opened:
        outcome = await bench.solve(ONE, {"reflect": f"```yaml\n{bomb}\n```"}, {"solve.max_format_retries": 1})
    assert outcome.program == SUM
    # Refused, or taken for the text that it is.
    assert 1 <= outcome.prompts.count("reflect") <= 2
    assert not list(tmp_path.iterdir())
    assert not [name for name in opened if "touch" in name]
    assert max(len(call.user) for call in outcome.calls) < 10_000


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["x" * 3_000_000, "```python\n" + "x = 1\n" * 500_000, "a: |\n" + "  y\n" * 700_000])
async def test_a_huge_answer_is_cut_and_the_sample_goes_on(bench, text):
    answers = {"reflect": text, "initial_code": [text, program(SUM)]}
    outcome = await bench.solve(ONE, answers, {"solve.max_format_retries": 0})
    assert outcome.program == SUM
    assert outcome.candidate.truncated_answers == 2
    excerpts = [event.text for event in outcome.all(ModelAnswer) if isinstance(event.text, Excerpt)]
    assert [len(excerpt.text) for excerpt in excerpts] == [LONGEST_TEXT] * 2
    assert max(len(call.user) for call in outcome.calls) < 20_000


def own_problem(name: str, kind: str = "") -> str:
    test = {"input": ["1\n"], "output": ["1\n"]}
    return json.dumps({"name": name, "description": f"Echo <{kind}>. {NASTY}", "public_tests": test}) + "\n"


@pytest.mark.parametrize(
    "name", ["../../../evil", "/tmp/evil_absolute", "a/../../b", "..", "-rf", f"n{NASTY}", "x" * 5000]
)
def test_whatever_a_problem_and_a_program_are_called_nothing_is_written_outside_the_run_folder(home, tmp_path, name):
    (tmp_path / "problems.jsonl").write_text(own_problem(name))
    answer = "I save it as ../../evil.py:\n```python filename=../../evil.py\n# file: /tmp/evil.py\nprint(input())\n```"
    before = {path for path in tmp_path.rglob("*") if home not in path.parents}
    with ScriptedServer(lambda body: answer) as server:
        at = ("--dataset_name", tmp_path / "problems.jsonl", "--flow", "baseline", *model_arguments(server))
        done = run_cli("gen", "solve_set", "--run", "r", *at)
    assert done.returncode == 0, done.stderr
    assert {path for path in tmp_path.rglob("*") if home not in path.parents} - before <= {home}
    assert not Path("/tmp/evil.py").exists()
    assert not Path("/tmp/evil_absolute").exists()
    [(found, _, code, _)] = candidates_in(home / "runs/r/solutions")
    assert found == name
    assert "print(input())" in code
    assert len(list((home / "runs/r/transcripts").rglob("*.json"))) == 1


def test_control_characters_are_made_visible_and_nothing_else_is():
    shown = visible(NASTY)
    assert not OBEYED.search(shown)
    assert "\x1b" not in shown
    assert r"\x1b]52;c;aGk=\x07" in shown
    assert r"\u202egnp.exe" in shown
    for text in ("a\n\tb", "naïve — 漢字 שלום 🙂", r"\x1b"):
        assert visible(text) == text


def on_terminal(arguments: list[object], home: Path) -> tuple[int, str]:
    """The status of a command, and all that it writes to a terminal."""
    ours, theirs = pty.openpty()
    env = os.environ | {"GENCODE_HOME": str(home), "OPENAI_API_KEY": KEY, "TERM": "xterm", "COLUMNS": "200"}
    command = [sys.executable, "-m", "alpha_codium", *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return process.wait(timeout=240), said.decode()


def assert_harmless(said: str) -> None:
    """No more than what the progress display and the colours of log lines need."""
    left = re.sub(r"\x1b\[(\?25[lh]|[0-9;]*m|2K|1A)", "", said)
    assert "\x1b" not in left, repr(left)
    assert not OBEYED.search(left), repr(left)
    # Not the clear-screen, nor the colour, of the hostile text.
    assert "\x1b[2J" not in said


@pytest.mark.thorough
def test_no_terminal_escape_from_a_model_a_provider_or_a_problem_is_printed(home, tmp_path):
    replies = {
        "no program": Text(f"I can't. {NASTY}"),
        "provider": Status(500, f"down {NASTY}"),
        "refused": Status(400, f"bad {NASTY}"),
        "program": Text(f"```python\n1 {NASTY}\n```"),
    }
    (tmp_path / "problems.jsonl").write_text("".join(own_problem(f"{kind} {NASTY}", kind) for kind in replies))

    def script(body):
        return next(reply for kind, reply in replies.items() if f"<{kind}>" in str(body["messages"]))

    with ScriptedServer(script) as server:
        model = ["--api_base", server.api_base, "--model", f"openai/m{NASTY}"]
        at = ["--dataset_name", tmp_path / "problems.jsonl", "--flow", "baseline", "-o", "config.max_retries=1", *model]
        status, said = on_terminal(["gen", "solve_set", *at, "-v"], home)
    assert status == 1, said
    assert "down" in said and "bad" in said and "unfinished" in said, said
    assert_harmless(said)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments", [["--problem_number", 0], ["--problem_name", f"none {NASTY}"]], ids=["solved", "unknown"]
)
def test_one_problem_and_an_error_line_obey_nobody_either(home, tmp_path, arguments):
    (tmp_path / "problems.jsonl").write_text(own_problem(f"one {NASTY}"))
    with ScriptedServer(lambda body: f"```python\nprint(input())  # {NASTY}\n```") as server:
        at = ["--dataset_name", tmp_path / "problems.jsonl", "--flow", "baseline", *model_arguments(server)]
        status, said = on_terminal(["gen", "solve_problem", *at, *arguments, "-vv"], home)
    assert status == (0 if arguments[1] == 0 else 2), said
    assert_harmless(said)
    assert visible(NASTY).splitlines()[0] in said
