"""Judging of programs, with a row written for each test and each program."""

import argparse
import asyncio
import json
import platform
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.verdicts.package import Package
from benchmarks.verdicts.programs import SETS, spread
from benchmarks.verdicts.rows import BATCH, STOP_EARLY, Frozen, Job, Key, Row, program_key, readable, sha256

ROOT = Path(__file__).resolve().parents[2]
# Assertions in the program's own process print a token, which differs in each run.
TOKEN = re.compile(r"\b[0-9a-f]{32}\b")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
# For each worker of the sandbox, as `gencode eval` has them.
IN_FLIGHT = 2
PROGRESS_SECONDS = 5.0


def rows_of(job: Job, index: int, program: str, outcome: Row) -> list[Row]:
    """A row for each test, then that of the program."""
    common = {
        "set": job.name,
        "problem": job.problem,
        "program": sha256(program),
        "program_index": index,
        "mode": job.mode,
    }
    tests = [
        common | {"test_index": place} | _test_row(test, job.mode) | {"cpu_limit": outcome["cpu_limit"]}
        for place, test in enumerate(outcome["tests"])
    ]
    whole = {key: outcome[key] for key in ("verdict", "compilation", "executions_run", "cpu_limit")}
    slowest = max((test["cpu_seconds"] for test in tests), default=0.0)
    return [*tests, common | whole | {"cpu_seconds": slowest, "message": outcome["message"][:300]}]


def _test_row(test: Row, mode: str) -> Row:
    stdout = TOKEN.sub("TOKEN", test["stdout"]) if test["trust"] == "in_process" else test["stdout"]
    row = {key: test[key] for key in ("verdict", "status", "trust")}
    return row | {
        # The output of programs in a batch isn't kept.
        "stdout_sha256": None if mode == BATCH else sha256(stdout),
        "stderr_sha256": sha256(ADDRESS.sub("ADDRESS", test["stderr"])),
        "cpu_seconds": round(test["cpu_seconds"], 4),
    }


async def judged(package: Package, job: Job) -> list[Row]:
    """The rows of all programs of a job."""
    programs = [program for _, program in job.programs]
    if job.mode == BATCH:
        outcomes = await package.judge_batch(job.record, job.setup, programs)
    else:
        outcomes = [await package.judge(job.record, job.setup, programs[0], stop_early=job.mode == STOP_EARLY)]
    pairs = zip(job.programs, outcomes, strict=True)
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
    """Create the file, or repair one whose freeze was interrupted; return the keys of its programs.

    Exits if the file was made with other options.
    """
    rows = list(readable(output)) if output.exists() else []
    if rows and (other := {key for key in COMPARABLE if rows[0].get("about", {}).get(key) != about[key]}):
        sys.exit(f"{output} was made with another {' and '.join(sorted(other))}: choose another file")
    done = {program_key(row) for row in rows[1:] if "test_index" not in row}
    kept = [row for row in rows[1:] if program_key(row) in done]
    mended = output.with_name(f"{output.name}.part")
    mended.write_text("".join(f"{json.dumps(row)}\n" for row in [{"about": about}, *kept]))
    mended.replace(output)
    return done


COMPARABLE = ("backend", "python")


def described(backend: str, share: float, limit: int) -> Row:
    """Return a file's first line, with the options."""
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
    """Judge the selected programs that aren't in the file yet."""
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
        shown = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        print(f"{name:20}{verdicts.total():6} programs{tests[name]:7} tests{executions[name]:7} executions   {shown}")
