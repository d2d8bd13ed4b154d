"""The dialect of NeMo Gym, asked over HTTP at a server in a process of its own."""

from typing import Any

import httpx
import pytest

from alpha_codium.serve.dialects.nemo_gym import VerifyRequest, extracted, unjudged

SQUARE = {"inputs": ["2\n", "5\n"], "outputs": ["4", "25"]}
CALL = {"inputs": ['1\n[2, 3]\n"a"'], "outputs": ["[1, [2, 3], 0.5]"], "fn_name": "f"}


def request_of(text: str, tests: object = SQUARE, thinking: str = "") -> dict[str, Any]:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    summary = [{"type": "summary_text", "text": thinking}]
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "square n"}]},
        "response": {"id": "r", "output": [{"type": "reasoning", "summary": summary}, message]},
        "verifier_metadata": {"unit_tests": tests, "difficulty": "easy"},
    }


def verify(client: httpx.Client, *arguments: Any) -> dict[str, Any]:
    asked = request_of(*arguments)
    answer = client.post("/verify", json=asked)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert {name: found[name] for name in asked} == asked
    assert found["difficulty"] == "easy"
    return found


def python(code: str) -> str:
    return f"So:\n```python\n{code}\n```\nDone."


@pytest.mark.parametrize(
    ("code", "reward", "result", "message"),
    [
        ("n = int(input())\nprint(n * n)", 1.0, [True, True], None),
        ("print(4)", 0.0, [True, -2], "Wrong Answer"),
        ("n = int(input())\nprint(n / 0)", 0.0, [-4], "Runtime Error"),
        ("print('hello'", 0.0, [-4], "Error during testing: "),
        ("print(sqrt(16), math.gcd(4, 8), sep='')", 0.0, [-2], "Wrong Answer"),
        ("print(f'{int(input()) ** 2}.0')", 1.0, [True, True], None),
    ],
)
def test_a_program_that_passes_all_tests_is_rewarded(client, code, reward, result, message):
    found = verify(client, python(code))
    assert (found["reward"], found["result"]) == (reward, result)
    assert found["metadata"].get("error_message", "").startswith(message or "")
    assert (found["extracted_model_code"], found["unit_tests_time_taken"] >= 0) == (code, True)


def test_the_metadata_tell_about_the_test_that_failed(client):
    metadata = verify(client, python("print(4)"))["metadata"]
    assert metadata == {
        "error_code": -2,
        "error_message": "Wrong Answer",
        "inputs": "5\n",
        "expected": "25",
        "output": "4\n",
    }


@pytest.mark.thorough
def test_a_program_that_takes_too_long_fails(client):
    found = verify(client, python("while True: pass"))
    assert (found["reward"], found["result"]) == (0.0, [-3])


def test_functions_get_their_arguments_from_lines(client):
    right = verify(client, python("class Solution:\n    def f(self, *a): return a[0], a[1], 0.5 + 1e-9"), CALL)
    assert (right["reward"], right["result"]) == (1.0, [True])
    assert verify(client, python("def f(*a): return a[::-1]"), CALL)["result"] == [-2]


@pytest.mark.parametrize("text", ["", "  \n", "print(1)", "```python\nprint(1)", "```\n```"])
def test_without_a_program_there_is_no_reward(client, text):
    found = verify(client, text)
    assert (found["reward"], found["result"], found["extracted_model_code"]) == (0.0, None, None)


@pytest.mark.parametrize(
    ("before", "thinking", "violation"),
    [("", "", 0.0), ("<think>", "", 1.0), ("x</think>", "", 1.0), ("", "<think>", 0.0), ("", "<think><think>", 1.0)],
)
def test_an_answer_with_tags_of_thinking_is_not_rewarded(client, before, thinking, violation):
    found = verify(client, before + python("print(int(input()) ** 2)"), SQUARE, thinking)
    assert (found["reasoning_format_violation_rate"], found["reward"]) == (violation, 1.0 - violation)
    assert found["result"] == [True, True]


@pytest.mark.parametrize(
    ("tests", "detail"),
    [
        (None, "verifier_metadata.unit_tests"),
        ({"inputs": [], "outputs": []}, "inputs: List should have at least 1 item"),
        ({"inputs": ["1"], "outputs": []}, "as many outputs as inputs"),
        (CALL | {"inputs": ["no json"]}, "not JSON: [no json]"),
    ],
)
def test_tests_by_which_nothing_can_be_judged_are_refused(client, tests, detail):
    answer = client.post("/verify", json=request_of(python("print(1)"), tests))
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]


def test_a_fault_of_the_server_is_a_failure_of_the_judge() -> None:
    item = VerifyRequest.model_validate(request_of("x"))
    marked = unjudged(item, "the worker was lost")
    assert b'"_ng_failure_class":"judge_failed"' in marked.body
    assert b'"_ng_failure_judge_error":"the worker was lost"' in marked.body


def test_sessions_and_means_are_answered(client):
    assert client.post("/seed_session", json={}).json() == {}
    rows = [{"reward": 1.0}, {"reward": 0.0}, {"reward": 0.5}, {}]
    found = client.post("/aggregate_metrics", json={"verify_responses": rows}).json()
    assert found["key_metrics"] == {"mean/reward": 0.5}


@pytest.mark.parametrize(
    ("text", "code"),
    [("```\na\n```\n```py\nb\nc\n```", "b\nc"), ("a```b\nc\nd```", "c"), ("```", ""), ("", "")],
)
def test_the_program_is_between_the_last_two_fences(text, code):
    assert extracted(text) == code
