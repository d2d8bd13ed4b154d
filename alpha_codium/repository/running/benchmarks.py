"""The benchmarks: what a model is shown of a task, how its answer is read, and what the right answer is.

`class_gen_multiturn` is `method_gen_multiturn` with `gen_target: class`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from alpha_codium.languages.python.syntax import UNPARSABLE, lines_of
from alpha_codium.repository.methods import AnswerError, class_lines, completion_parts, reason_of
from alpha_codium.repository.running.answers import (
    CLASS,
    METHOD,
    ReadAnswer,
    code_of,
    head_of,
    read_class,
    read_completion,
    read_method,
    read_repair,
)
from alpha_codium.repository.running.context import Shown, around_gap, before_method, with_bug
from alpha_codium.repository.tasks import RepositoryTask


@dataclass(frozen=True, slots=True)
class RepositoryBenchmark:
    """A benchmark: `context` is the part of the file to show, `read_code` reads an answer's code.

    `right` is the right code, and `reference` the part of it with which what was written is compared. In an answer with
    several blocks of code, that with the `beginning` counts.
    """

    name: str
    context: Callable[[RepositoryTask, Shown], str]
    read_code: Callable[[RepositoryTask, str], ReadAnswer]
    right: Callable[[RepositoryTask], str]
    reference: Callable[[RepositoryTask], str]
    beginning: re.Pattern[str] = METHOD

    def read(self, task: RepositoryTask, answer: str) -> ReadAnswer:
        """Return a model's answer as it is tested; raises AnswerError."""
        try:
            return self.read_code(task, code_of(answer, self.beginning))
        except UNPARSABLE as error:
            # Whatever Python makes of a text, it is the model's.
            raise AnswerError(f"the answer is not valid Python: {reason_of(error)}") from error

    def variables(self, task: RepositoryTask, shown: Shown, most_feedback: int) -> dict[str, Any]:
        """Return the variables of the prompts."""
        method = task.method
        lines = lines_of(task.raw_file_content)
        return {
            "repository": task.repository,
            "file_path": task.file_path,
            "class_name": method.class_name,
            "outer_class": method.class_name.partition(".")[0],
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
    return "".join(lines_of(task.raw_file_content)[slice(*task.method.lines)])


def whole_class(task: RepositoryTask) -> str:
    """Return the class of the task's method, without decorators, as the repository has it; of a function, itself."""
    lines = class_lines(task.raw_file_content, task.method)
    return "".join(lines_of(task.raw_file_content)[slice(*lines)]) if lines else whole_method(task)


def second_half(task: RepositoryTask) -> str:
    """Return the lines of the method that a completion has to write."""
    return completion_parts(task.method)[1]


BENCHMARKS: Mapping[str, RepositoryBenchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        RepositoryBenchmark("method_gen_multiturn", around_gap, read_method, whole_method, whole_method),
        RepositoryBenchmark("class_gen_multiturn", around_gap, read_class, whole_class, whole_method, CLASS),
        RepositoryBenchmark("completion", before_method, read_completion, second_half, second_half),
        RepositoryBenchmark("program_repair", with_bug, read_repair, whole_method, whole_method),
    )
}
