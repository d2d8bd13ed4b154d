"""CPU time of compiling and of tests in each language: in the sandbox, and by the same commands outside of it.

    python -m benchmarks.languages                  # all languages of this machine
    python -m benchmarks.languages cpp java --rounds 5 --tests 30

1. All figures are CPU times of all processes, counted by a control group, in one run; a round of each in turn. A ratio
   is taken within a round; the median over the rounds is reported.
2. `compile`: the command of the language for a program that wasn't compiled before, with what is prepared for all
   programs, such as C++'s precompiled header; beside it the same command with the same header outside of a jail.
3. `test`: one more test of a compiled program; beside it `posix_spawn` and `wait` of the same artifact, with files in
   memory as its streams. `start`: what the first test takes in addition, since the program is started before it.
4. For C++ also: a program with all its tests against compiling it for each test, without a precompiled header.

The programs are ours, so it is no risk to run them without a sandbox.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import alpha_codium as ac
from alpha_codium.errors import SandboxError
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.languages.tools import ARTIFACT, PREPARED, Build
from alpha_codium.paths import programs_folder
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox.conformance.test_languages import MODES
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.program_cache import ProgramCache
from alpha_codium.verdict import Execution
from benchmarks.sandbox.meter import CgroupMeter, open_meter

INPUT, OUTPUT = "add 40 2\n", b"42\n"
INSIDE = "--inside"
# Seconds until what ends after an answer has ended. Reading the counter again and again would itself count.
PAUSE = 0.1


def source_of(language: str) -> str:
    """Return a program that wasn't compiled before."""
    comment = "#" if LANGUAGES[language].suffix in (".py", ".rb") else "//"
    return f"{(MODES / f'modes{LANGUAGES[language].suffix}').read_text()}\n{comment} {time.time_ns()}\n"


def build_of(language: str, source: str) -> Build:
    """Return how a program is built; raises SandboxError if a tool is missing."""
    build = language_named(language).build(Program.from_source(language, source), ac.Limits())
    assert build is not None
    return build


