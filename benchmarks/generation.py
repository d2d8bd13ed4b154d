"""Generation with a slow and faulty provider: its overhead, its completeness and its memory.

    python benchmarks/generation.py                        # 500 samples, 50 in flight, twice; then 200 in flight
    python benchmarks/generation.py --samples 50 --in_flight 5 --quick       # a tenth, without the 200 in flight
    python benchmarks/generation.py --profile              # where the time of the event loop's thread goes

1. A scripted server in a separate process answers after `--latency` seconds. A share `--faults` of its answers are
   faults: 429 with Retry-After, 500, no answer at all, a cut connection, a malformed body. The fault depends only on
   the content of a request, so two runs get the same faults.
2. `gencode gen solve_set` runs in a separate process, as a user would start it, with the flow `alphacodium` and without
   the cache of other runs. Programs run in the local sandbox; some are wrong at first and are repaired.
3. The ideal time is the sum over all requests divided by the number in flight: the latency for an answer or a late
   fault, Retry-After for a 429, `ai_timeout` for no answer. It excludes our waits between tries, the sandbox, and the
   end of the run, when fewer samples are left than may be in flight. The measured time is from the first request to the
   last answer; that of the whole command is shown, too. Memory is measured during this time.
"""

import argparse
import json
import os
import pstats
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
SAMPLES_A_PROBLEM = 5
RETRY_AFTER = 1.0
AI_TIMEOUT = 5.0
# One of this many problems gets a wrong first program.
WRONG_EVERY = 4

SCRIPT = """
import atexit, json, time
from collections import Counter
from tests.flows.scripted_flow import GOOD_ANSWERS, Call, program
from tests.servers.replies import Cut, Delay, Hang, Malformed, Status, Text, WithProbability, digest_of

LATENCY, PROBABILITY, RETRY_AFTER, OUT = {latency!r}, {faults!r}, {retry_after!r}, {out!r}
FAULTS = {{
    "429": Status(429, "slow down", retry_after=RETRY_AFTER),
    "500": Delay(LATENCY, Status(500, "down")),
    "hang": Hang(),
    "cut": Delay(LATENCY, Cut()),
    "malformed": Delay(LATENCY, Malformed()),
}}
NAMES = {{id(reply): name for name, reply in FAULTS.items()}}
draw = WithProbability(PROBABILITY, *FAULTS.values(), seed=1)
kinds, prompts, times = Counter(), Counter(), []

def rule(seen):
    times.append(time.time())
    reply = draw(seen)
    kinds["answer" if reply is None else NAMES[id(reply)]] += 1
    return reply

faults = [rule]

def script(body):
    times.append(time.time() + LATENCY)
    call, sign = Call(body), digest_of(body)
    prompts[call.prompt] += 1
    wrong = int(sign, 16) % {wrong_every} == 0
    if call.prompt == "initial_code" and wrong:
        return Delay(LATENCY, Text(program("print(0)  # " + sign)))
    answer = GOOD_ANSWERS[call.prompt]
    if call.prompt in ("initial_code", "fix"):
        answer = answer.replace("print(", "# " + sign + "\\nprint(")
    return Delay(LATENCY, Text(answer))

@atexit.register
def tell():
    told = {{"kinds": kinds, "prompts": prompts, "from": min(times), "to": max(times)}}
    open(OUT, "w").write(json.dumps(told))
"""


@dataclass(frozen=True)
class Look:
    """A process at one moment: its resident memory in MB, and its CPU seconds so far."""

    moment: float
    megabytes: float
    cpu_seconds: float


