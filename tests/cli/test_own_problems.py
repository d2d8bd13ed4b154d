"""Problems of one's own: a statement goes in, a program comes out, and nothing else on stdout."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.data.load import load_problem_file
from alpha_codium.data.statements import problem_of_statement
from tests.gen.running import ECHO, KEY, assert_refused, model_arguments, problem_record, run_cli
from tests.servers.scripted import ScriptedServer, Status, Text, last_user
from tests.support import ROOT

STATEMENT = "# Echo\n\nPrint the line that you read.\n"
FULL = "error: cannot write the answer to stdout: No space left on device"
FUNCTION = 'def echo(line):\n    """The line itself.\n\n    >>> echo("a")\n    \'a\'\n    """\n'
# What a terminal would obey: a colour, the clipboard, the title, the direction of writing.
NASTY = "print('a')  # \x1b[31mred \x1b]52;c;aGk=\x07 \x9b31m \u202eltr \r\x08"


@pytest.fixture
def server(home):
    with ScriptedServer(lambda body: ECHO) as running:
        yield running


def solve(server, *arguments):
    return run_cli("gen", "solve_problem", "--flow", "baseline", *arguments, *model_arguments(server))


def environment(home: Path) -> dict[str, str]:
    return os.environ | {"GENCODE_HOME": str(home), "OPENAI_API_KEY": KEY}


def command(server, *arguments) -> list[str]:
    own = ["gen", "solve_problem", "--flow", "baseline", *map(str, arguments), *model_arguments(server)]
    return [sys.executable, "-m", "alpha_codium", *own]


@pytest.mark.thorough
def test_a_statement_from_stdin_becomes_a_program_on_stdout_byte_for_byte_and_nothing_else_also_with_v(home):
    with ScriptedServer(lambda body: f"```python\n{NASTY}\n# é\n```") as server:
        done = subprocess.run(
            command(server, "--statement", "-", "-vv"),
            input=STATEMENT.encode(),
            capture_output=True,
            # The locale's encoding is not the program's.
            env=environment(home) | {"PYTHONIOENCODING": "ascii"},
            check=True,
            timeout=240,
        )
    # What a terminal is shown: tests/gen/test_harmless.py
    assert done.stdout.decode() == f"{NASTY}\n# é\n"
    assert b"Echo" in done.stderr
    assert "Print the line that you read." in last_user(server.requests[0].body)


def test_without_a_program_nothing_is_on_stdout_and_the_status_is_1(home, tmp_path):
    (tmp_path / "s.md").write_text(STATEMENT)
    with ScriptedServer(lambda body: "I can't.") as server:
        done = solve(server, "--statement", tmp_path / "s.md")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no program: model: " in done.stderr


def test_where_nothing_tells_samples_apart_the_first_program_is_enough(home, tmp_path):
    (tmp_path / "s.md").write_text(STATEMENT)
    answers = iter(["I can't.", "I can't.", "I can't.", ECHO])
    with ScriptedServer(lambda body: next(answers, ECHO)) as server:
        done = solve(server, "--statement", tmp_path / "s.md", "-o", "dataset.num_iterations=5")
        assert len(server.requests) == 4
    assert (done.returncode, done.stdout) == (0, "print(input())\n")


@pytest.mark.thorough
def test_who_is_to_type_the_statement_is_told_how_to_end_it(home):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "alpha_codium", "gen", "solve_problem", "--statement", "-", "--model", "openai/x"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home),
        text=True,
    )
    os.write(ours, b"\n\x04")  # an empty one: nothing is asked
    said, told = process.communicate(timeout=240)
    os.close(ours)
    os.close(theirs)
    assert (process.returncode, said) == (2, ""), told
    assert "Ctrl-D" in told and "it is empty" in told


def test_code_that_ends_in_a_function_is_completed(home, tmp_path):
    (tmp_path / "echo.py").write_text(FUNCTION)
    with ScriptedServer(lambda body: f"```python\n{FUNCTION}    return line\n```") as server:
        statement = ("--statement", tmp_path / "echo.py")
        done = run_cli("gen", "solve_problem", *statement, *model_arguments(server))
    assert done.returncode == 0, done.stderr
    assert FUNCTION in last_user(server.requests[0].body)
    names: dict = {}
    exec(done.stdout, names)
    assert names["echo"]("x") == "x"


