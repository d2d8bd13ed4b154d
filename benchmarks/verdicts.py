"""What the judge says of published programs, frozen row by row, so that a change can prove that no verdict moved.

    python benchmarks/verdicts.py freeze --data ../shared/data --backend local --output before.jsonl
    python benchmarks/verdicts.py freeze --data ../shared/data --backend local --output again.jsonl
    (the change)
    python benchmarks/verdicts.py freeze --data ../shared/data --backend local --output after.jsonl
    python benchmarks/verdicts.py compare --baseline before.jsonl --baseline again.jsonl after.jsonl

1. Programs are judged as `gencode eval` judges them, with the default settings, on all tests of their problem (the
   first 20 of those that have 200), and run in the sandbox only. A program that is known to run out of time is judged
   with `stop_early`: it would take minutes. The set `humaneval_batches` goes the way of `code_eval` instead
   (`attempt_batch`).
2. A file holds a line with the options, then rows: one for each test, and after those one for their program. All rows
   of a program are written at once, and a freeze that was cut off goes on where it stopped when it is started again.
3. `executions_run` is counted where the sandbox gives executions, runs of a checker included. Of a batch it isn't told:
   how many programs run twice there depends on the machine's load.
4. Baselines of the same code show what differs by itself. A field in which they disagree isn't compared.
5. Backends that are slow judge a part with `--share` or `--limit`; `compare --common` holds that against all. `oci`
   takes image, engine and runtime from the environment (docs/containers.md).
6. Only `Package` knows the insides of alpha_codium. Everything below it works on plain values.
"""

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import itertools
import json
import platform
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]
Key = tuple[Any, ...]


class Package:
    """alpha_codium as this tool knows it: plain values in, plain values out.

    A change that renames the package's insides changes this class and `CountingSandbox`, and nothing else here.
    """

    def __init__(self, backend: str, workers: int) -> None:
        from alpha_codium.config import CodeTesterSection
        from alpha_codium.judge import Rules
        from alpha_codium.sandbox import sandbox_of

        settings = CodeTesterSection(tester_type=backend, workers=workers)
        self.sandbox, self.rules = sandbox_of(settings), Rules.of(settings)

    async def __aenter__(self) -> Self:
        self.sandbox = await self.sandbox.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.sandbox.__aexit__(*error)

    async def judge(self, record: Row, setup: str, program: str, *, stop_early: bool) -> Row:
        """What the judge says of one program by all tests of the raw record `record`.

        `setup` says what of a prompt's own code the program may use, as `gencode eval score --setup` does.
        """
        from alpha_codium.errors import Unjudgeable
        from alpha_codium.judge import Judge
        from alpha_codium.problem import TestType
        from alpha_codium.verdict import Judgement, Verdict

        problem = self._problem(record, setup)
        tests = problem.tests(tuple(TestType))
        sandbox = CountingSandbox(self.sandbox)
        try:
            judge = Judge(sandbox, self.rules).for_problem(problem)
            judgement = await judge.judge(program, tests, stop_early=stop_early)
        except Unjudgeable as reason:
            judgement = Judgement(Verdict.INTERNAL_ERROR, tests_total=len(tests), message=str(reason))
        return {
            "verdict": judgement.verdict.value,
            "message": judgement.message,
            "compilation": sandbox.compilation,
            "executions_run": sandbox.executions,
            "cpu_limit": self.rules.limits_for(problem).cpu_seconds,
            "tests": [self._told(result) for result in judgement.tests],
        }

    async def judge_together(self, record: Row, setup: str, programs: Sequence[str]) -> list[Row]:
        """What `attempt_batch` says of programs under the assertions of the raw record `record`."""
        from alpha_codium.judge.assertion_batches import Task, attempt_batch
        from alpha_codium.judge.assertions import AssertionsKind

        problem = self._problem(record, setup)
        limits = self.rules.limits_for(problem)
        kind = AssertionsKind(self.sandbox, limits, problem.execution)
        attempts = await attempt_batch(kind, [Task(program, problem.execution.test_code) for program in programs])
        return [
            {
                "verdict": attempt.result.verdict.value,
                "message": attempt.failure or "",
                "compilation": None,
                "executions_run": None,
                "cpu_limit": limits.cpu_seconds,
                "tests": [self._told(attempt.result)],
            }
            for attempt in attempts
        ]

    @staticmethod
    def _problem(record: Row, setup: str) -> Any:
        from alpha_codium.data import problem_from_record
        from alpha_codium.data.samples.setup import with_setup

        return with_setup(problem_from_record(record), setup)

    @staticmethod
    def _told(result: Any) -> Row:
        return {
            "verdict": result.verdict.value,
            "status": result.execution.status.value,
            "trust": result.trust,
            "stdout": result.execution.stdout,
            "stderr": result.execution.stderr,
            "cpu_seconds": result.execution.cpu_seconds,
        }


