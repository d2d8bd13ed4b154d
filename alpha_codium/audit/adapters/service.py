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
# The languages of a dialect, and its names for them.
NAMES = {
    "judge": {"python3": "python3", "cpp": "cpp", "java": "java"},
    "judge0": {"python3": 71, "cpp": 54, "java": 62},
    "code_judge": {"python3": "python", "cpp": "cpp"},
    "open_instruct": {"python3": "python"},
    "piston": {"python3": "python", "cpp": "c++", "java": "java"},
    "sandbox_fusion": {"python3": "python", "cpp": "cpp", "java": "java"},
}
LANGUAGES = [name for name in NAMES[DIALECT] if name != "python3"]
# What Judge0 gives a program that asks for it: in kB, but for the time.
LIMITS = {"cpu_time_limit": SECONDS, "memory_limit": 512_000, "max_file_size": 4096}


def post(path, **content):
    """Return the JSON that the service answers with; a refusal raises HTTPError."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, json.dumps(content).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def ran(status, said, expected):
    """Whether a program that was only run ended with 0 and printed the expected tokens."""
    return status == 0 and said.split() == expected.split()


def judge(program, text, expected, language):
    """Judge one test as the dialect asks; see the module."""
    if DIALECT == "judge0":
        fields = {"source_code": program, "language_id": language, "stdin": text, "expected_output": expected}
        # It refuses an empty program.
        return bool(program) and post("/submissions?wait=true", **LIMITS, **fields)["status"]["id"] == 3
    if DIALECT == "code_judge":
        return post("/judge", type=language, solution=program, input=text, expected_output=expected)["success"]
    if DIALECT == "piston":
        times = {"run_timeout": SECONDS * 1000}
        run = post("/api/v2/execute", language=language, version="*", files=[{"content": program}], stdin=text, **times)
        return ran(run["run"]["code"], run["run"]["stdout"], expected) if "run" in run else False
    run = post("/run_code", code=program, language=language, stdin=text, run_timeout=SECONDS)["run_result"]
    return ran(run["return_code"], run["stdout"], expected) if run else False


def grade(program, inputs, outputs, language="python3"):
    """Whether the service accepts the program, or every test of it."""
    tests = [{"input": i, "output": o} for i, o in zip(inputs, outputs)]
    if DIALECT == "judge":
        return post("/v1/judge", program=program, tests=tests, language=language)["accepted"]
    if DIALECT == "open_instruct":
        results = post("/test_program_stdio", program=program, tests=tests, max_execution_time=SECONDS)["results"]
        return bool(results) and all(results)
    name = NAMES[DIALECT][language]
    return bool(tests) and all(judge(program, test["input"], test["output"], name) for test in tests)


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


# An address where nothing answers is no grader; what it answers here doesn't matter.
try:
    urllib.request.urlopen(URL, timeout=30).close()
except urllib.error.HTTPError:
    pass