class Contenders:
    """One language: compiling and testing, in an open sandbox and outside of it."""

    def __init__(self, language: str, sandbox: ac.Sandbox, tests: int) -> None:
        self.language, self.sandbox, self.tests = language, sandbox, tests
        self.cache = ProgramCache(programs_folder())
        self.source = source_of(language)
        self.build = build_of(language, self.source)

    async def in_sandbox(self, source: str, inputs: int) -> None:
        """Run a program on that many inputs, and compare its outputs."""
        job = Job(Program.from_source(self.language, source), (INPUT,) * inputs)
        executions: list[Execution] = []
        # As the judge runs tests: the outputs are compared in the worker's thread.
        compilation = await self.sandbox.consume(job, lambda execution: not executions.append(execution))
        assert [each.stdout.encode() for each in executions] == [OUTPUT] * inputs, (compilation, executions)

    def plain_compile(self, build: Build) -> None:
        """Run the compiler in a new folder."""
        prepared = self.cache.find(build.prepared) if build.prepared is not None else None
        made = str(prepared)[: -len(build.prepared.artifact) - 1] if build.prepared is not None else ""
        command = [argument.replace(PREPARED, made) for argument in build.command]
        with tempfile.TemporaryDirectory() as folder:
            for path, text in build.files.items():
                Path(folder, path).write_text(text)
            environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", **build.environment}
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)

    def compile_without_header(self) -> None:
        """Compile the program of C++ as others do."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "program.cpp").write_text(self.source)
            command = ["g++", *self.build.command[1:5], "program.cpp"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)

    def plain_test(self) -> None:
        """Run the artifact once, and compare its output."""
        made = self.cache.find(self.build)
        assert made is not None
        start = self.build.start
        command = [argument.replace(ARTIFACT, str(made)) for argument in start.command] or [str(made)]
        if not start.command:
            made.chmod(0o755)
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **start.environment}
        with files.closing([files.input_file(INPUT.encode()), files.output_file("stdout")]) as fds:
            actions = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(fds)]
            pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
            assert os.waitpid(pid, 0)[1] == 0
            assert os.pread(fds[1], 100, 0) == OUTPUT

    async def round(self, cpu: Callable[[], float]) -> dict[str, float]:
        """Return the CPU milliseconds of each contender in one round."""
        taken: dict[str, float] = {}

        def note(name: str, since: float, times: int) -> None:
            taken[name] = 1e3 * (cpu() - since) / times

        since = cpu()
        await self.in_sandbox(self.source, 1)
        note("first test", since, 1)
        since = cpu()
        await self.in_sandbox(self.source, self.tests)
        note("all tests", since, 1)
        taken["test"] = (taken["all tests"] - taken["first test"]) / (self.tests - 1)
        taken["start"] = taken["first test"] - taken["test"]
        since = cpu()
        for _ in range(self.tests):
            self.plain_test()
        note("plain test", since, self.tests)
        since = cpu()
        await self.in_sandbox(source_of(self.language), 0)
        note("compile", since, 1)
        since = cpu()
        self.plain_compile(build_of(self.language, source_of(self.language)))
        note("plain compile", since, 1)
        if self.language == "cpp":
            since = cpu()
            self.compile_without_header()
            note("compile without a header", since, 1)
        return taken


def paused(group: CgroupMeter) -> float:
    """Return the CPU seconds of the group, after a pause."""
    time.sleep(PAUSE)
    return group.seconds(0) or 0.0


async def measure(languages: list[str], rounds: int, tests: int, cpu: Callable[[], float]) -> None:
    """Print a line for each language."""
    print(f"{'CPU ms':<12}{'start':>9}{'test':>9}{'plain':>9}{'ratio':>7}{'compile':>10}{'plain':>9}{'ratio':>7}")
    async with ac.open_sandbox("local", workers=1, preload=()) as sandbox:
        for language in languages:
            try:
                contenders = Contenders(language, sandbox, tests)
            except SandboxError as error:
                print(f"{language:<12}{error}")
                continue
            await contenders.in_sandbox(contenders.source, 1)
            taken = [await contenders.round(cpu) for _ in range(rounds)]
            report(language, taken, tests)


def report(language: str, taken: list[dict[str, float]], tests: int) -> None:
    """Print the medians of one language."""
    line = f"{language:<12}{median(each['start'] for each in taken):>9.2f}"
    for what, width in (("test", 9), ("compile", 10)):
        ours, plain = (median(each[name] for each in taken) for name in (what, f"plain {what}"))
        ratio = median(each[what] / each[f"plain {what}"] for each in taken)
        line += f"{ours:>{width}.2f}{plain:>9.2f}{ratio:>7.2f}"
    print(line, flush=True)
    if language == "cpp":
        in_all = [
            tests * (each["compile without a header"] + each["plain test"]) / (each["compile"] + each["all tests"])
            for each in taken
        ]
        print(f"{tests} tests: compiling for each, without a header, takes {median(in_all):.1f} times as much")


def main() -> None:
    """Read the arguments, and measure in a control group of our own."""
    known = [name for name in LANGUAGES if name != PYTHON]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("languages", nargs="*", choices=[*known, []], default=[], metavar="LANGUAGE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tests", type=int, default=30)
    parser.add_argument(INSIDE, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tests < 2:
        parser.error("--tests must be at least 2: the first test also starts the program")
    if options.inside:
        group = CgroupMeter(Path(options.inside[0]), options.inside[1])
        asyncio.run(measure(options.languages or known, options.rounds, options.tests, lambda: paused(group)))
        return
    meter = open_meter()
    try:
        if not isinstance(meter, CgroupMeter):
            sys.exit(meter.note)
        inside = [INSIDE, str(meter.folder), meter.counter.name]
        command = meter.wrap([sys.executable, "-m", "benchmarks.languages", *sys.argv[1:], *inside])
        sys.exit(subprocess.run(command, check=False).returncode)
    finally:
        meter.close()


if __name__ == "__main__":
    main()
