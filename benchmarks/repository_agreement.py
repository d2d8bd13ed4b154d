"""How often verdicts of the repository benchmark are those of Django's own `tests/runtests.py`.

    python -m benchmarks.repository_agreement DATASET              # that `gencode repo build` stored
    python -m benchmarks.repository_agreement DATASET --tasks 20 --seed 1 --whole

1. Random tasks are answered three times each: with the repository's own code, with `return object()`, and with the bug
   of program repair. The provider `local` runs the task's tests.
2. `runtests.py --parallel 1` runs the same tests on the same file, in a copy of the repository; with `--whole`, it runs
   all tests of the task's labels. If root starts the benchmark, `runtests.py` runs as `nobody`, since one test of
   Django fails as root.
3. The two agree if both accept the answer, or both refuse it.
"""

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.dataset import load_tasks
from alpha_codium.repository.harness import edit_of
from alpha_codium.repository.mutations import no_ops
from alpha_codium.repository.providers import LocalProvider, checkout_of
from alpha_codium.repository.tasks import RepositoryTask
from benchmarks.repository import runner_command, runner_environment

NOBODY = 65534


def main() -> None:
    """Compare the verdicts; print those that differ, and how many agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", action="store_true", help="run all tests of the labels, not only the task's")
    given = parser.parse_args()
    tasks = sorted(load_tasks(given.dataset).values(), key=lambda task: task.dp_id)
    chosen = random.Random(given.seed).sample(tasks, min(given.tasks, len(tasks)))
    with tempfile.TemporaryDirectory() as folder:
        checkout = checkout_of(chosen[0])
        copy = copied(checkout, Path(folder) / "repository")
        asyncio.run(compare(chosen, checkout, copy, whole=given.whole))


def copied(checkout: Checkout, folder: Path) -> Path:
    """Copy the repository to a folder, and let any user write to it; return the folder."""
    shutil.copytree(checkout.folder, folder)
    subprocess.run(["chmod", "-R", "a+rwX", str(folder.parent)], check=True)
    return folder


def answers(task: RepositoryTask) -> Iterator[tuple[str, str]]:
    """Yield each answer: its kind, and the text of the file with it."""
    yield "right", task.raw_file_content
    yield "return object()", no_ops(task.raw_file_content, task.method)["return object()"]
    yield "bug", task.buggy_text


async def compare(tasks: list[RepositoryTask], checkout: Checkout, copy: Path, *, whole: bool) -> None:
    """Judge each answer both ways, and print the differences and the count."""
    alike = asked = 0
    async with LocalProvider(workers=1) as provider:
        for task in tasks:
            names = task.labels if whole else task.tests
            for kind, text in answers(task):
                edit = edit_of(task.raw_file_content, task.file_path, task.method.qualified_name, text)
                ours = (await provider.run(task, edit)).passed
                theirs = passes(checkout, copy, task.file_path, text, names)
                asked, alike = asked + 1, alike + (ours == theirs)
                if ours != theirs:
                    print(f"{task.method.qualified_name}, {kind}: {ours}, runtests.py {theirs}", flush=True)
    print(f"{len(tasks)} tasks, {asked} answers: {alike} verdicts agree")


def passes(checkout: Checkout, copy: Path, file: str, text: str, names: tuple[str, ...]) -> bool:
    """Whether `runtests.py` passes with this text of a file; the file is restored afterwards."""
    path = copy / file
    before = path.read_text("utf-8")
    try:
        path.write_text(text, "utf-8")
        done = subprocess.run(
            runner_command(checkout, names),
            cwd=copy / "tests",
            env=runner_environment(copy) | {"HOME": str(copy)},
            capture_output=True,
            user=NOBODY if os.getuid() == 0 else None,
            check=False,
            timeout=3600,
        )
    finally:
        path.write_text(before, "utf-8")
    return done.returncode == 0


if __name__ == "__main__":
    main()
