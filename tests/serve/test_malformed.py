"""Malformed requests to the native API and the dialects, at a server in a process of its own."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.program import Job, PairJob, Program, Side
from alpha_codium.serve.dialects import DIALECTS
from tests.serve.malformed import bodies, is_answered
from tests.serve.serving import started
from tests.serve.test_nemo_gym import request_of

ECHO = "print(input())"
TESTS = [{"input": "1", "output": "1"}]
JUDGED = {
    "id": "a",
    "program": ECHO,
    "language": "python3",
    "tests": TESTS,
    "kind": "stdin",
    "setup_code": "",
    "checker": {"name": "float", "arguments": {"abs": 1}},
    "time_limit_seconds": 1,
    "memory_limit_bytes": 1 << 28,
    "shown_characters": 10,
}
PROGRAM = Program.from_source("python3", ECHO)
SUBMISSION = {"sub_id": "a", "type": "python", "solution": ECHO, "input": "1", "expected_output": "1"}
BATCH = {"type": "batch", "submissions": [SUBMISSION]}
SUBMIT = {
    "dataset": "a",
    "id": 1,
    "completion": f"```python\n{ECHO}\n```",
    "config": {
        "dataset_type": "CommonOJDataset",
        "language": "python",
        "run_timeout": 1,
        "provided_data": {"test": [{"input": {"stdin": "1"}, "output": {"stdout": "1"}}]},
    },
}
FILES = [{"name": "main.py", "content": ECHO, "encoding": "utf8"}]
# For each dialect, and the native API, the addresses that take a body, each with a valid one.
VALID: dict[str, dict[str, dict[str, Any]]] = {
    "native": {
        "/v1/judge": JUDGED,
        "/v1/judge/batch": {"programs": [JUDGED]},
        "/v1/problems": {name: JUDGED[name] for name in ("tests", "kind", "checker", "time_limit_seconds")},
        "/v1/execute": Job(PROGRAM, ("1",), Limits(1.0)).to_json(),
        "/v1/execute_pair": PairJob(Side(PROGRAM), Side(PROGRAM), Limits(1.0)).to_json(),
    },
    "code_judge": {"/judge": SUBMISSION, "/run": SUBMISSION, "/judge/long-batch": BATCH, "/run/batch": BATCH},
    "judge0": {
        "/submissions?wait=true": {"source_code": ECHO, "language_id": 71, "stdin": "1", "expected_output": "1"},
        "/submissions/batch": {"submissions": [{"source_code": ECHO, "language_id": 71, "stdin": "1"}]},
    },
    "nemo_gym": {
        "/verify": request_of(f"```\n{ECHO}\n```", {"inputs": ["1"], "outputs": ["1"], "fn_name": None}),
        "/aggregate_metrics": {"verify_responses": [{"reward": 1.0}]},
    },
    "open_instruct": {
        "/test_program": {"program": "", "tests": ["assert True"], "max_execution_time": 1.0},
        "/test_program_stdio": {"program": ECHO, "tests": TESTS, "max_execution_time": 1.0},
    },
    "piston": {
        "/api/v2/execute": {"language": "python", "version": "*", "files": FILES, "stdin": "1", "run_timeout": 1000}
    },
    "sandbox_fusion": {
        "/run_code": {"code": ECHO, "language": "python", "stdin": "1", "run_timeout": 1, "files": {"a": "eA=="}},
        "/submit": SUBMIT,
    },
}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with started() as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.parametrize("dialect", ["native", *DIALECTS])
def test_the_valid_requests_from_which_malformed_ones_are_made_are_valid(client, dialect):
    for path, body in VALID[dialect].items():
        answer = client.post(path, json=body)
        assert answer.is_success, (path, answer.text)


@pytest.mark.thorough
@pytest.mark.timeout(900)
@pytest.mark.parametrize("dialect", ["native", *DIALECTS])
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_malformed_requests_never_are_faults_of_the_server(client, dialect, data):
    path = data.draw(st.sampled_from(sorted(VALID[dialect])))
    is_answered(client, path, data.draw(bodies(VALID[dialect][path])))
