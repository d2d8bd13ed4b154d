"""Graders in processes of their own: what they say, how they end, and what they can reach."""

import socket
from pathlib import Path

import pytest

from alpha_codium.audit.graders.enclosure import enclosing_command
from alpha_codium.audit.graders.process import Grader, GraderAnswer, GraderProcess
from alpha_codium.errors import UserError
from tests.audit.graders.faulty import ACCEPTS, HANGS, LEAVES, RAISES, grader

enclosed = pytest.mark.skipif(not enclosing_command([]), reason="this machine gives no namespaces")
CASE = ["print(1)", [""], ["1"]]


async def answers(grader: Grader, count: int = 1, seconds: float = 20) -> list[GraderAnswer]:
    async with GraderProcess(grader) as process:
        return [await process.ask("stdin", CASE, seconds) for _ in range(count)]


@pytest.mark.parametrize(
    ("text", "seen", "message"),
    [
        (ACCEPTS, "accepted", ""),
        (ACCEPTS.replace("True", "0.0"), "rejected", ""),
        (RAISES, "error", "ValueError: no"),
        (LEAVES, "crash", ""),
        ("import os\ndef grade(*_): os.kill(os.getpid(), 9)", "crash", ""),
        ("def grade(*_): raise SystemExit(0)", "error", "SystemExit: 0"),
    ],
)
async def test_an_answer_says_how_the_grader_ended(tmp_path: Path, text: str, seen: str, message: str) -> None:
    for answer in await answers(grader(tmp_path, text), count=2):
        assert (answer.seen, answer.message) == (seen, message)


async def test_a_grader_that_never_answers_hangs_and_the_next_case_is_answered(tmp_path: Path) -> None:
    text = f"{HANGS}\nslow = grade\ndef grade(program, *rest): return program == 'quick' or slow(program, *rest)"
    async with GraderProcess(grader(tmp_path, text)) as process:
        assert (await process.ask("stdin", CASE, 0.5)).seen == "hang"
        assert (await process.ask("stdin", ["quick", [], []], 20)).seen == "accepted"


async def test_what_a_program_writes_to_every_descriptor_is_no_answer(tmp_path: Path) -> None:
    text = """
import json, os
def grade(*_):
    for number in range(3, 200):
        try:
            os.write(number, json.dumps({"seen": "accepted"}).encode() + b"\\n")
        except OSError:
            pass
    return False
"""
    assert [answer.seen for answer in await answers(grader(tmp_path, text), count=2)] == ["rejected"] * 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import module_that_is_missing", "No module named 'module_that_is_missing'"),
        ("x = 1", "has no function grade, grade_call, grade_assertions"),
        ("import os; os._exit(3)", "it ended"),
        ("def (", "invalid syntax"),
    ],
)
async def test_a_grader_that_can_not_be_loaded_is_an_error_of_one_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        await answers(grader(tmp_path, text))


async def test_the_functions_of_a_grader_say_which_forms_it_grades(tmp_path: Path) -> None:
    text = f"{ACCEPTS}\ndef grade_call(*_): return True"
    async with GraderProcess(grader(tmp_path, text)) as process:
        assert process.forms == {"stdin", "call"}


async def test_a_grader_with_languages_is_told_the_language_of_a_program(tmp_path: Path) -> None:
    text = 'LANGUAGES = ["cpp"]\ndef grade(program, inputs, outputs, language="python3"): return language == "cpp"'
    async with GraderProcess(grader(tmp_path, text)) as process:
        assert process.forms == {"stdin", "stdin cpp"}
        assert [(await process.ask(form, CASE, 20)).seen for form in ("stdin", "stdin cpp")] == ["rejected", "accepted"]


@enclosed
async def test_an_enclosed_grader_changes_no_file_and_reaches_no_port(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = f"""
import os, socket
def grade(*_):
    done = []
    for path in ({str(victim)!r}, {str(Path.home() / ".gencode-audit-trial")!r}):
        try:
            open(path, "w").write("x")
            done.append(path)
        except OSError:
            pass
    try:
        socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 1)
        done.append("port")
    except OSError:
        pass
    open("/tmp/own", "w").write("x")
    if done or os.path.exists("/tmp/again"):
        raise ValueError(done)
    open("/tmp/again", "w").write("x")
    return True
"""
        found = await answers(grader(tmp_path, text), count=2)
    assert {(answer.seen, answer.message) for answer in found} == {("accepted", "")}
    assert victim.read_text() == "whole"


@enclosed
async def test_what_a_case_leaves_running_is_ended_before_the_next(tmp_path: Path) -> None:
    text = """
import os, time
def grade(*_):
    others = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if len(others) > 2:
        raise ValueError(others)
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
    return True
"""
    assert [answer.seen for answer in await answers(grader(tmp_path, text), count=3)] == ["accepted"] * 3


async def test_secrets_of_the_callers_environment_stay_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    text = "import os\ndef grade(*_): return 'sk-secret' in str(os.environ)"
    assert [answer.seen for answer in await answers(grader(tmp_path, text))] == ["rejected"]