@pytest.mark.parametrize("tests", [{}, {"public_tests": {"input": [], "output": []}}], ids=["none", "empty"])
def test_a_problem_file_needs_no_tests(server, tmp_path, tests):
    (tmp_path / "my.json").write_text(json.dumps({"name": "mine", "description": "Print the line."} | tests))
    done = solve(server, "--problem_file", tmp_path / "my.json")
    assert (done.returncode, done.stdout) == (0, "print(input())\n")
    assert "no public tests; 1 call," in done.stderr


def test_the_whole_flow_solves_a_statement_without_tests(home, tmp_path):
    (tmp_path / "s.md").write_text(STATEMENT)
    with ScriptedServer(lambda body: ECHO) as server:
        done = run_cli("gen", "solve_problem", "--statement", tmp_path / "s.md", *model_arguments(server))
    assert (done.returncode, done.stdout) == (0, "print(input())\n")


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ((), ["give exactly one of --problem_name", "--statement"]),
        (("--statement", "s.md", "--problem_file", "my.json"), ["give exactly one of --problem_name"]),
        (("--statement", "s.md", "--problem_number", "0"), ["give exactly one of --problem_name"]),
        (("--statement", "s.md", "--dataset_name", "d"), ["--dataset_name can't be combined"]),
        (("--statement", "missing.md"), ["no file missing.md"]),
        (("--statement", "empty.md"), ["empty"]),
        (("--statement", "binary"), ["contains the character 0"]),
        (("--statement", "latin.md"), ["UTF-8"]),
        (("--statement", "my.json"), ["my.json", "use --problem_file"]),
        (("--problem_file", "missing.json"), ["no problem file"]),
        (("--problem_file", "s.md"), ["must end in"]),
        (("--problem_file", "broken.json"), ["broken.json"]),
    ],
)
def test_a_source_that_is_none_is_one_line_and_status_2(server, sources, words):
    for name, content in {
        "s.md": STATEMENT.encode(),
        "empty.md": b"\n\n",
        "binary": b"\x00\x01",
        "latin.md": b"caf\xe9",
        "broken.json": b'{"name": ',
    }.items():
        Path(name).write_bytes(content)
    done = solve(server, *sources)
    assert_refused(done, *words)
    assert done.stdout == ""
    assert server.requests == []


def test_what_a_library_prints_is_not_taken_for_the_program(server, home, tmp_path, monkeypatch):
    from alpha_codium.app import solving

    real = solving.solve_problem

    def noisy(**arguments):
        print("Give Feedback / Get Help")
        return real(**arguments)

    monkeypatch.setattr(solving, "solve_problem", noisy)
    (tmp_path / "s.md").write_text(STATEMENT)
    done = solve(server, "--statement", tmp_path / "s.md")
    assert done.stdout == "print(input())\n"
    assert "Give Feedback" in done.stderr


def test_the_examples_of_the_page_are_what_it_says_of_them(tmp_path):
    page = (ROOT / "docs/own_problems.md").read_text()
    shown = {kind: re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)[1] for kind in ("markdown", "python", "json")}
    prose, function = problem_of_statement(shown["markdown"]), problem_of_statement(shown["python"])
    assert (prose.name, prose.execution.kind) == ("Beans", "stdin")
    assert (function.name, function.execution.kind) == ("longest", "assertions")
    (tmp_path / "my.json").write_text(shown["json"])
    assert load_problem_file(tmp_path / "my.json").description == prose.description


@pytest.mark.thorough
def test_the_commands_of_the_page_go_from_a_file_of_problems_to_the_verdicts(home):
    page = (ROOT / "docs/own_problems.md").read_text()
    problems = re.findall(r"```json\n(.*?)```", page, re.DOTALL)[1]
    commands = re.search(r"```console\n(.*?)```", page, re.DOTALL)[1].splitlines()
    Path("problems.json").write_text(problems)
    (record,) = json.loads(problems)
    with ScriptedServer(lambda _: f"```python\n{record['solutions']['solution'][0]}```") as server:
        said = ""
        for line in commands:
            here = shlex.join(model_arguments(server))
            program, *words = shlex.split(line.removeprefix("$ ").replace("--model local/qwen2.5-coder-0.5b", here))
            done = run_cli(*words)
            assert (program, done.returncode) == ("gencode", 0), done.stderr
            said += done.stdout
    assert len(commands) == 4
    assert "pass@1   1.0000" in said
    assert "Beans, sample 0: accepted, 1 of 1 test passed" in said
    validated = run_cli("data", "validate", "mine")
    assert validated.returncode == 0, validated.stderr


