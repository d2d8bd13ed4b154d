"""The public functions on real problems, with a server in place of a provider's."""

import asyncio
import json
from pathlib import Path

import pytest

import alpha_codium as ac
from alpha_codium.app import events
from alpha_codium.app.events import ItemDone, ItemsReached, RunOpened, RunPlanned, WorkEnded, WorkStarted
from alpha_codium.app.resuming import RESUMABLE_SETTINGS
from alpha_codium.app.run_folders import settings_on
from alpha_codium.app.solving import solve_problem
from alpha_codium.app.stored_runs import chosen_samples
from alpha_codium.config import Settings
from alpha_codium.runs import RunFolder
from tests.gen.running import ECHO, problem_record, write_problems
from tests.servers.scripted import ScriptedServer

RIGHT, WRONG = "print(input())", "print(8)"


@pytest.fixture
def server(home):
    with ScriptedServer(lambda body: ECHO) as running:
        yield running


def settings_for(server, **config):
    config = {"model": "openai/scripted", "api_base": server.api_base} | config
    return ac.load_settings(overrides=[f"config.{key}={value}" for key, value in config.items()])


@pytest.fixture
def problems(home, tmp_path):
    return str(write_problems(tmp_path, 2))


def rows(*programs):
    return [{"task_name": f"echo {n}", "solution_candidates": list(programs)} for n in range(2)]


@pytest.mark.thorough
async def test_a_set_is_solved_judged_compared_and_replayed_in_one_running_loop(server, problems):
    settings = settings_for(server)
    seen = []
    summary = await ac.solve_set_async(
        problems, samples=2, flow="baseline", run="r", settings=settings, on_event=seen.append
    )
    assert (summary.samples, summary.solved_public, summary.complete, summary.run) == (4, 2, True, "r")
    kinds = [type(event) for event in seen]
    assert ItemsReached in kinds
    assert [kind for kind in kinds if kind is not ItemsReached] == [
        RunOpened, RunPlanned, WorkStarted, *[ItemDone] * 4, WorkEnded,
    ]  # fmt: skip
    score = await ac.evaluate_async(summary.solutions, problems, k=[1, 2], settings=settings)
    assert score.pass_at_k == {"pass@1": 1.0, "pass@2": 1.0}
    report = await ac.compare_async(["r"], k=[1], settings=settings)
    assert report.runs[0].score.pass_at_k == {"pass@1": 1.0}
    replayed = await ac.replay_async("r")
    assert (replayed.compared, replayed.differing, len(server.requests)) == (4, [], 4)


def test_a_set_is_resumed_as_it_was(server, problems):
    first = ac.solve_set(problems, flow="baseline", run="r", settings=settings_for(server, temperature=0.3))
    again = ac.solve_set(resume="r")
    assert (again.samples, again.llm_calls, len(server.requests)) == (first.samples, first.llm_calls, 2)
    with pytest.raises(ac.UserError, match=r"settings\.config\.temperature"):
        ac.solve_set(problems, resume="r", flow="baseline", settings=settings_for(server, temperature=0.4))


def test_a_run_says_in_which_sandbox_it_was_made_and_is_not_resumed_in_another(server, problems, home):
    ac.solve_set(problems, flow="baseline", run="r", settings=settings_for(server))
    path = home / "runs" / "r" / "run.toml"
    interpreter = RunFolder.reopen(home / "runs", "r").description()["sandbox"]["interpreter"]
    path.write_text(path.read_text().replace(interpreter, "CPython 3.9.0"))
    with pytest.raises(ac.UserError, match=r"sandbox\.interpreter = 'CPython 3.9.0'"):
        ac.solve_set(resume="r")


def test_candidates_in_memory_are_scored_and_nothing_is_kept_without_a_name(problems, home):
    score = ac.evaluate(rows(RIGHT, WRONG), ac.load_problems(problems), k=[1], ignore_fingerprint=True)
    assert score.pass_at_k == {"pass@1": 0.5}
    assert score.extra["sandbox"]["backend"] == "local"
    assert not (home / "runs").exists()


def test_problems_are_named_by_a_path_too(problems):
    assert ac.evaluate(rows(RIGHT), Path(problems), k=[1], ignore_fingerprint=True).pass_at_k == {"pass@1": 1.0}


def test_an_evaluation_with_a_name_is_resumed_and_judges_nothing_again(problems, home):
    given = [ac.Problem(f"echo {n}", private_tests=(ac.TestCase("1\n", "1\n"),)) for n in range(2)]
    ac.evaluate(rows(RIGHT), given, k=[1], run="e")
    journal = home / "runs" / "e" / "journal.jsonl"
    judged = journal.read_text()
    assert ac.evaluate(rows(RIGHT), given, k=[1], resume="e").pass_at_k == {"pass@1": 1.0}
    assert journal.read_text() == judged
    with pytest.raises(ac.UserError, match="was made with solutions"):
        ac.evaluate(rows(WRONG), given, k=[1], resume="e")
    with pytest.raises(ac.UserError, match="the problems changed after run"):
        ac.evaluate(rows(RIGHT), [*given[:1], ac.Problem("echo 1", private_tests=(ac.TestCase("2", "3"),))], resume="e")


