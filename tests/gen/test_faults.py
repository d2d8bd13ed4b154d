"""`solve_set` against a server with faults: the same candidates as without, or an honest error for each sample."""

import pytest

from tests.gen.running import (
    ECHO,
    KEY,
    assert_refused,
    candidates_in,
    columns_of,
    model_arguments,
    run_cli,
    signed,
    write_problems,
)
from tests.servers.scripted import (
    Always,
    Cut,
    FaultOnce,
    Filtered,
    Hang,
    Malformed,
    ScriptedServer,
    Status,
    Text,
    Truncated,
    When,
)

PASSING = {
    "429": Status(429),
    "429 with Retry-After": Status(429, retry_after=0),
    "500": Status(500),
    "503 that is a page": Status(503, body="<html>busy</html>"),
    "hang": Hang(),
    "cut before the answer": Cut(None),
    "cut half-way": Cut(25),
    "malformed": Malformed(),
    "not JSON": Malformed("busy", "text/html"),
    "truncated": Truncated("```python\nprint(inp"),
}
GOOD = "print(input())\n"


def of_problem(number):
    """Takes the requests of one problem."""
    return lambda seen: f"Problem number {number}:" in str(seen.body["messages"])


@pytest.fixture
def solve(home, tmp_path):
    """Runs `solve_set` on three problems with the plain flow."""
    problems = write_problems(tmp_path, 3)

    def run(server, *arguments, run="r"):
        job = ["--dataset_name", problems, "--flow", "baseline", "--samples", 2, "--run", run]
        patience = ["-o", "config.ai_timeout=1.5"]
        return run_cli("gen", "solve_set", *job, *patience, *model_arguments(server), *arguments)

    return run


@pytest.fixture
def solutions(home):
    return lambda run="r": list(candidates_in(home / "runs" / run / "solutions"))


EXPECTED = [(f"echo {number}", sample, GOOD, "") for number in range(3) for sample in range(2)]


def without_signatures(candidates):
    return [(name, sample, program.partition("  #")[0] + "\n", error) for name, sample, program, error in candidates]


@pytest.mark.thorough
@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_with_every_fault_once_a_request_the_candidates_are_those_without(solve, solutions, fault):
    # A cut-off answer is asked for again by another request.
    faults = [once_a_prompt(fault) if fault is PASSING["truncated"] else FaultOnce(fault)]
    with ScriptedServer(ECHO_SCRIPT, faults=faults) as server:
        done = solve(server)
    assert done.returncode == 0, done.stderr
    assert solutions() == EXPECTED
    assert KEY not in done.stderr


def once_a_prompt(fault):
    seen_before = set()

    def reply(seen):
        prompt = str(seen.body["messages"])
        is_first = prompt not in seen_before
        seen_before.add(prompt)
        return fault if is_first else None

    return reply


def ECHO_SCRIPT(_body):
    return ECHO


@pytest.mark.thorough
def test_all_faults_in_turn_give_the_dataset_of_a_run_without(solve, home, solutions):
    with ScriptedServer(signed) as server:
        assert solve(server, run="without").returncode == 0
    each = [Status(429, retry_after=0), Cut(25), Malformed()]
    with ScriptedServer(signed, faults=[FaultOnce(*each)]) as server:
        done = solve(server, run="with")
        assert len(server.requests) == 6 * 4
    assert done.returncode == 0, done.stderr
    assert without_signatures(solutions("with")) == EXPECTED
    runs = home / "runs"
    assert columns_of(runs / "with" / "solutions") == columns_of(runs / "without" / "solutions")