class CountingSandbox:
    """A sandbox that counts the executions it gives, and remembers how the first program compiled."""

    def __init__(self, sandbox: Any) -> None:
        self.sandbox = sandbox
        self.executions = 0
        self.compilation = "not_compiled"

    async def consume(self, job: Any, look: Callable[[Any], bool]) -> Any:
        """See `Sandbox.consume`."""

        def count(execution: Any) -> bool:
            self.executions += 1
            return look(execution)

        compilation = await self.sandbox.consume(job, count)
        self._compiled(compilation)
        return compilation

    async def run(self, *arguments: Any, **options: Any) -> Any:
        """See `Sandbox.run`."""
        report = await self.sandbox.run(*arguments, **options)
        self._count(report)
        return report

    async def execute_pair(self, job: Any) -> Any:
        """See `Sandbox.execute_pair`; the program stands on the right."""
        report = await self.sandbox.execute_pair(job)
        self._count(report.right)
        self._count(report.left)
        return report

    def _count(self, report: Any) -> None:
        self.executions += len(report.executions)
        self._compiled(report.compilation)

    def _compiled(self, compilation: Any) -> None:
        if self.compilation == "not_compiled":
            self.compilation = compilation.status.value


# What is judged.

FULL, STOP_EARLY, BATCH = "full", "stop_early", "batch"
PYTHON3 = 3
CODET_STEP = 20
MOST_TESTS = 20
# Programs of codecontests_test that take long on every test, which their labels don't say.
SLOW = {"912df8c0e700bc79", "b2c04a8f3e699544", "2fc69da00dd220f5", "be0329bb5a2e2eae", "2e8043377ed90f73"}
CODET = "samples_humaneval_codet_codegen16b_n100.jsonl.gz"


@dataclass(frozen=True)
class Job:
    """Programs of one problem that are judged together: one, but for a batch. Each has its index in its set."""

    name: str
    problem: str
    record: Row
    programs: tuple[tuple[int, str], ...]
    mode: str = FULL
    setup: str = "all"

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return self.name, self.problem, self.mode, *(sha256(program) for _, program in self.programs)


def sha256(text: str) -> str:
    """The first 16 digits of a text's digest."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def records(path: Path) -> list[Row]:
    """The rows of a file of JSON lines, which may be packed."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [json.loads(line) for line in file]


def jobs_of(name: str, rows: Iterable[tuple[str, Row, str, bool]], setup: str = "all") -> Iterator[Job]:
    """A job for each different program; rows are a problem's name, its record, a program, and whether that is slow."""
    seen = set()
    for index, (problem, record, program, slow) in enumerate(rows):
        if (problem, program) not in seen:
            seen.add((problem, program))
            yield Job(name, problem, record, ((index, program),), STOP_EARLY if slow else FULL, setup)


def codecontests_train(data: Path) -> Iterator[Job]:
    """One human solution a problem."""
    rows = (
        (record["name"], record, code, False)
        for record in records(data / "codecontests_train.jsonl")
        for language, code in zip(*(record["solutions"][key] for key in ("language", "solution")), strict=True)
        if language == PYTHON3
    )
    return jobs_of("codecontests_train", rows)


def codecontests_test(data: Path) -> Iterator[Job]:
    """Programs of models on problems with about 200 tests, which are labelled by the first of those."""
    rows = (
        (record["name"], beginning_of(record), sample["code"], _is_slow(sample))
        for record in records(data / "codecontests_test.jsonl")
        for sample in record["x_meta"].get("model_samples", [])
    )
    return jobs_of("codecontests_test", rows)


def _is_slow(sample: Row) -> bool:
    return sample["observed"] == "TLE" or sha256(sample["code"]) in SLOW


