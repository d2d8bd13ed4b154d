"""Cleaning a file of generations: rows in, the same rows with clean texts out, and how often each rule applied."""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.data.load import ProblemSet
from alpha_codium.data.samples.programs import problem_names
from alpha_codium.data.samples.reading import Row
from alpha_codium.errors import DatasetError
from alpha_codium.gen.cleaning import RULES, STOP_WORDS, CleaningRule, Text, cleaned
from alpha_codium.problem import Problem


@dataclass
class CleaningCounts:
    """How many samples there were, were changed, became empty, and were changed by each rule."""

    samples: int = 0
    changed: int = 0
    emptied: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    def add(self, before: str, after: str, names: frozenset[str]) -> None:
        """Count one sample."""
        self.samples += 1
        self.changed += before != after
        self.emptied += bool(before.strip()) and not after.strip()
        self.rules.update(names)

    def to_json(self, rules: Sequence[CleaningRule]) -> dict[str, Any]:
        """The counts; a rule that was off has none."""
        return {
            "samples": self.samples,
            "changed": self.changed,
            "emptied": self.emptied,
            "rules": {rule.name: self.rules[rule.name] if rule in rules else None for rule in RULES},
        }


def clean_rows(
    rows: Sequence[Row],
    problems: ProblemSet | None,
    counts: CleaningCounts,
    rules: Sequence[CleaningRule] = RULES,
    stop_words: Sequence[str] = STOP_WORDS,
) -> Iterator[dict[str, Any]]:
    """The rows with clean texts, one after the other, as JSON lines hold them; `counts` grows.

    Without `problems` no prompt and no entry point is known. Raises DatasetError where the rows are in the order of
    problems that aren't given, or name others.
    """
    if problems is None and any(row.by_place or _may_be_place(row) for row in rows):
        raise DatasetError("the file names no problems: give a --benchmark or --dataset_name whose order it follows")
    names = problem_names(rows, problems) if problems is not None else [str(row.task) for row in rows]
    for row, name in zip(rows, names, strict=True):
        problem = problems.get(name) if problems is not None else Problem(name)
        texts = []
        for text in row.texts:
            known = Text(text, row.form, problem.description, problem.execution.entry_point, stop_words)
            after, applied = cleaned(known, rules)
            counts.add(text, after, applied)
            texts.append(after)
        yield _with_texts(row, name, texts)


def _may_be_place(row: Row) -> bool:
    """Whether a row has nothing but a number as its key, which may be a place: written as an id it no longer would."""
    return row.values is None and str(row.task).isdecimal()


def _with_texts(row: Row, name: str, texts: list[str]) -> dict[str, Any]:
    """The row with other texts; one of a format without columns becomes an object that names its problem."""
    if row.values is None or row.by_place or not row.column:
        return {"task_id": name, row.form: texts}
    values: Mapping[str, Any] = row.values
    is_list = isinstance(values[row.column], list | tuple)
    return {**values, row.column: texts if is_list else texts[0]}


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as JSON lines, all or nothing; raises DatasetError where that can't be."""
    if path.is_dir() or not path.name.lower().endswith(".jsonl"):
        raise DatasetError(f"--output {path} must be a file that ends in .jsonl")
    try:
        fd, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DatasetError(f"{path} can't be written: {error.strerror}") from error
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, default=str) + "\n" for row in rows)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
