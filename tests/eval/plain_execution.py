"""What programs do when they are compiled and executed plainly, by a shell: known verdicts are confirmed by that.

The shell and all that it starts run in the namespaces of the backend `portable`, without a network.
"""

import base64
from collections.abc import Sequence

from alpha_codium.judge import Judge, Rules
from alpha_codium.limits import Limits
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Status, Verdict, first_failure

# Compiles the program, and prints for each input: how it ended, whether it said that memory was lacking, the size of
# its output, and the output, unless it is too large.
SHELL = """
export TMPDIR=$PWD
{compile} || exit 99
number=0
while [ -f in/$number ]; do
    (ulimit -t {seconds}; ulimit -f {blocks}; exec timeout -s KILL {wall} {run} < in/$number > out 2> errors)
    echo $? $(grep -c -e OutOfMemoryError -e bad_alloc errors) $(wc -c < out) \
        _$([ $(wc -c < out) -gt {most} ] || base64 -w0 out)
    number=$((number + 1))
done
"""
# The file is named like the public class; the class to run is the one that has a main method, without which a program
# doesn't compile.
JAVAC = r"""
file=$(sed -nE 's/^public (final )?(class|interface|enum|record) ([^ {<]+).*/\3/p' program.java | head -1)
[ "${file:-program}" = program ] || mv program.java "$file.java"
javac -encoding UTF-8 -d classes *.java || exit 99
main=$(cd classes && find . -name '*.class' | sed 's/\.class$//; s/^..//' | sort | while read class; do
    javap -public -cp . "$class" | grep -q 'static void main(java.lang.String' && echo "$class" && break
done)
[ "$main" ] || exit 99
"""
COMMANDS = {
    "cpp": ("g++ -std=gnu++17 -O2 -w -o program program.cpp", "./program"),
    "java": (JAVAC.strip(), "java -Xss128m -Xmx{kibibytes}k -XX:+UseSerialGC -DONLINE_JUDGE=true -cp classes $main"),
}
# Of the shell, which runs all tests of a program one after the other. The memory is address space, of which a Java
# program reserves much.
LIMITS = Limits(
    cpu_seconds=1200, wall_seconds=3000, memory_bytes=64 << 30, output_bytes=192 << 20, file_bytes=64 << 20,
    open_files=256, processes=256,
)  # fmt: skip
BLOCK_BYTES = 512
# Of a shell, for signals that the CPU limit and `timeout` send: SIGXCPU, SIGKILL.
TOO_SLOW = (128 + 24, 128 + 9)


async def plain_verdict(
    portable: Sandbox, judging: Sandbox, problem: Problem, tests: Sequence[TestCase], language: str, source: str
) -> Verdict:
    """Return the verdict of a plain execution, within the problem's own limits; outputs are compared as always."""
    limits = Rules(time_limit_factor=1.0).limits_for(problem)
    main = Program.from_source(language, source).main
    files = {main: source} | {f"in/{number}": test.input for number, test in enumerate(tests)}
    shell = f"import os\nos.execv('/bin/sh', ['/bin/sh', '-c', {script(language, limits)!r}])"
    job = Job(Program(PYTHON, files | {"shell.py": shell}, "shell.py"), ("",), LIMITS)
    execution = (await report_of(portable, job)).last
    if execution.exit_code == 99:
        return Verdict.COMPILATION_ERROR
    assert execution.status is Status.FINISHED, execution
    ended = [line.split(" ") for line in execution.stdout.splitlines()]
    assert len(ended) == len(tests), execution
    outputs = [base64.b64decode(output[1:]) for *_, output in ended]
    compared = await compare(judging, problem, tests, outputs)
    return first_failure(
        verdict_of(int(status), int(memory), int(size) > limits.output_bytes, on_output)
        for (status, memory, size, _), on_output in zip(ended, compared, strict=True)
    )


def script(language: str, limits: Limits) -> str:
    """Return what the shell executes for a program, whose tests have these limits."""
    compiling, run = COMMANDS[language]
    return SHELL.format(
        compile=compiling,
        run=run.format(kibibytes=limits.memory_bytes >> 10),
        seconds=-int(-limits.cpu_seconds // 1),
        wall=limits.wall_seconds,
        most=limits.output_bytes,
        blocks=limits.output_bytes // BLOCK_BYTES + 1,
    )


async def compare(
    judging: Sandbox, problem: Problem, tests: Sequence[TestCase], outputs: Sequence[bytes]
) -> list[Verdict]:
    """Return the verdict on each output, by the problem's checker."""
    texts = {test.input: output.decode("utf-8", "replace") for test, output in zip(tests, outputs, strict=True)}
    printing = f"import sys\nsys.stdout.write({texts!r}[sys.stdin.read()])"
    judgement = await Judge(judging).for_problem(problem).judge(printing, tests, stop_early=False)
    return [test.verdict for test in judgement.tests]


def verdict_of(status: int, memory: int, too_much_output: bool, on_output: Verdict) -> Verdict:
    """Return the verdict of a test by what the shell says of it, and the verdict on its output."""
    if too_much_output:
        return Verdict.OUTPUT_LIMIT_EXCEEDED
    if status in TOO_SLOW:
        return Verdict.TIME_LIMIT_EXCEEDED
    if status:
        return Verdict.MEMORY_LIMIT_EXCEEDED if memory else Verdict.RUNTIME_ERROR
    return on_output
