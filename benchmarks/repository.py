"""The CPU time of a candidate of the repository benchmark, against a fresh `tests/runtests.py` with the same tests.

    python -m benchmarks.repository DATASET                  # tasks of Django that `gencode repo build` stored
    python -m benchmarks.repository DATASET --label queries --rounds 5 --candidates 20

1. Both run the tests of the same tasks of one label on the repository's own code: the provider `local` on edits of the
   method's body, and Django's runner as its developers start it, with `--parallel 1`.
2. Rounds alternate, so that other load affects both; the ratio is taken within a round, and the median is reported.
3. "with loading" counts the start of gencode and of the warm process, too, divided by the candidates of a round.
4. CPU time is that of a cgroup with all processes, see `sandbox/meter`; without cgroups there are no figures.
"""

import argparse
import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.dataset import load_tasks
from alpha_codium.repository.harness import edit_of
from alpha_codium.repository.providers import LocalProvider, checkout_of
from alpha_codium.repository.tasks import RepositoryTask
from benchmarks.sandbox.meter import open_meter, settled


@dataclass(frozen=True, slots=True)
class Round:
    """CPU seconds of a candidate: warm, warm with its share of the loading, and cold."""

    warm: float
    with_loading: float
    cold: float


def main() -> None:
    """Measure what the command line asks for, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--label", default="", help="the label of the tasks; by default the one with the most")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--candidates", type=int, default=20, help="of a round; tasks are repeated if there are fewer")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    label, tasks = chosen(given.dataset, given.label, given.candidates)
    if given.serve:
        asyncio.run(serve(tasks))
        return
    print(f"{label}: {given.candidates} candidates a round; load {os.getloadavg()[0]:.1f}")
    print("| warm, CPU s | with loading | cold | cold / warm | cold / with loading |\n|---|---|---|---|---|")
    rounds = []
    for _ in range(given.rounds):
        rounds.append(one := measured([given.dataset, "--label", label, "--candidates", str(given.candidates)], tasks))
        figures = (one.warm, one.with_loading, one.cold, one.cold / one.warm, one.cold / one.with_loading)
        print("| " + " | ".join(f"{figure:.3f}" for figure in figures) + " |", flush=True)
    ratios = [median(each.cold / getattr(each, name) for each in rounds) for name in ("warm", "with_loading")]
    print(f"median of the ratios: {ratios[0]:.1f}, with loading {ratios[1]:.1f}")


def chosen(dataset: str, label: str, count: int) -> tuple[str, list[RepositoryTask]]:
    """Return the label, and so many of its tasks; tasks whose tests have to import Django again are left out."""
    tasks = [task for task in load_tasks(dataset).values() if not task.fresh]
    label = label or Counter(task.label for task in tasks).most_common(1)[0][0]
    found = [task for task in tasks if task.label == label]
    return label, [found[number % len(found)] for number in range(count)]


def measured(arguments: Sequence[str], tasks: Sequence[RepositoryTask]) -> Round:
    """Run each task once in both ways."""
    loaded, total = warm_seconds([sys.executable, "-m", "benchmarks.repository", *arguments, "--serve"])
    checkout = checkout_of(tasks[0])
    cold = [cold_seconds(checkout, task) for task in tasks]
    # The first candidate's time is part of the loading's.
    return Round((total - loaded) / (len(tasks) - 1), total / len(tasks), sum(cold) / len(cold))


def warm_seconds(command: list[str]) -> tuple[float, float]:
    """Return the CPU seconds of a process of `serve` until the first candidate is done, and until all are."""
    meter = open_meter()
    readings = []
    with subprocess.Popen(meter.wrap(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for expected in (b"first\n", b"all\n"):
            if process.stdout.readline() != expected:
                raise SystemExit("the warm process ended early")
            readings.append(settled(meter, process.pid) or 0.0)
            process.stdin.write(b"\n")
            process.stdin.flush()
    meter.close()
    return readings[0], readings[1]


async def serve(tasks: Sequence[RepositoryTask]) -> None:
    """Run all tasks, and say on stdout when the first and when all are done; each waits for a line on stdin."""
    async with LocalProvider(workers=1) as provider:
        for number, task in enumerate(tasks):
            text = task.raw_file_content
            run = await provider.run(task, edit_of(text, task.file_path, task.method.qualified_name, text))
            if not run.passed:
                raise SystemExit(f"the repository's own code failed: {task.method.qualified_name}: {run}")
            if number in (0, len(tasks) - 1):
                print("all" if number else "first", flush=True)
                sys.stdin.readline()


def runner_command(checkout: Checkout, tests: Sequence[str]) -> list[str]:
    """Return the command that runs tests or labels with Django's own runner, in its folder `tests`."""
    runner = [str(checkout.interpreter), "runtests.py", "--verbosity", "0", "--noinput", "--parallel", "1"]
    return [*runner, *tests]


def runner_environment(folder: Path) -> dict[str, str]:
    """Return the variables for `runner_command`, which import the Django of a folder."""
    return os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def cold_seconds(checkout: Checkout, task: RepositoryTask) -> float:
    """Return the CPU seconds of Django's own runner with the tests of a task."""
    meter = open_meter()
    if meter.note:
        raise SystemExit(meter.note)
    command = meter.wrap(runner_command(checkout, task.tests))
    environment = runner_environment(checkout.folder)
    folder, quiet = checkout.folder / "tests", subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=quiet, stderr=subprocess.PIPE) as process:
        _, errors = process.communicate()
        seconds = settled(meter, process.pid) or 0.0
    meter.close()
    if process.returncode:
        raise SystemExit(f"runtests.py failed: {errors.decode()[-1000:]}")
    return seconds


if __name__ == "__main__":
    main()
