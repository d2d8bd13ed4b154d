"""What programs do when they are compiled and executed plainly, by a shell: known verdicts are confirmed by that.

The shell and all that it starts run in the namespaces of the backend `portable`, without a network.
"""

from collections.abc import Sequence

from alpha_codium.judge import Judge
from alpha_codium.limits import Limits
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Status, Verdict, first_failure

# Compiles the program, and prints for each input how it ended, the size of its output in bytes, and the output.
SHELL = """
export TMPDIR=$PWD
{compile} || exit 99
number=0
while [ -f in/$number ]; do
    (ulimit -t {seconds}; exec {run} < in/$number > out 2> /dev/null)
    echo $? $(wc -c < out)
    cat out
    number=$((number + 1))
done
"""
COMMANDS = {"cpp": ("g++ -std=gnu++17 -O2 -w -o program program.cpp", "./program")}
LIMITS = Limits(
    cpu_seconds=1200, wall_seconds=3000, memory_bytes=4 << 30, output_bytes=64 << 20, file_bytes=64 << 20,
    open_files=256, processes=128,
)  # fmt: skip
# Of a shell, for signals that the CPU limit sends: SIGXCPU, SIGKILL.
TOO_SLOW = (128 + 24, 128 + 9)


async def plain_verdict(
    portable: Sandbox, judging: Sandbox, problem: Problem, tests: Sequence[TestCase], language: str, source: str
) -> Verdict:
    """Return the verdict of a plain execution, within the problem's own time limit; outputs are compared as always."""
    seconds = max(1, -int(-(problem.time_limit_seconds or 4) // 1))
    compiling, run = COMMANDS[language]
    main = Program.from_source(language, source).main
    files = {main: source} | {f"in/{number}": test.input for number, test in enumerate(tests)}
    script = SHELL.format(compile=compiling, run=run, seconds=seconds)
    job = Job(Program(language, files, main), limits=LIMITS, command=("/bin/sh", "-c", script))
    execution = (await report_of(portable, job)).last
    if execution.exit_code == 99:
        return Verdict.COMPILATION_ERROR
    assert execution.status is Status.FINISHED, execution
    ended = list(_parsed(execution.stdout.encode()))
    assert len(ended) == len(tests)
    outputs = {test.input: text for test, (_, text) in zip(tests, ended, strict=True)}
    printing = f"import sys\nsys.stdout.write({outputs!r}[sys.stdin.read()])"
    compared = await Judge(judging).for_problem(problem).judge(printing, tests, stop_early=False)
    return first_failure(
        _verdict(status, test.verdict) for (status, _), test in zip(ended, compared.tests, strict=True)
    )


def _verdict(status: int, compared: Verdict) -> Verdict:
    if status in TOO_SLOW:
        return Verdict.TIME_LIMIT_EXCEEDED
    return compared if status == 0 else Verdict.RUNTIME_ERROR


def _parsed(shown: bytes) -> "list[tuple[int, str]]":
    found = []
    while shown:
        head, _, rest = shown.partition(b"\n")
        status, size = map(int, head.split())
        found.append((status, rest[:size].decode()))
        shown = rest[size:]
    return found
