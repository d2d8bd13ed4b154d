"""1,000 malformed requests for the native API and each dialect: none is a fault of the server, which goes on."""

import httpx
import pytest

from alpha_codium.limits import Limits
from alpha_codium.program import Dialogue, Job, PairJob, Program, Side
from alpha_codium.serve.dialects import DIALECTS
from tests.serve.malformed import bodies_of, never_a_fault
from tests.serve.test_nemo_gym import request_of

FILE = {"content": "print(1)", "name": "main.py"}
TEST = {"input": {"stdin": ""}, "output": {"stdout": "1"}}
CONFIG = {
    "dataset_type": "CommonOJDataset",
    "language": "python",
    "provided_data": {"test": [TEST]},
    "extra": {},
    "run_timeout": 1,
    "custom_extract_logic": None,
}
SUBMISSION = {"source_code": "print(1)", "language_id": 71, "cpu_time_limit": 0.5}
RUN_CODE = {"code": "print(1)", "language": "python", "run_timeout": 0.5}
PISTON = {"language": "python", "version": "*", "files": [FILE], "run_timeout": 500}
JUDGED = {
    "program": "print(1)",
    "tests": [{"input": "1", "output": "1"}],
    "checker": {"name": "float", "arguments": {"abs": 1}},
    "time_limit_seconds": 0.5,
}
PROGRAM = Program.from_source("python3", "print(1)")
OWN = Side(PROGRAM, limits=Limits(0.5))
CODE_JUDGE = {"type": "python", "solution": "print(1)", "input": "1", "expected_output": "1"}
# For the native API and each dialect: addresses, right requests, and further fields.
RIGHT: dict[str, list[tuple[str, dict, tuple[str, ...]]]] = {
    "native": [
        ("/v1/judge", JUDGED, ("id", "language", "kind", "entry_point", "setup_code", "problem", "shown_characters")),
        ("/v1/judge/batch", {"programs": [JUDGED]}, ()),
        ("/v1/problems", {"tests": JUDGED["tests"]}, ("kind", "entry_point", "checker", "memory_limit_bytes")),
        ("/v1/execute", Job(PROGRAM, ("1",), Limits(0.5)).to_json(), ()),
        ("/v1/execute_pair", PairJob(Side(PROGRAM), Side(PROGRAM), Limits(0.5)).to_json(), ()),
        ("/v1/execute_pair", PairJob(Side(PROGRAM), OWN, dialogue=Dialogue((0,), 0.5)).to_json(), ()),
    ],
    "code_judge": [
        ("/run", CODE_JUDGE, ("sub_id", "options")),
        ("/judge", CODE_JUDGE, ()),
        ("/judge/long-batch", {"type": "batch", "submissions": [CODE_JUDGE]}, ("sub_id",)),
        ("/run/batch", {"submissions": [CODE_JUDGE]}, ()),
    ],
    "nemo_gym": [
        ("/verify", request_of("```\nprint(1)\n```", {"inputs": ["1"], "outputs": ["1"]}), ()),
        ("/aggregate_metrics", {"verify_responses": [{"reward": 1.0}]}, ()),
    ],
    "open_instruct": [
        ("/test_program", {"program": "", "tests": ["assert 1"], "max_execution_time": 0.5}, ()),
        ("/test_program_stdio", {"program": "", "tests": [{"input": "", "output": ""}], "max_execution_time": 0.5}, ()),
    ],
    "sandbox_fusion": [
        ("/run_code", RUN_CODE, ("stdin", "files", "fetch_files", "memory_limit_MB", "compile_timeout")),
        ("/submit", {"dataset": "x", "id": 1, "completion": "", "config": CONFIG}, ()),
        ("/submit", {"dataset": "x", "id": 1, "completion": "```\nprint(1)\n```", "config": CONFIG}, ()),
        ("/run_jupyter", {"cells": []}, ("total_timeout",)),
    ],
    "piston": [
        ("/api/v2/execute", PISTON, ("stdin", "args", "run_memory_limit", "compile_timeout", "run_cpu_time")),
        ("/api/v2/execute", PISTON | {"language": "cf_python3"}, ("stdin", "args", "run_memory_limit")),
        ("/api/v2/packages", {"language": "python", "version": "*"}, ()),
    ],
    "judge0": [
        ("/submissions?wait=true", SUBMISSION, ("stdin", "expected_output", "memory_limit", "additional_files")),
        ("/submissions", SUBMISSION, ("command_line_arguments", "number_of_runs", "max_file_size", "stack_limit")),
        ("/submissions/batch", {"submissions": [SUBMISSION]}, ()),
        ("/submissions?wait=true&base64_encoded=true&fields=*", SUBMISSION, ("stdin", "additional_files")),
    ],
}
REQUESTS = 1000


def send_to(client: httpx.Client, dialect: str, requests: int) -> None:
    addresses = RIGHT[dialect]
    for address, right, more in addresses:
        never_a_fault(client, address, bodies_of((*right, *more), right), requests // len(addresses) + 1)
    assert client.get("/healthz").text == "ok"


def test_all_dialects_are_tried():
    assert RIGHT.keys() == {"native", *DIALECTS}


@pytest.mark.parametrize("dialect", RIGHT)
def test_a_right_request_is_right(client, dialect):
    for address, right, _ in RIGHT[dialect]:
        answer = client.post(address, json=right)
        assert answer.status_code in (200, 201) or "packages" in address, answer.text


@pytest.mark.thorough
@pytest.mark.parametrize("dialect", RIGHT)
def test_some_malformed_requests_are_no_faults(client, dialect):
    send_to(client, dialect, REQUESTS // 10)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", RIGHT)
def test_a_thousand_malformed_requests_are_no_faults(client, dialect):
    send_to(client, dialect, REQUESTS)


@pytest.mark.thorough
@pytest.mark.parametrize("dialect", RIGHT)
def test_large_and_deep_values_are_no_faults(client, dialect):
    deep: object = {}
    for _ in range(500):
        deep = [deep]
    wrong = (deep, "x" * 1_000_000, 10**400, -1, 1e308, [{}] * 10_000)
    for address, right, more in RIGHT[dialect][:2]:
        for name in (*right, *more):
            if name == "tests":
                continue  # 10,000 tests are valid
            for value in wrong:
                answer = client.post(address, json=right | {name: value})
                assert answer.status_code < 500, (name, str(value)[:50], answer.text[:500])