def beginning_of(record: Row) -> Row:
    """The record with the first of its private tests only."""
    return record | {"private_tests": {key: texts[:MOST_TESTS] for key, texts in record["private_tests"].items()}}


def icpc(data: Path) -> Iterator[Job]:
    """Submissions of known verdict to packages with checkers of their own."""
    rows = (
        (record["name"], record, each["code"], "TLE" in (each["expected_verdict"], each["observed_verdict_py311"]))
        for record in records(data / "icpc_known_verdict.jsonl")
        for each in record["submissions"]
        if each["language"] == PYTHON3
    )
    return jobs_of("icpc", rows)


def humaneval(data: Path) -> Iterator[Job]:
    """The canonical solutions."""
    rows = (
        (record["task_id"], record, record["prompt"] + record["canonical_solution"], False)
        for record in records(data / "humaneval.jsonl")
    )
    return jobs_of("humaneval", rows)


def mbpp(data: Path) -> Iterator[Job]:
    """The canonical solutions."""
    rows = ((f"Mbpp/{record['task_id']}", record, record["code"], False) for record in records(data / "mbpp.jsonl"))
    return jobs_of("mbpp", rows)


def apps(data: Path) -> Iterator[Job]:
    """Human solutions, and programs of models: by streams and by calls."""

    def programs() -> Iterator[tuple[str, Row, str, bool]]:
        for record in records(data / "apps.jsonl"):
            meta = record["x_meta"]
            problem = f"{meta['split']}/{record['problem_id']}"
            yield from ((problem, record, code, False) for code in json.loads(record["solutions"]))
            for sample in (*meta.get("labelled_samples", ()), *meta.get("model_samples", ())):
                slow = sample.get("observed") == "tle" or sample.get("error_type") == "timeoutexception"
                yield problem, record, sample["code"], slow

    return jobs_of("apps", programs())


def samples(name: str, file: str, problems: str) -> Callable[[Path], Iterator[Job]]:
    """Whole programs of models, published for HumanEval or MBPP."""

    def published(data: Path) -> Iterator[Job]:
        by_name = {_number_of(record): record for record in records(data / problems)}
        rows = (
            (row["task_id"], by_name[_number_of(row)], row["solution"], row["observed"] == "timeout")
            for row in records(data / file)
        )
        return jobs_of(name, rows, "imports")

    return published


def _number_of(row: Row) -> str:
    """The number of a problem, which files spell in several ways: HumanEval/3, MBPP/3, mbpp_3_is_not_prime, 3."""
    return re.findall(r"\d+", str(row.get("task_id", row.get("name"))))[0]


def humaneval_codet(data: Path) -> Iterator[Job]:
    """Some completions of every problem, most of them wrong."""
    problems = {record["task_id"]: record for record in records(data / "humaneval.jsonl")}
    rows = (
        (
            row["task_id"],
            problems[row["task_id"]],
            problems[row["task_id"]]["prompt"] + row["completion"],
            row["observed"] == "timeout",
        )
        for row in records(data / CODET)[::CODET_STEP]
    )
    return jobs_of("humaneval_codet", rows, "imports")


def humaneval_batches(data: Path) -> Iterator[Job]:
    """All samples of a HumanEval problem at once."""
    by_problem: dict[str, list[Job]] = defaultdict(list)
    for name in ("humaneval_codet", "humaneval_mapcoder", "humaneval_ldb"):
        for job in SETS[name](data):
            by_problem[job.problem].append(job)
    for problem, jobs in by_problem.items():
        programs = dict.fromkeys(program for job in jobs for _, program in job.programs)
        yield Job("humaneval_batches", problem, jobs[0].record, tuple(enumerate(programs)), BATCH, "imports")


def edges(_data: Path) -> Iterator[Job]:
    """What published programs hardly do: every status, every kind of tests, tests and problems that are none."""
    for mode in (FULL, STOP_EARLY):
        for problem, programs in (
            (ADDING, (*PRINTING, *ANYWHERE)),
            (UNORDERED, PRINTING),
            (FILES, (*FILING, *PRINTING[:2])),
            (CALLS, (*DEFINING, *ANYWHERE)),
            (ASSERTIONS, (*DEFINING, *ANYWHERE)),
            (TOGETHER, NAMING),
            (FAULTY_CALLS, DEFINING[:3]),
            (FAULTY_ASSERTIONS, DEFINING[:3]),
            (OTHER_CHECKER, PRINTING[:2]),
            (NO_TESTS, PRINTING[:2]),
        ):
            for index, program in enumerate(programs):
                yield Job("edges", problem["name"], problem, ((index, program),), mode)


