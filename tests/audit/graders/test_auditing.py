"""Audits of graders with known faults: each fault is found, and nothing else."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from alpha_codium.audit.graders.asking import cases_to_ask, right_answer
from alpha_codium.audit.graders.auditing import is_right, kind_of, run_audit
from alpha_codium.audit.graders.enclosure import enclosing_command
from alpha_codium.audit.graders.finding import adapters, find_grader
from alpha_codium.audit.graders.process import Grader, GraderAnswer
from alpha_codium.audit.graders.report import FAULTS, Audit, known_names
from alpha_codium.audit.kit.cases import SPOILT, Case
from alpha_codium.errors import UserError
from alpha_codium.program import PYTHON
from alpha_codium.verdict import Verdict
from tests.audit.graders.faulty import ACCEPTS, MADE_FOR, PLAIN, RUNS, grader, part_of

COMPARISON = part_of(cases_to_ask(["comparison"]), every=4)
# Programs that real graders judged wrongly, and two that all judge rightly.
WRONGLY_REJECTED = {"open(0).read()", "os.read in a loop", "sys.stdin.buffer.read()"}
WRONGLY_ACCEPTED = {"exit status 1 after the right answer", "sys.exit with a message"}
RIGHTLY_JUDGED = {"input()", "sys.stdin.read().split()"}
NAMED = {
    *WRONGLY_REJECTED,
    *WRONGLY_ACCEPTED,
    *RIGHTLY_JUDGED,
    "a loop without end",
    "os._exit(3) after the right answer",
}
# What python3 accepts of the cheats are those that work on it.
HONEST = [case for case in cases_to_ask() if case.section != "cheats"]


def names(audit: Audit, kind: str) -> set[str]:
    return {each.case.name for each in audit.of(kind)}


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(
            part_of([case for case in HONEST if case.language == PYTHON], every=24),
            marks=pytest.mark.thorough,
            id="part",
        ),
        pytest.param(HONEST, marks=[pytest.mark.slow, pytest.mark.timeout(1800)], id="all"),
    ],
)
async def test_python3_itself_is_right_on_every_case_but_tricks_that_work_on_it(cases: list[Case]) -> None:
    """So each case is what it says: this is what vets the kit, beside our own judge, which the doctor examines."""
    audit = await run_audit(find_grader("plain", "python3"), cases, parallel=4, deadline=60)
    assert [each.line() for kind in FAULTS for each in audit.of(kind)] == []
    assert {case.section for case in audit.asked} >= {case.section for case in cases if case.language == PYTHON}


@pytest.mark.thorough
async def test_a_grader_that_accepts_everything_is_wrong_wherever_that_is_wrong(tmp_path: Path) -> None:
    audit = await run_audit(grader(tmp_path, ACCEPTS), COMPARISON)
    right = {case.name for case in audit.asked if right_answer(case) == "accepted"}
    wrong = {case.name for case in audit.asked if not case.choice} - right
    assert names(audit, "false_accepts") == wrong != set()
    assert not any(audit.of(kind) for kind in FAULTS if kind != "false_accepts")
    assert {each.plain for each in audit.of("false_accepts")} == {"rejected"}


@pytest.mark.thorough
async def test_a_grader_that_imitates_stdin_and_ignores_the_exit_status_is_found_out(tmp_path: Path) -> None:
    cases = [case for case in cases_to_ask(["stdin idioms", "ways to end"]) if case.name in NAMED]
    audit = await run_audit(grader(tmp_path, RUNS), cases, deadline=2)
    assert names(audit, "false_rejects") == WRONGLY_REJECTED
    assert names(audit, "false_accepts") == WRONGLY_ACCEPTED
    assert names(audit, "hangs") == {"a loop without end"}
    assert names(audit, "crashes") == {"os._exit(3) after the right answer"}
    assert not audit.faultless


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE_FOR)
async def test_a_fault_is_found_by_the_case_that_was_made_for_it(tmp_path: Path, name: str) -> None:
    cases = [
        case for case in cases_to_ask() if case.name.removesuffix(SPOILT) in {*MADE_FOR, name.removesuffix(SPOILT)}
    ]
    audit = await run_audit(grader(tmp_path, PLAIN + MADE_FOR[name]), cases)
    assert {each.case.name for each in audit.disagreements} == {name}


@pytest.mark.thorough
async def test_an_answer_that_changes_is_a_race_or_due_to_load(tmp_path: Path) -> None:
    flips = "import time\ndef grade(program, inputs, outputs): return int(time.monotonic() * 1000) % 2 == 0"
    audit = await run_audit(grader(tmp_path, flips), cases_to_ask(["comparison"]))
    assert audit.of("races") or audit.of("load")


def test_an_error_is_as_good_as_a_rejection_only_where_nothing_was_tested() -> None:
    refused = next(case for case in cases_to_ask() if case.section == "malformed tests")
    wrong = next(case for case in cases_to_ask() if case.expected == {Verdict.WRONG_ANSWER})
    assert is_right(refused, GraderAnswer("error")) and is_right(refused, GraderAnswer("rejected"))
    assert not is_right(refused, GraderAnswer("accepted"))
    assert not is_right(wrong, GraderAnswer("error"))
    assert kind_of(wrong, GraderAnswer("error")) == "crashes"


async def test_without_isolation_attacks_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alpha_codium.audit.graders.process.enclosing_command", lambda _: [])
    audit = await run_audit(grader(tmp_path, ACCEPTS), cases_to_ask(["cheats"]))
    assert audit.asked == ()
    assert audit.left_out > 30
    assert any("attacks, since the grader can't be isolated" in line for line in audit.lines())


async def test_known_deviations_do_not_count_and_stale_ones_are_said(tmp_path: Path) -> None:
    audit = await run_audit(grader(tmp_path, ACCEPTS), cases_to_ask(["malformed tests"]))
    assert not audit.faultless
    known = tmp_path / "known.txt"
    known.write_text("# accepted\n" + "\n".join(each.case.identity for each in audit.disagreements) + "\nno: such\n")
    accepted = audit.with_known(known_names(known))
    assert accepted.faultless
    assert accepted.unknown == ("no: such",)
    assert accepted.to_json()["false_accepts"] == []
    with pytest.raises(UserError, match="none can't be read: No such file"):
        known_names(tmp_path / "none")


def test_what_is_no_grader_is_an_error_that_says_what_is() -> None:
    with pytest.raises(UserError, match=r"did you mean 'human_eval'.*metric:NAME"):
        find_grader("human_evl", "python3")
    with pytest.raises(UserError, match="there is no file"):
        find_grader("none.py", "python3")


def test_files_of_a_command_are_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("grade it.js").write_text("")
    grader = find_grader("command:node 'grade it.js' --strict", "python3")
    assert shlex.split(grader.variables["GENCODE_AUDIT_TARGET"]) == ["node", str(tmp_path / "grade it.js"), "--strict"]
    assert str(tmp_path / "grade it.js") in grader.needed
    with pytest.raises(UserError, match="can't be read: No closing quotation"):
        find_grader("command:node 'x", "python3")


@pytest.mark.thorough
@pytest.mark.skipif(not enclosing_command([]), reason="this machine gives no namespaces")
async def test_a_command_that_fails_is_an_error_with_what_it_said() -> None:
    with pytest.raises(UserError, match=r"ended with status 1: NameError: name 'oops' is not defined"):
        await run_audit(find_grader("command:python3 -c oops", "python3"), cases_to_ask(["malformed tests"]))


async def test_a_grader_that_no_case_is_for_is_no_grader_without_faults(tmp_path: Path) -> None:
    grader = tmp_path / "grader.py"
    grader.write_text("def grade(program, inputs, outputs): return True\n")
    cases = [case for case in cases_to_ask([]) if case.form == "call"][:3]
    with pytest.raises(UserError, match=r"there is nothing to ask: .* grades stdin, and the chosen cases are for call"):
        await run_audit(find_grader(str(grader), sys.executable), cases)


def test_a_grader_is_found_by_its_kind(tmp_path: Path) -> None:
    assert find_grader("package.module:check", "python3", "call").function == "check"
    assert find_grader("http://host:1", "python3", dialect="piston").network
    assert find_grader("command:node grade.js", "python3").variables["GENCODE_AUDIT_TARGET"] == "node grade.js"
    assert {"plain", "human_eval", "verl"} <= set(adapters())


@pytest.mark.thorough
@pytest.mark.skipif(not enclosing_command([]), reason="this machine gives no namespaces")
async def test_a_command_that_speaks_json_lines_is_a_grader(tmp_path: Path) -> None:
    script = tmp_path / "command.py"
    script.write_text(
        "import json\ncase = json.loads(input())\n"
        "print(json.dumps({'forms': ['call']} if case['form'] is None else {'accepted': 'def' in case['program']}))"
    )
    audit = await run_audit(find_grader(f"command:python3 {script}", "python3"), cases_to_ask(["malformed tests"]))
    assert {case.form for case in audit.asked} == {"call"}
    assert len(audit.of("false_accepts")) == 2


@pytest.mark.thorough
async def test_a_metric_of_ours_is_a_grader() -> None:
    pytest.importorskip("evaluate")
    path = Path(__file__).parents[3] / "alpha_codium" / "metrics" / "code_eval"
    found: Grader = find_grader(f"metric:{path}", sys.executable)
    audit = await run_audit(replace(found, isolates=True), cases_to_ask(["malformed tests"]))
    assert audit.faultless
    assert {case.form for case in audit.asked} == {"assertions"}