@dataclass
class Watch:
    """A monitor that samples a process, without its children, every half second until it ends."""

    pid: int
    seen: list[Look] = field(default_factory=list)

    def watch(self) -> None:
        """Sample until the process has ended."""
        while (look := self._now()) is not None:
            self.seen.append(look)
            time.sleep(0.5)

    def _now(self) -> Look | None:
        try:
            parts = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        cpu = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
        return Look(time.time(), int(parts[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20, cpu)

    def between(self, begin: float, end: float) -> list[Look]:
        """Return the samples between two moments."""
        return [look for look in self.seen if begin <= look.moment <= end]


def memory_text(looks: list[Look]) -> str:
    """Return the memory at eleven times, and its growth from the second to the last quarter, as text."""
    there, quarter = [look.megabytes for look in looks], max(1, len(looks) // 4)
    shown = " ".join(f"{there[round(tenth * (len(there) - 1) / 10)]:.0f}" for tenth in range(11))
    growth = median(there[-quarter:]) - median(there[quarter : 2 * quarter] or there)
    return f"{shown}  (last quarter less second: {growth:+.1f})"


@dataclass
class Run:
    """The results of one run."""

    summary: dict[str, Any]
    rows: list[Any]
    server: dict[str, Any]
    command_seconds: float
    watch: Watch

    @property
    def requests(self) -> int:
        """The number of requests that reached the server."""
        return sum(self.server["kinds"].values())

    def latency(self, each: float) -> float:
        """Return the total seconds of all requests."""
        seconds = {"429": RETRY_AFTER, "hang": AI_TIMEOUT}
        return sum(count * seconds.get(kind, each) for kind, count in self.server["kinds"].items())


def run_once(given: argparse.Namespace, folder: Path, name: str, in_flight: int, samples: int) -> Run:
    """Run `samples` samples with `in_flight` at a time, with a new server."""
    from tests.servers.scripted import scripted_process

    script, out = folder / f"{name}.py", folder / f"{name}.json"
    script.write_text(
        SCRIPT.format(
            latency=given.latency,
            faults=given.faults,
            retry_after=RETRY_AFTER,
            out=str(out),
            wrong_every=WRONG_EVERY,
        )
    )
    problems = write_problems(folder, samples)
    with scripted_process(script) as address:
        started = time.monotonic()
        watch = run_command(command(given, problems, name, in_flight, address, folder), folder)
        seconds = time.monotonic() - started
    while not out.exists():
        time.sleep(0.05)
    results = json.loads((folder / "home/runs" / name / "results.json").read_text())
    return Run(results, rows_of(folder / "home/runs" / name), json.loads(out.read_text()), seconds, watch)


def write_problems(folder: Path, samples: int) -> Path:
    """Write enough problems; each asks for the sum of the numbers in a line."""
    tests = {"input": ["1 2\n", "5 5\n"], "output": ["3\n", "10\n"]}
    path = folder / "problems.jsonl"
    count = max(1, samples // SAMPLES_A_PROBLEM)
    rows = [
        {"name": f"Sum {n}", "description": f"Problem {n}. Print the sum.", "public_tests": tests} for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def command(
    given: argparse.Namespace, problems: Path, name: str, in_flight: int, address: str, folder: Path
) -> list[str]:
    """Return the command line of a run."""
    profiled = ["-m", "cProfile", "-o", str(folder / f"{name}.prof")] if given.profile else []
    settings = {
        "config.ai_timeout": AI_TIMEOUT,
        "config.max_concurrent_requests": in_flight,
        "config.cache": "false",
        "config.adaptive_concurrency": str(not given.no_adaptive).lower(),
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    at = ["--dataset_name", str(problems), "--flow", "alphacodium", "--samples", str(SAMPLES_A_PROBLEM), "--run", name]
    model = ["--model", "openai/scripted", "--api_base", f"{address}/v1", "--concurrency", str(in_flight)]
    return [sys.executable, *profiled, "-m", "alpha_codium", "gen", "solve_set", *at, *model, *options]


def run_command(arguments: list[str], folder: Path) -> Watch:
    """Run the command to its end; return its samples of memory and CPU time."""
    environment = os.environ | {"GENCODE_HOME": str(folder / "home"), "OPENAI_API_KEY": "sk-scripted-0123456789"}
    with (folder / "log").open("a") as log:
        child = subprocess.Popen(arguments, stdout=log, stderr=log, env=environment, cwd=folder)
        watch = Watch(child.pid)
        watcher = threading.Thread(target=watch.watch, daemon=True)
        watcher.start()
        status = child.wait()
    if status != 0:
        print((folder / "log").read_text()[-2000:], file=sys.stderr)
        print(f"the command ended with status {status}", file=sys.stderr)
    return watch


def rows_of(run: Path) -> list[Any]:
    """Return the candidates of a run; all of their fields must be the same in each run."""
    import datasets

    return list(datasets.load_from_disk(str(run / "solutions")))


def show(run: Run, name: str, in_flight: int, latency: float) -> None:
    """Print the run in a few lines."""
    begin, end = run.server["from"], run.server["to"]
    ideal, seconds = run.latency(latency) / in_flight, end - begin
    summary, kinds = run.summary, sorted(run.server["kinds"].items())
    accounted = sum(len(row["solution_candidates"]) for row in run.rows)
    print(f"{name}: {accounted} of {summary['samples']} samples accounted for, {summary['programs']} with a program, "
          f"{summary['failed_samples']} failed, {summary['unfinished']} unfinished")  # fmt: skip
    print(f"  requests   {run.requests}: {', '.join(f'{count} {kind}' for kind, count in kinds)}")
    took = f"{seconds:.1f} s of {ideal:.1f} s; the whole command {run.command_seconds:.1f} s"
    print(f"  wall/ideal {seconds / ideal:.3f}  ({took})")
    looks = run.watch.between(begin, end)
    cpu = 1000 * (looks[-1].cpu_seconds - looks[0].cpu_seconds) / run.requests
    print(f"  CPU        {cpu:.1f} ms a request, of the command's own process; load {os.getloadavg()[0]:.1f}")
    print(f"  RSS, MB    {memory_text(looks)}", flush=True)


def show_profile(path: Path) -> None:
    """Print a profile of the event loop's thread: `poll` is waiting; wall time includes other load."""
    for order in ("tottime", "cumtime"):
        pstats.Stats(str(path)).sort_stats(order).print_stats(40)


def main() -> int:
    """Run and print the results; return 1 if a sample is missing or two runs differ."""
    parser = argparse.ArgumentParser(description="Generation against a slow and faulty provider.")
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--in_flight", type=int, default=50)
    parser.add_argument("--memory_in_flight", type=int, default=200)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds of an answer")
    parser.add_argument("--faults", type=float, default=0.05, help="the share of requests that meet a fault")
    parser.add_argument("--quick", action="store_true", help="leave out the run with many in flight")
    parser.add_argument("--profile", action="store_true", help="one run under cProfile, and its top")
    parser.add_argument("--no_adaptive", action="store_true", help="without adaptive concurrency")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gencode-generation-"))
    try:
        first = run_once(given, folder, "first", given.in_flight, given.samples)
        show(first, f"first run, {given.in_flight} in flight", given.in_flight, given.latency)
        if given.profile:
            show_profile(folder / "first.prof")
            return 0
        second = run_once(given, folder, "second", given.in_flight, given.samples)
        show(second, f"second run, {given.in_flight} in flight", given.in_flight, given.latency)
        same = first.rows == second.rows
        print(f"identical results: {'yes' if same else 'NO'}")
        if not given.quick:
            third = run_once(given, folder, "third", given.memory_in_flight, 4 * given.samples)
            show(third, f"{given.memory_in_flight} in flight", given.memory_in_flight, given.latency)
        whole = all(
            run.summary["samples"] == sum(len(r["solution_candidates"]) for r in run.rows) for run in (first, second)
        )
        return 0 if same and whole else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