def _tests(*pairs: tuple[str, str]) -> Row:
    return {"input": [pair[0] for pair in pairs], "output": [pair[1] for pair in pairs]}


SUMS = _tests(("1 2\n", "3\n"), ("2 2\n", "4\n"), ("-1 1\n", "0\n"), ("10 -3\n", "7\n"))
# Soon reached, and far enough apart that a program reaches the same one each time.
TIGHT = {"time_limit": 0.3, "memory_limit_bytes": 1 << 28}
ADDING = {"name": "adding", "public_tests": _tests(("0 0\n", "0\n")), "private_tests": SUMS, **TIGHT}
UNORDERED = {
    "name": "unordered",
    "private_tests": _tests(("1 2\n", "3\n"), ("a b\n", "b\na\n")),
    "checker": {"name": "unordered_lines"},
}
FILES = {"name": "files", "private_tests": SUMS, "input_file": "sum.in", "output_file": "sum.out"}
CALLING = {"kind": "call", "entry_point": "add", "setup_code": "import math\nHELPER = 0\n"}
ASSERTING = CALLING | {"kind": "assertions"}
CALLS = {
    "name": "calls",
    "private_tests": _tests(("[1, 2]", "3"), ("[2, 2]", "[4]"), ("[-1, 1]", "0.0"), ("[[1], [2]]", "[1, 2]")),
    "execution": CALLING,
    **TIGHT,
}
ASSERTIONS = {
    "name": "assertions",
    "private_tests": _tests(
        ("assert add(1, 2) == 3", ""),
        ("for i in range(5):\n    assert add(i, i) == 2 * i, i", ""),
        ("assert isinstance(add([1], [2]), list)\nassert add([1], [2]) == [1, 2]", ""),
        ("try:\n    add(1, None)\nexcept TypeError:\n    pass\nelse:\n    assert False", ""),
        ("class Mine(int):\n    pass\nassert add(Mine(1), 2) == 3", ""),
    ),
    "execution": ASSERTING | {"test_code": "def check(candidate):\n    assert candidate(2, 2) == 4\n"},
    **TIGHT,
}
# What has to run in the program's process, or believes what its objects say of themselves.
TOGETHER = {
    "name": "together",
    "private_tests": _tests(
        ("class Mine(Name):\n    pass\nassert Mine('a').text == 'a'", ""),
        ("from unittest.mock import patch\nwith patch('builtins.len', lambda x: 7):\n    assert size('a') == 7", ""),
        ("assert Name('a') == Name('a')\nassert Name('a') != Name('b')", ""),
    ),
    "execution": {"kind": "assertions", "entry_point": "size"},
}
FAULTY_CALLS = {
    "name": "faulty calls",
    "private_tests": _tests(("[1, 2]", "3"), ("no JSON", "3"), ('{"a": 1}', "1"), ("[1, 1]", "none")),
    "execution": CALLING,
}
FAULTY_ASSERTIONS = {
    "name": "faulty assertions",
    "private_tests": _tests(("assert add(1, 2) == 3", ""), ("assert (", ""), ("add(1, 2)", "")),
    "execution": ASSERTING,
}
OTHER_CHECKER = {"name": "other checker", "private_tests": SUMS, "checker": {"name": "no_such_checker"}}
NO_TESTS = {"name": "no tests"}

