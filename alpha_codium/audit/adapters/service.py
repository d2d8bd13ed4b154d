"""A judge behind a URL, in one of the dialects that `gencode serve` speaks.

`judge`, `judge0`, `code_judge` and `open_instruct` compare what programs print; for `sandbox_fusion` and `piston`,
which only run them, tokens are compared here. The URL and the dialect are in `GENCODE_AUDIT_TARGET` and
`GENCODE_AUDIT_DIALECT`.
"""

import json
import os
import urllib.error
import urllib.request

URL = os.environ["GENCODE_AUDIT_TARGET"].rstrip("/")
DIALECT = os.environ["GENCODE_AUDIT_DIALECT"]
SECONDS = 5


def post(path, **content):
    """Return the JSON that the service answers with; a refusal raises HTTPError."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, json.dumps(content).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def ran(status, said, expected):
    """Whether a program that was only run ended with 0 and printed the expected tokens."""
    return status == 0 and said.split() == expected.split()


def judge(program, text, expected):
    """Judge one test as the dialect asks; see the module."""
    if DIALECT == "judge0":
        fields = {"source_code": program, "language_id": 71, "stdin": text, "expected_output": expected}
        return post("/submissions?wait=true", cpu_time_limit=SECONDS, **fields)["status"]["id"] == 3
    if DIALECT == "code_judge":
        return post("/judge", type="python", solution=program, input=text, expected_output=expected)["success"]
    if DIALECT == "piston":
        times = {"run_timeout": SECONDS * 1000}
        run = post("/api/v2/execute", language="python", version="*", files=[{"content": program}], stdin=text, **times)
        return ran(run["run"]["code"], run["run"]["stdout"], expected)
    run = post("/run_code", code=program, language="python", stdin=text, run_timeout=SECONDS)["run_result"]
    return ran(run["return_code"], run["stdout"], expected)


def grade(program, inputs, outputs):
    """Whether the service accepts the program, or every test of it."""
    tests = [{"input": i, "output": o} for i, o in zip(inputs, outputs)]
    if DIALECT == "judge":
        return post("/v1/judge", program=program, tests=tests)["accepted"]
    if DIALECT == "open_instruct":
        results = post("/test_program_stdio", program=program, tests=tests, max_execution_time=SECONDS)["results"]
        return bool(results) and all(results)
    return bool(tests) and all(judge(program, test["input"], test["output"]) for test in tests)


if DIALECT == "judge":

    def grade_call(program, function, arguments, results):
        """Whether the service accepts the program."""
        tests = [{"input": json.dumps(i), "output": json.dumps(o)} for i, o in zip(arguments, results)]
        return post("/v1/judge", program=program, tests=tests, kind="call", entry_point=function)["accepted"]


if DIALECT in ("judge", "open_instruct"):

    def grade_assertions(program, tests, function):
        """Whether the service accepts the program."""
        if DIALECT == "open_instruct":
            results = post("/test_program", program=program, tests=tests, max_execution_time=SECONDS)["results"]
            return bool(results) and all(results)
        given = [{"input": test, "output": ""} for test in tests]
        return post("/v1/judge", program=program, tests=given, kind="assertions", entry_point=function)["accepted"]
