"""The three benchmarks: what a model is shown of a task, how its answer is read, and what the right answer is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from alpha_codium.repository.methods import completion_parts
from alpha_codium.repository.running.answers import ReadAnswer, head_of, read_completion, read_method, read_repair
from alpha_codium.repository.running.context import Shown, around_gap, before_method, with_bug
from alpha_codium.repository.tasks import RepositoryTask


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: `context` is the part of the file to show, `read` reads an answer's code, `reference` is the right
    code.
    """

    name: str
    context: Callable[[RepositoryTask, Shown], str]
    read: Callable[[RepositoryTask, str], ReadAnswer]
    reference: Callable[[RepositoryTask], str]

    def variables(self, task: RepositoryTask, shown: Shown, most_feedback: int) -> dict[str, Any]:
        """Return the variables of the prompts."""
        method = task.method
        lines = task.raw_file_content.splitlines(keepends=True)
        return {
            "repository": task.repository,
            "file_path": task.file_path,
            "class_name": method.class_name,
            "name": method.name,
            "declaration": method.declaration.rstrip("\n"),
            "decorators": "".join(lines[method.lines[0] - method.decorators : method.lines[0]]),
            "description": method.docstring,
            "context": self.context(task, shown).rstrip("\n"),
            "head": head_of(task).rstrip("\n"),
            "test_error": task.test_error[-most_feedback:],
        }


def whole_method(task: RepositoryTask) -> str:
    """Return the task's method as the repository has it."""
    return "".join(task.raw_file_content.splitlines(keepends=True)[slice(*task.method.lines)])


def second_half(task: RepositoryTask) -> str:
    """Return the lines of the method that a completion has to write."""
    return completion_parts(task.method)[1]


BENCHMARKS: Mapping[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("method_gen_multiturn", around_gap, read_method, whole_method),
        Benchmark("completion", before_method, read_completion, second_half),
        Benchmark("program_repair", with_bug, read_repair, whole_method),
    )
}