@pytest.mark.thorough
def test_a_permanent_fault_is_the_providers_and_only_its_samples_are_retried_on_resume(solve, solutions):
    broken = When(of_problem(1), Status(500, "no more"))
    with ScriptedServer(ECHO_SCRIPT, faults=[broken]) as server:
        done = solve(server, "-o", "config.max_retries=1")
        assert len(server.requests) == 4 + 2 * 2
    assert done.returncode == 1
    assert "2 samples ended because of errors other than the model's" in done.stderr
    assert "--resume r" in done.stderr
    assert "Traceback" not in done.stderr
    for name, _, program, error in solutions():
        if name == "echo 1":
            assert program == ""
            assert error.startswith("provider: openai/scripted gave no answer in 2 requests")
            assert "no more" in error
        else:
            assert (program, error) == (GOOD, "")
    with ScriptedServer(ECHO_SCRIPT) as server:
        done = run_cli("gen", "solve_set", "--resume", "r", "--api_base", server.api_base)
        assert len(server.requests) == 2
        assert all(of_problem(1)(seen) for seen in server.requests)
    assert done.returncode == 0, done.stderr
    assert solutions() == EXPECTED


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Text("I'm sorry, I can't help with that."), "there is no Python 3 program in it"),
        (Text(""), "there is no Python 3 program in it"),
        (Filtered("I"), "a content filter stopped the answer"),
        (Status(400, "The response was filtered", error_code="content_filter"), "filtered"),
        (Status(400, "This model's maximum context length is 10 tokens"), "maximum context length"),
        (Truncated("```python\nprint(inp"), ""),
    ],
    ids=["refusal", "empty", "filtered answer", "filtered request", "context", "truncated"],
)
def test_a_fault_of_the_model_is_a_final_sample_with_its_reason(solve, solutions, reply, reason):
    with ScriptedServer(ECHO_SCRIPT, faults=[When(of_problem(1), reply)]) as server:
        done = solve(server)
        asked = len(server.requests)
        assert done.returncode == 0, done.stderr
        again = run_cli("gen", "solve_set", "--resume", "r")
        assert again.returncode == 0, again.stderr
        assert len(server.requests) == asked
    for name, _, program, error in solutions():
        if name == "echo 1":
            assert program == ""
            assert error.startswith("model: ")
            assert reason in error
        else:
            assert (program, error) == (GOOD, "")


def test_a_wrong_key_is_one_line_and_the_key_is_nowhere(solve, home):
    with ScriptedServer(ECHO_SCRIPT, api_key="sk-another-0123456789") as server:
        done = solve(server)
    assert_refused(done, "401", "--resume r")
    assert KEY not in done.stderr + done.stdout
    for path in home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_a_key_that_a_provider_quotes_reaches_no_file_of_the_run(solve, home, solutions):
    quoting = When(of_problem(1), Status(500, f"the key {KEY} is tired"))
    refusing = When(of_problem(2), Status(400, f"the content filter stopped {KEY}", error_code="content_filter"))
    with ScriptedServer(ECHO_SCRIPT, faults=[quoting, refusing]) as server:
        done = solve(server, "-o", "config.max_retries=0", "-v")
    assert done.returncode == 1
    assert KEY not in done.stderr + done.stdout
    assert any("[secret]" in error for *_, error in solutions())
    for path in home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_a_server_that_is_not_there_is_the_providers_fault(solve, solutions):
    with ScriptedServer(ECHO_SCRIPT) as server:
        pass
    done = solve(server, "-o", "config.max_retries=0")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert all(error.startswith("provider: ") for *_, error in solutions())


def test_an_answer_with_half_a_surrogate_pair_ends_no_run(solve, solutions):
    with ScriptedServer(lambda _: Text("```python\nprint(input())  # \ud800\n```")) as server:
        done = solve(server)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert len(solutions()) == 6


@pytest.mark.parametrize("fault", [Status(404, "no such model"), Status(403, "not for you")], ids=["404", "403"])
def test_what_no_sample_could_survive_ends_the_run_in_one_line(solve, fault):
    with ScriptedServer(ECHO_SCRIPT, faults=[Always(fault)]) as server:
        done = solve(server)
    assert_refused(done, fault.message)
    assert ("--resume r" in done.stderr) == (fault.code == 403), "another model needs another run"
