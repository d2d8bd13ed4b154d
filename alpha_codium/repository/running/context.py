"""What a model is shown of a task's file: all of it or one class, cut to lines around the method."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from alpha_codium.languages.python.syntax import first_line, lines_of
from alpha_codium.repository.methods import Method, classes_around, find_method
from alpha_codium.repository.tasks import RepositoryTask

CUT = "# ... (lines are left out here)\n"


@dataclass(frozen=True, slots=True)
class Shown:
    """Which part is shown: `source` is `file` or `class`; at most so many characters, beside the marks of cuts."""

    source: str = "file"
    most: int = 60_000


def around_gap(task: RepositoryTask, shown: Shown) -> str:
    """Return the file or class without the method."""
    method, lines = task.method, lines_of(task.raw_file_content)
    start, end = _range(task.raw_file_content, method, shown)
    gap = method.lines[0] - method.decorators
    return trimmed(lines[start:gap], lines[method.lines[1] : end], shown.most)


def before_method(task: RepositoryTask, shown: Shown) -> str:
    """Return the file or class up to the method, with its decorators."""
    method = task.method
    start, _ = _range(task.raw_file_content, method, shown)
    return trimmed(lines_of(task.raw_file_content)[start : method.lines[0]], (), shown.most)


def with_bug(task: RepositoryTask, shown: Shown) -> str:
    """Return the file or class with the bug."""
    method, lines = find_method(task.buggy_text, task.method.qualified_name), lines_of(task.buggy_text)
    start, end = _range(task.buggy_text, method, shown)
    place = method.lines[0] - method.decorators
    return trimmed(lines[start:place], lines[place:end], shown.most)


def trimmed(before: Sequence[str], after: Sequence[str], most: int) -> str:
    """Return the lines before and after a place, without those that are the farthest from it if they are too long.

    Each side may have half of the characters, and what the other side doesn't need.
    """
    most_before = max(most // 2, most - sum(map(len, after)))
    kept_before = before[len(before) - _fitting(reversed(before), most_before) :]
    kept_after = after[: _fitting(after, most - sum(map(len, kept_before)))]
    head = [CUT] if len(kept_before) < len(before) else []
    tail = [CUT] if len(kept_after) < len(after) else []
    return "".join([*head, *kept_before, *kept_after, *tail])


def _fitting(lines: Iterable[str], most: int) -> int:
    """Return how many of the first lines have at most so many characters together."""
    return sum(length <= most for length in itertools.accumulate(map(len, lines)))


def _range(text: str, method: Method, shown: Shown) -> tuple[int, int]:
    """Return the range of lines of the method's class, or of the file."""
    classes = classes_around(text, method) if shown.source == "class" else []
    return (first_line(classes[0]) - 1, classes[0].end_lineno or 0) if classes else (0, len(lines_of(text)))
