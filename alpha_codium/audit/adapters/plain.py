"""python3 itself, as plainly as can be: the witness beside a grader's answer.

A program runs as a file, with stdin and stdout as files. One that is called, or tested by assertions, is imported.
"""

import json
import os
import resource
import secrets
import subprocess
import sys
import tempfile

# CPU time, which doesn't depend on what else runs, and time on the clock, for programs that wait.
SECONDS, WALL_SECONDS = 5, 12
# What imports `case`, and tells what came of it by a file.
CALL = """
import json, case
function = getattr(case, {name!r}, None) or getattr(case.Solution(), {name!r})
result = function(*json.loads({arguments!r}))
open({path!r}, "w").write({mark!r} + json.dumps(result))
"""
IMPORT = """
import case
open({path!r}, "w").write({mark!r})
"""


def limit():
    """Limit the CPU time of this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(program, text="", **files):
    """Return the exit status (None: it never ended) and output of a program, beside which are other modules."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {"program.py": program, "in.txt": text, **files}.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
                file.write(content)
        given, out = os.path.join(folder, "in.txt"), os.path.join(folder, "out.txt")
        with open(given, "rb") as source, open(out, "wb") as target:
            command = [sys.executable, os.path.join(folder, "program.py")]
            streams = {"stdin": source, "stdout": target, "stderr": subprocess.DEVNULL}
            limits = {"timeout": WALL_SECONDS, "preexec_fn": limit}
            try:
                status = subprocess.run(command, cwd=folder, **streams, **limits).returncode
            except subprocess.TimeoutExpired:
                return None, ""
        with open(out, encoding="utf-8", errors="replace") as file:
            return status, file.read()


def told(driver, program, **values):
    """Return what a driver tells of a program; None if it doesn't come to that."""
    mark = secrets.token_hex(8)
    with tempfile.NamedTemporaryFile("r") as file:
        status, _ = run(driver.format(path=file.name, mark=mark, **values), **{"case.py": program})
        text = file.read()
    return text[len(mark) :] if status == 0 and text.startswith(mark) else None


def grade(program, inputs, outputs):
    """Whether it prints the expected tokens and exits with 0."""
    found = [run(program, text) for text in inputs]
    return bool(inputs) and all(
        status == 0 and said.split() == expected.split() for (status, said), expected in zip(found, outputs)
    )


def grade_call(program, function, arguments, results):
    """Whether each call, in a process of its own, returns what is expected, as JSON has it."""
    found = [told(CALL, program, name=function, arguments=json.dumps(each)) for each in arguments]
    return bool(found) and all(text and json.loads(text) == result for text, result in zip(found, results))


def grade_assertions(program, tests, function):
    """Whether the program followed by each test can be imported."""
    return bool(tests) and all(told(IMPORT, program + "\n\n" + test) is not None for test in tests)
