"""`python -m benchmarks.service`: the server's CPU time for a test, and that of the engine and of a plain service.

1. Engine, our server and the plain service run in turn in each round, with new programs. A ratio is that of the CPU
   times within a round; its median over the rounds is reported.
2. The CPU time of a server includes that of all its children, and not that of the client, which runs here. The engine's
   includes its host process, which compares outputs.
3. Each has `--in_flight` programs at a time. With `--cores 1`, each runs on one core.
"""

import argparse
import contextlib
from collections.abc import Callable
from itertools import count
from statistics import median

from benchmarks.sandbox.child import Sample, start_child
from benchmarks.sandbox.contenders import CONTENDERS, OURS
from benchmarks.sandbox.rounds import Plan, last_cores, options_for
from benchmarks.sandbox.table import machine, machine_text
from benchmarks.sandbox.workloads import WORKLOADS, Batch
from benchmarks.service.servers import ask_judge, ask_plain, our_server, plain_server, start_server

TESTS = 10
# A line: its name, the tests of a program, and the line that it is compared with.
ENGINE, SERVER, PLAIN = "the engine called directly", "our server", "a service that starts python3"
LINES = (
    (ENGINE, TESTS, ""),
    (SERVER, TESTS, ENGINE),
    (PLAIN, TESTS, SERVER),
    (ENGINE, 1, ""),
    (SERVER, 1, ENGINE),
)
Samples = dict[tuple[str, int], list[Sample]]


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", choices=WORKLOADS, default="b")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", type=int, default=40, help="programs of a batch")
    parser.add_argument("--in_flight", type=int, default=8, help="programs asked about at a time")
    parser.add_argument("--cores", type=int, default=1, help="cores of each contender (0: all)")
    parser.add_argument("--without_plain", action="store_true", help="leave out the service that starts python3")
    given = parser.parse_args()
    print(machine_text(machine()))
    samples = measure(
        given.workload, given.rounds, given.programs, given.in_flight, given.cores, plain=not given.without_plain
    )
    print(as_text(samples))


def measure(workload: str, rounds: int, programs: int, in_flight: int, cores: int, *, plain: bool = True) -> Samples:
    """Return the samples of each line, one a round."""
    plan = Plan(cores=cores, options={"sandbox": "local", "concurrency": str(in_flight)})
    options = options_for(CONTENDERS[OURS], WORKLOADS[workload], plan)
    numbers, pinned = count(), last_cores(cores)
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(start_child(CONTENDERS[OURS], options))
        runs: dict[str, Callable[[Batch], Sample]] = {ENGINE: engine.run}
        server = stack.enter_context(start_server(our_server(workers=1), ask_judge, in_flight, pinned))
        runs[SERVER] = server.run
        if plain:
            runs[PLAIN] = stack.enter_context(start_server(plain_server(), ask_plain, in_flight, pinned)).run
        lines = [(name, tests) for name, tests, _ in LINES if name in runs]
        for name, tests in lines:
            runs[name](Batch(WORKLOADS[workload], in_flight, tests, next(numbers)))  # warms it up
        samples: Samples = {line: [] for line in lines}
        for _ in range(rounds):
            for name, tests in lines:
                batch = Batch(WORKLOADS[workload], programs, tests, next(numbers))
                samples[name, tests].append(runs[name](batch))
    return samples


def ratios(samples: Samples, line: tuple[str, int], other: tuple[str, int]) -> list[float]:
    """The CPU time of one line over that of another, in each round."""
    return [_cpu_ms(a) / _cpu_ms(b) for a, b in zip(samples[line], samples[other], strict=True)]


def as_text(samples: Samples) -> str:
    """A line for each contender: its CPU time for a test, and what it is of that of another."""
    rows = []
    for name, tests, other in LINES:
        if (name, tests) not in samples:
            continue
        found = samples[name, tests]
        wrong = sum(sample.total - sample.right for sample in found)
        row = f"{name:30} {tests:3} tests a program {median(map(_cpu_ms, found)):8.2f} ms CPU a test"
        if other:
            of = ratios(samples, (name, tests), (other, tests))
            row += f"  {median(of):5.2f} times {other} ({min(of):.2f}-{max(of):.2f})"
        rows.append(row + (f"  {wrong} WRONG" if wrong else ""))
    return "\n".join(rows)


def _cpu_ms(sample: Sample) -> float:
    assert sample.cpu_seconds is not None, "CPU time can't be counted here"
    return 1000 * sample.cpu_seconds / sample.total


if __name__ == "__main__":
    main()