def test_an_evaluation_is_resumed_with_more_candidates_but_not_with_others(problems, tmp_path):
    solutions = tmp_path / "solutions.jsonl"

    def evaluated(*programs: str, **given):
        solutions.write_text("".join(json.dumps(row) + "\n" for row in rows(*programs)))
        return ac.evaluate(solutions, problems, k=[1], ignore_fingerprint=True, **given).pass_at_k["pass@1"]

    assert (evaluated(RIGHT, run="e"), evaluated(RIGHT, WRONG, resume="e")) == (1.0, 0.5)
    for others in ([WRONG, RIGHT], [RIGHT], [RIGHT, RIGHT]):
        with pytest.raises(ac.UserError, match="isn't the program that was judged: start a new run"):
            evaluated(*others, resume="e")
    assert len(chosen_samples("e").samples) == 4


def test_what_decides_no_verdict_may_change_when_an_evaluation_is_resumed(problems):
    given = ac.load_problems(problems)
    ac.evaluate(rows(RIGHT), given, k=[1], ignore_fingerprint=True, run="e")
    for change in ("workers=1", "preload=[]", "known_solutions=0"):
        settings = ac.load_settings(overrides=[f"code_tester.{change}"])
        assert ac.evaluate(rows(RIGHT), given, k=[1], ignore_fingerprint=True, resume="e", settings=settings).complete
    settings = ac.load_settings(overrides=["code_tester.timeout=9"])
    with pytest.raises(ac.UserError, match=r"code_tester\.timeout"):
        ac.evaluate(rows(RIGHT), given, k=[1], ignore_fingerprint=True, resume="e", settings=settings)


def test_samples_made_elsewhere_are_scored(tmp_path, problems):
    samples = tmp_path / "samples.jsonl"
    samples.write_text("".join(json.dumps({"task_id": f"echo {n}", "solution": RIGHT}) + "\n" for n in range(2)))
    assert ac.score(str(samples), dataset=problems, k=[1]).pass_at_k == {"pass@1": 1.0}


def test_a_dataset_is_validated_without_a_run_folder(tmp_path, home):
    record = problem_record(0) | {"solutions": {"language": [3, 3], "solution": [RIGHT, WRONG]}}
    path = tmp_path / "known.jsonl"
    path.write_text(json.dumps(record) + "\n")
    report = ac.validate(str(path))
    assert (len(report.problems), report.unjudged) == (1, 0)
    assert not (home / "runs").exists()


@pytest.mark.thorough
async def test_work_that_is_cancelled_reports_its_end_and_can_be_resumed(problems):
    seen = []
    limited = ac.load_settings(overrides=["code_tester.timeout=0.5"])
    slow = [{"task_name": "echo 0", "solution_candidates": ["while True: pass"]}]
    given = ac.load_problems(problems)
    task = asyncio.create_task(
        ac.evaluate_async(
            slow, given, k=[1], ignore_fingerprint=True, run="slow", settings=limited, on_event=seen.append
        )
    )
    while not any(isinstance(event, WorkStarted) for event in seen):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(seen[-1], WorkEnded)
    settings = ac.load_settings(overrides=["code_tester.workers=1", "code_tester.timeout=0.5"])
    score = await ac.evaluate_async(slow, given, k=[1], ignore_fingerprint=True, resume="slow", settings=settings)
    assert score.verdicts["time_limit_exceeded"] == 1


def test_an_error_of_on_event_ends_the_work(problems):
    def fail(event):
        if isinstance(event, ItemDone):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ac.evaluate(rows(RIGHT), ac.load_problems(problems), k=[1], ignore_fingerprint=True, on_event=fail)


def test_the_settings_that_may_change_on_resume_exist():
    for section, names in RESUMABLE_SETTINGS.items():
        assert names <= set(Settings.model_fields[section].annotation.model_fields)


def test_given_settings_stand_on_no_run():
    settings = Settings()
    assert settings_on(settings)({"config": {"model": "x"}}) is settings
    assert settings_on(None)({"config": {"model": "x"}}).config.model == "x"


def test_every_event_is_documented():
    kinds = events.Event.__args__
    assert all(kind.__doc__ and kind.__module__ == "alpha_codium.app.events" for kind in kinds)


def test_the_sample_the_stage_and_the_calls_are_reported_while_a_problem_is_solved(home):
    seen, said = [], []

    def watch(event):
        seen.append(event)
        if isinstance(event, ItemsReached):
            counter = next(each.counter for each in reversed(seen) if isinstance(each, WorkStarted))
            said.append((event.done, counter.status().rpartition(",")[0]))

    problem = ac.Problem("echo", "Print the line.", public_tests=(ac.TestCase("a\n", "a\n"),))
    answers = iter(["print(8)", "print(8)"])
    with ScriptedServer(lambda body: f"```python\n{next(answers)}\n```") as server:
        settings = settings_for(server)
        two = settings.model_copy(update={"dataset": settings.dataset.model_copy(update={"num_iterations": 2})})
        solve_problem(problem, "baseline", settings=two, on_event=watch)
    assert said == [(done, f"sample {n} of 2, stage 1 of 1 (write_code)") for n in (1, 2) for done in (0, 1)]
    assert [type(event) for event in seen] == [RunPlanned, *[WorkStarted, *[ItemsReached] * 2, WorkEnded] * 2]