PRINTING = (
    "print(sum(map(int, input().split())))",
    "print(3)",
    "import sys\nprint(sum(map(int, input().split())))\nsys.exit(3)",
    "import os\nprint(sum(map(int, input().split())), flush=True)\nos._exit(0)",
    "import sys\nprint(*reversed(input().split()), sep='\\n')\nprint('noise', file=sys.stderr)",
    "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe3\\n')",
    "print(sum(map(int, input().split())), end='\\0')",
    "print('3.0')",
    "print(float(sum(map(int, input().split()))))",
    "input()\ninput()",
)
FILING = (
    "with open('sum.in') as i, open('sum.out', 'w') as o:\n    o.write(str(sum(map(int, i.read().split()))))",
    "open('sum.out', 'w').write('3')\nprint(4)",
)
DEFINING = (
    "def add(a, b):\n    return a + b",
    "def add(a, b):\n    return 3",
    "class Solution:\n    def add(self, a, b):\n        return a + b",
    "add = lambda a, b: math.fsum((a, b)) + HELPER",
    "def add(a, b):\n    print('noise')\n    return (a + b,)",
    "def add(a, b):\n    return object()",
    "def add(a, b):\n    yield a + b",
    "class Equal:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return Equal()",
    "import os\ndef add(a, b):\n    print('passed', flush=True)\n    os._exit(0)",
    "def add(a):\n    return a",
    "def other(a, b):\n    return a + b",
    "def add(a, b):\n    return add(a, b)",
    "def add(a, b):\n    while True:\n        pass",
    "def add(a, b):\n    raise AssertionError('mine')",
)
NAMING = (
    """\
class Name:
    def __init__(self, text):
        self.text = text
    def __eq__(self, other):
        return self.text == other.text
def size(text):
    return len(text)""",
    "class Name:\n    def __init__(self, text):\n        self.text = text\n        print(text)\nsize = str.__len__",
    "def Name(text):\n    return text\ndef size(text):\n    return 7",
    """\
class Name(str):
    text = 'a'
    def __init__(self, text):
        raise SystemExit
def size(text):
    return 1""",
)
ANYWHERE = (
    "",
    " \n\n",
    "def add(a, b:\n    return",
    "x = '\0'",
    "raise ValueError('mine')",
    "import sys\nsys.exit(0)",
    "import sys\nsys.exit('why')",
    "while True:\n    pass",
    "x = bytearray(3 << 30)",
    "x = []\nwhile True:\n    x.append(bytearray(1 << 24))",
    "while True:\n    print('x' * 65536)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "import os\nos.abort()",
    "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)",
    "import numpy\nprint(int(numpy.int64(3)))\ndef add(a, b):\n    return int(numpy.add(a, b))",
    "import no_such_module",
    "f = lambda n: f(n + 1)\nf(0)",
    "open('left', 'x').write('here')\nprint(3)\ndef add(a, b):\n    return a + b",
)

SETS: dict[str, Callable[[Path], Iterator[Job]]] = {
    "edges": edges,
    "codecontests_train": codecontests_train,
    "codecontests_test": codecontests_test,
    "icpc": icpc,
    "humaneval": humaneval,
    "mbpp": mbpp,
    "apps": apps,
    "humaneval_mapcoder": samples("humaneval_mapcoder", "samples_humaneval_mapcoder.jsonl", "humaneval.jsonl"),
    "humaneval_ldb": samples("humaneval_ldb", "samples_humaneval_ldb.jsonl", "humaneval.jsonl"),
    "mbpp_mapcoder": samples("mbpp_mapcoder", "samples_mbpp_mapcoder.jsonl", "mbpp_multiple_py397.jsonl"),
    "mbpp_ldb": samples("mbpp_ldb", "samples_mbpp_ldb.jsonl", "mbpp.jsonl"),
    "humaneval_codet": humaneval_codet,
    "humaneval_batches": humaneval_batches,
}