def test_a_provider_that_fails_leaves_stdout_empty(home, tmp_path):
    (tmp_path / "s.md").write_text(STATEMENT)
    with ScriptedServer(faults=[lambda _: Status(500, "down")]) as server:
        done = solve(server, "--statement", tmp_path / "s.md", "-o", "config.max_retries=0")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("redirected", "status", "said"),
    [
        ("--statement - <&-", 2, "error: cannot read a statement: stdin is closed"),
        pytest.param(
            "--statement s.md >&-", 2, "error: cannot write the answer: stdout is closed", marks=pytest.mark.slow
        ),
        pytest.param("--statement s.md >/dev/full", 2, FULL, marks=pytest.mark.slow),
        pytest.param("--statement s.md | :", 0, "no public tests", marks=pytest.mark.slow),
    ],
)
def test_where_there_is_nothing_to_read_or_write_one_line_says_so(server, home, tmp_path, redirected, status, said):
    (tmp_path / "s.md").write_text(STATEMENT)
    done = subprocess.run(
        ["bash", "-c", f"{shlex.join(command(server))} {redirected}"],
        capture_output=True,
        env=environment(home),
        cwd=tmp_path,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stdout) == (status, b"")
    lines = [line for line in done.stderr.decode().splitlines() if not line.startswith("look at it: ")]
    assert said in lines[-1]
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_examples_in_a_statement_are_public_tests_and_it_says_so(home, tmp_path):
    (tmp_path / "s.md").write_text(f"{STATEMENT}\n\n## Example\n\nInput:\n7\n\nOutput:\n7\n")
    with ScriptedServer(lambda _: ECHO) as server:
        done = solve(server, "--statement", tmp_path / "s.md")
    assert done.returncode == 0, done.stderr
    assert "1 public test taken from the statement" in done.stderr
    assert "1/1 public test" in done.stderr


def test_where_no_examples_are_recognized_it_says_how_to_give_tests(server, tmp_path):
    (tmp_path / "s.md").write_text(f"{STATEMENT}\n\nFor 7 it prints 7.\n")
    (tmp_path / "my.json").write_text(json.dumps(problem_record(1)))
    said = "no examples were recognized in the statement: give them below a heading, `## Examples`, or as"
    assert said in solve(server, "--statement", tmp_path / "s.md").stderr
    assert "no examples" not in solve(server, "--problem_file", tmp_path / "my.json").stderr


@pytest.mark.parametrize("more", [(), ("--dry_run",)])
def test_a_problem_without_a_description_is_refused_before_the_first_call(home, tmp_path, more):
    (tmp_path / "b.json").write_text('{"name": "B"}')
    said = "the problem 'B' has no description, so there is nothing to ask a model"
    with ScriptedServer(lambda _: ECHO) as server:
        one = solve(server, "--problem_file", tmp_path / "b.json", *more)
        several = run_cli("gen", "solve_set", "--dataset_name", tmp_path / "b.json", *model_arguments(server), *more)
        assert not server.requests
    for done in (one, several):
        assert (done.returncode, said in done.stderr, done.stdout) == (2, True, "")


def test_the_calls_and_the_stage_are_shown_while_a_program_is_generated(home, tmp_path):
    (tmp_path / "s.md").write_text(STATEMENT)
    answers = iter(["I can't.", ECHO])
    with ScriptedServer(lambda body: next(answers)) as server:
        done = solve(server, "--statement", tmp_path / "s.md")
        quiet = solve(server, "--statement", tmp_path / "s.md", "-q")
    assert re.search(r"^calls: 2 in \d+ s, stage 1 of 1 \(write_code\), \d+ tokens$", done.stderr, re.MULTILINE)
    assert "calls:" not in quiet.stderr


def test_the_last_line_counts_the_calls_and_the_cost_of_all_samples(home, tmp_path):
    (tmp_path / "s.md").write_text(f"{STATEMENT}\nFor example:\nInput: a\nOutput: b\n")
    priced = ("-o", "prices.models={'openai/scripted' = {input = 1000000, output = 0}}")
    with ScriptedServer(lambda body: Text("```python\nprint('c')\n```", prompt_tokens=2)) as server:
        several = ("-o", "dataset.num_iterations=3", *priced, "--json", tmp_path / "x.json")
        done = solve(server, "--statement", tmp_path / "s.md", *several)
    assert "0 of 1 public test; 3 calls" in done.stderr
    assert "cost $6.0000" in done.stderr
    values = json.loads((tmp_path / "x.json").read_text())
    assert (values["all_calls"], values["all_cost"]) == (3, 6.0)
    assert values["llm_calls"] == 1
