"""python3 itself, as plainly as can be, or g++ or java: the witness beside a grader's answer.

A program runs as a file, with stdin and stdout as files. One that is called, or tested by assertions, is imported.
"""

import json
import os
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile

# CPU time, which doesn't depend on what else runs, and time on the clock, for programs that wait.
SECONDS, WALL_SECONDS = 5, 12
# Language -> the file of a program, the command that builds it, and the one that runs what was built in a folder.
BUILT = {
    "cpp": ("main.cpp", ["g++", "-O2", "-std=c++17", "-o", "main", "main.cpp"], ["{}/main"]),
    "java": ("Main.java", ["javac", "Main.java"], ["java", "-Xss64m", "-cp", "{}", "Main"]),
}
LANGUAGES = [language for language, (_, build, _) in BUILT.items() if shutil.which(build[0])]
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


def run(command, text="", **files):
    """Return the exit status (None: it never ended) and output of a command in a folder of its own with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {"in.txt": text, **files}.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
                file.write(content)
        given, out = os.path.join(folder, "in.txt"), os.path.join(folder, "out.txt")
        with open(given, "rb") as source, open(out, "wb") as target:
            streams = {"stdin": source, "stdout": target, "stderr": subprocess.DEVNULL}
            limits = {"timeout": WALL_SECONDS, "preexec_fn": limit}
            try:
                status = subprocess.run(command, cwd=folder, **streams, **limits).returncode
            except subprocess.TimeoutExpired:
                return None, ""
        with open(out, encoding="utf-8", errors="replace") as file:
            return status, file.read()


def run_python(program, text="", **files):
    """Return the exit status and output of a program in Python."""
    return run([sys.executable, "program.py"], text, **{"program.py": program}, **files)


def run_built(program, language, inputs):
    """Return the exit status and output of a program for each input; none if it can't be built."""
    name, build, start = BUILT[language]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(program)
        if subprocess.run(build, cwd=folder, stderr=subprocess.DEVNULL).returncode:
            return []
        return [run([word.format(folder) for word in start], text) for text in inputs]


def told(driver, program, **values):
    """Return what a driver tells of a program; None if it doesn't come to that."""
    mark = secrets.token_hex(8)
    with tempfile.NamedTemporaryFile("r") as file:
        status, _ = run_python(driver.format(path=file.name, mark=mark, **values), **{"case.py": program})
        text = file.read()
    return text[len(mark) :] if status == 0 and text.startswith(mark) else None


def grade(program, inputs, outputs, language="python3"):
    """Whether it prints the expected tokens and exits with 0."""
    python = language == "python3"
    found = [run_python(program, text) for text in inputs] if python else run_built(program, language, inputs)
    return bool(found) and all(
        status == 0 and said.split() == expected.split() for (status, said), expected in zip(found, outputs)
    )


def grade_call(program, function, arguments, results):
    """Whether each call, in a process of its own, returns what is expected, as JSON has it."""
    found = [told(CALL, program, name=function, arguments=json.dumps(each)) for each in arguments]
    return bool(found) and all(text and json.loads(text) == result for text, result in zip(found, results))


def grade_assertions(program, tests, function):
    """Whether the program followed by each test can be imported."""
    return bool(tests) and all(told(IMPORT, program + "\n\n" + test) is not None for test in tests)