def spread(jobs: Sequence[Job], share: float, limit: int) -> list[Job]:
    """A share of the jobs, at most `limit` of them (0: all), evenly from first to last: always the same ones."""
    count = min(len(jobs), max(1, round(len(jobs) * share)), limit or len(jobs))
    return [jobs[place * len(jobs) // count] for place in range(count)]


# Freezing.

# A token that is drawn anew for each run stands in what assertions in the program's own process print.
TOKEN = re.compile(r"\b[0-9a-f]{32}\b")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
# For each worker of the sandbox, as `gencode eval` has them.
IN_FLIGHT = 2
PROGRESS_SECONDS = 5.0


def rows_of(job: Job, index: int, program: str, told: Row) -> list[Row]:
    """A row for each test, then that of the program."""
    common = {
        "set": job.name,
        "problem": job.problem,
        "program": sha256(program),
        "program_index": index,
        "mode": job.mode,
    }
    tests = [
        common | {"test_index": place} | _test_row(test, job.mode) | {"cpu_limit": told["cpu_limit"]}
        for place, test in enumerate(told["tests"])
    ]
    whole = {key: told[key] for key in ("verdict", "compilation", "executions_run", "cpu_limit")}
    slowest = max((test["cpu_seconds"] for test in tests), default=0.0)
    return [*tests, common | whole | {"cpu_seconds": slowest, "message": told["message"][:300]}]


def _test_row(test: Row, mode: str) -> Row:
    stdout = TOKEN.sub("TOKEN", test["stdout"]) if test["trust"] == "in_process" else test["stdout"]
    row = {key: test[key] for key in ("verdict", "status", "trust")}
    return row | {
        # What a program printed in a batch isn't kept.
        "stdout_sha256": None if mode == BATCH else sha256(stdout),
        "stderr_sha256": sha256(ADDRESS.sub("ADDRESS", test["stderr"])),
        "cpu_seconds": round(test["cpu_seconds"], 4),
    }


async def judged(package: Package, job: Job) -> list[Row]:
    """The rows of all programs of a job."""
    programs = [program for _, program in job.programs]
    if job.mode == BATCH:
        told = await package.judge_together(job.record, job.setup, programs)
    else:
        told = [await package.judge(job.record, job.setup, programs[0], stop_early=job.mode == STOP_EARLY)]
    pairs = zip(job.programs, told, strict=True)
    return [row for (index, program), each in pairs for row in rows_of(job, index, program, each)]


@dataclass
class Progress:
    """Says on stderr how far a freeze is, every few seconds."""

    total: int
    start: float = field(default_factory=time.monotonic)
    last: float = 0.0
    done: int = 0

    def advance(self, name: str) -> None:
        """Count one job."""
        self.done += 1
        now = time.monotonic()
        if now - self.last >= PROGRESS_SECONDS or self.done == self.total:
            self.last = now
            print(f"{self.done} of {self.total}, {now - self.start:.0f} s, {name}", file=sys.stderr, flush=True)


async def freeze_all(jobs: Sequence[Job], backend: str, workers: int, output: Path) -> None:
    """Judge all jobs, and append the rows of each when it is done."""
    progress = Progress(len(jobs))
    waiting = iter(jobs)
    with output.open("a") as file:

        async def work(package: Package) -> None:
            for job in waiting:
                rows = await judged(package, job)
                file.write("".join(f"{json.dumps(row)}\n" for row in rows))
                file.flush()
                progress.advance(job.name)

        async with Package(backend, workers) as package:
            async with asyncio.TaskGroup() as group:
                for _ in range(IN_FLIGHT * workers):
                    group.create_task(work(package))


def begun(output: Path, about: Row) -> set[Key]:
    """Make the file, or mend it where a freeze was cut off; the keys of the programs that it holds.

    Ends the process where the file was made for something else.
    """
    rows = list(_readable(output)) if output.exists() else []
    if rows and (other := {key for key in COMPARABLE if rows[0].get("about", {}).get(key) != about[key]}):
        sys.exit(f"{output} was made with another {' and '.join(sorted(other))}: choose another file")
    done = {program_key(row) for row in rows[1:] if "test_index" not in row}
    kept = [row for row in rows[1:] if program_key(row) in done]
    mended = output.with_name(f"{output.name}.part")
    mended.write_text("".join(f"{json.dumps(row)}\n" for row in [{"about": about}, *kept]))
    mended.replace(output)
    return done


def _readable(path: Path) -> Iterator[Row]:
    """The rows up to a torn one."""
    with path.open() as file, contextlib.suppress(json.JSONDecodeError):
        for line in file:
            yield json.loads(line)


def program_key(row: Row) -> Key:
    """What tells a row's program from all others."""
    return row["set"], row["problem"], row["mode"], row["program"]


COMPARABLE = ("backend", "python")


def described(backend: str, share: float, limit: int) -> Row:
    """What a file says of itself."""
    command = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return {
        "backend": backend,
        "python": platform.python_version(),
        "commit": commit.stdout.strip(),
        "share": share,
        "limit": limit,
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def freeze(arguments: argparse.Namespace) -> int:
    """Judge what is asked for and isn't in the file yet."""
    names = arguments.sets.split(",") if arguments.sets else list(SETS)
    if unknown := [name for name in names if name not in SETS]:
        sys.exit(f"there is no set {unknown[0]!r}: there are {', '.join(SETS)}")
    chosen = [
        job for name in names for job in spread(list(SETS[name](arguments.data)), arguments.share, arguments.limit)
    ]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    done = begun(arguments.output, described(arguments.backend, arguments.share, arguments.limit))
    left = [job for job in chosen if any((*job.key[:3], digest) not in done for digest in job.key[3:])]
    print(f"{len(chosen) - len(left)} of {len(chosen)} are in the file already", file=sys.stderr)
    start = time.monotonic()
    asyncio.run(freeze_all(left, arguments.backend, arguments.workers, arguments.output))
    print(f"{time.monotonic() - start:.1f} s")
    show_counts(Frozen.read(arguments.output).rows.values())
    return 0


# Comparing.

TEST_FIELDS = ("verdict", "status", "trust", "stdout_sha256", "cpu_limit")
PROGRAM_FIELDS = ("verdict", "compilation", "executions_run", "cpu_limit")
WORDS = {True: ("stderr_sha256",), False: ("message",)}
NEAR = 0.2
# Stands for a test's index in the key of a program's own row.
PROGRAM = -1
# Two rows, or one where the other is missing, and the fields that differ.
Difference = tuple[Row | None, Row | None, list[str]]


@dataclass(frozen=True)
class Frozen:
    """A file's rows, by what tells each from all others."""

    path: Path
    rows: dict[Key, Row]

    @classmethod
    def read(cls, path: Path) -> Self:
        """The rows of a file; of a program that stands there twice the last ones."""
        rows = (row for row in _readable(path) if "about" not in row)
        return cls(path, {(*program_key(row), row.get("test_index", PROGRAM)): row for row in rows})


@dataclass
class Comparison:
    """What came of a comparison: rows by set, differences, and what wasn't compared."""

    rows: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    near_limit: list[Difference] = field(default_factory=list)
    unsettled: list[tuple[Row, list[str]]] = field(default_factory=list)
    left_out: int = 0

    def add(self, baselines: Sequence[Row], new: Row, *, words: bool) -> None:
        """Compare a row with what the baselines have in its place."""
        self.rows[new["set"]] += 1
        fields = fields_of(new, words=words)
        disputed = [each for each in fields if len({row[each] for row in baselines}) > 1]
        if disputed:
            self.unsettled.append((baselines[0], disputed))
        moved = [each for each in fields if each not in disputed and new[each] != baselines[0][each]]
        if moved:
            near = all(by_time(each, new) for each in moved) and any(map(near_limit, (*baselines, new)))
            (self.near_limit if near else self.differences).append((baselines[0], new, moved))


def fields_of(row: Row, *, words: bool) -> tuple[str, ...]:
    """The fields of a row that are compared; `words` are what programs and judge say in prose."""
    is_test = "test_index" in row
    return (TEST_FIELDS if is_test else PROGRAM_FIELDS) + (WORDS[is_test] if words else ())


def by_time(name: str, row: Row) -> bool:
    """Whether a field may move because a program took a little longer or less long."""
    return name != "cpu_limit" and (name != "executions_run" or row["mode"] == STOP_EARLY)


def near_limit(row: Row) -> bool:
    """Whether the CPU time is within a fifth of the limit."""
    return abs(row["cpu_seconds"] - row["cpu_limit"]) <= NEAR * row["cpu_limit"]


def compared(baselines: Sequence[Frozen], new: Frozen, *, words: bool = False, common: bool = False) -> Comparison:
    """Compare row by row; with `common`, only programs that all files have."""
    result, files = Comparison(), (*baselines, new)
    for key in dict.fromkeys(itertools.chain(*(each.rows for each in files))):
        before = [each.rows[key] for each in baselines if key in each.rows]
        row = new.rows.get(key)
        if row is not None and before:
            result.add(before, row, words=words)
        elif 0 < len(before) < len(baselines) or (common and len(programs_of(key, files)) < len(files)):
            result.left_out += 1
        else:
            stopped_by_time = key[2] == STOP_EARLY and any(map(near_limit, programs_of(key, files)))
            missing = result.near_limit if stopped_by_time else result.differences
            missing.append((before[0] if before else None, row, ["row"]))
    return result


def programs_of(key: Key, files: Sequence[Frozen]) -> list[Row]:
    """The rows of a test's program, in the files that have it."""
    program = (*key[:-1], PROGRAM)
    return [each.rows[program] for each in files if program in each.rows]


def compare(arguments: argparse.Namespace) -> int:
    """Compare the last file with all others; 1 where something differs that time doesn't explain."""
    *others, last = arguments.files
    paths = [*arguments.baseline, *others]
    if not paths:
        sys.exit("there is nothing to compare with: give two files, or a --baseline")
    result = compared(
        [Frozen.read(path) for path in paths], Frozen.read(last), words=arguments.words, common=arguments.common
    )
    show_table(result)
    show_unsettled(result)
    show_differences("near the limit", result.near_limit, arguments.show)
    show_differences("DIFFERENT", result.differences, arguments.show)
    return int(bool(result.differences))


def show_table(result: Comparison) -> None:
    """Counts by set."""
    near, other = (
        Counter((old or new or {})["set"] for old, new, _ in some) for some in (result.near_limit, result.differences)
    )
    unsettled = Counter(row["set"] for row, _ in result.unsettled)
    print(f"{'set':24}{'rows':>8}{'different':>11}{'near limit':>12}{'unsettled':>11}")
    for name in sorted({*result.rows, *near, *other}):
        print(f"{name:24}{result.rows[name]:8}{other[name]:11}{near[name]:12}{unsettled[name]:11}")
    print(
        f"{'all':24}{result.rows.total():8}{other.total():11}{near.total():12}{unsettled.total():11}"
        f"   {result.left_out} rows aren't in all files and were left out"
    )


def show_unsettled(result: Comparison) -> None:
    """The fields in which the baselines disagree, which weren't compared."""
    fields = Counter(name for _, names in result.unsettled for name in names)
    if fields:
        print(f"\nthe baselines disagree, not compared: {dict(fields)}")
    for row, names in result.unsettled:
        print(f"  {place_of(row)}: {', '.join(names)}")


def show_differences(label: str, differences: Sequence[Difference], most: int) -> None:
    """What moved, with both rows; at most so many."""
    if differences:
        print(f"\n{label}: {len(differences)}")
    for old, new, names in differences[:most]:
        print(f"  {place_of(old or new or {})}: {', '.join(names)}")
        print(f"    - {json.dumps(old)}\n    + {json.dumps(new)}")
    if len(differences) > most:
        print(f"  and {len(differences) - most} more: --show")


def place_of(row: Row) -> str:
    """Where a row stands, in words."""
    test = f"test {row['test_index']}" if "test_index" in row else "the program"
    return f"{row['set']} {row['problem']!r} {row['program']} (index {row['program_index']}, {row['mode']}), {test}"


def show_counts(rows: Iterable[Row]) -> None:
    """The rows of each set, and its programs by verdict."""
    tests: Counter[str] = Counter()
    executions: Counter[str] = Counter()
    programs: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if "test_index" in row:
            tests[row["set"]] += 1
        else:
            programs[row["set"]][row["verdict"]] += 1
            executions[row["set"]] += row["executions_run"] or 0
    for name, verdicts in programs.items():
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        print(f"{name:20}{verdicts.total():6} programs{tests[name]:7} tests{executions[name]:7} executions   {told}")


def main() -> int:
    """Freeze or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    freezing = commands.add_parser("freeze", help="judge programs, and write what the judge says")
    freezing.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    freezing.add_argument("--backend", default="local", help="local, portable, gvisor, oci, ...")
    freezing.add_argument("--output", type=Path, required=True, metavar="FILE.jsonl")
    freezing.add_argument("--sets", help=f"with commas; default: all of {', '.join(SETS)}")
    freezing.add_argument("--share", type=float, default=1.0, help="a part of each set, every n-th program")
    freezing.add_argument("--limit", type=int, default=0, help="at most so many programs of each set, every n-th")
    freezing.add_argument("--workers", type=int, default=2)
    freezing.set_defaults(run=freeze)
    comparing = commands.add_parser("compare", help="compare the last file with the others, row by row")
    comparing.add_argument("files", type=Path, nargs="+", metavar="FILE")
    comparing.add_argument("--baseline", type=Path, action="append", default=[], help="repeatable")
    comparing.add_argument("--words", action="store_true", help="compare stderr and messages, too")
    comparing.add_argument("--common", action="store_true", help="only programs that all files have")
    comparing.add_argument("--show", type=int, default=50, help="at most so many differences of each kind")
    comparing.set_defaults(run=compare)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
