"""Tasks of the repository benchmark: a method, its file, the tests that decide, and a variant with a bug."""

import difflib
import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from alpha_codium.languages.python.syntax import lines_of
from alpha_codium.repository.controls import Control
from alpha_codium.repository.methods import (
    Method,
    class_doc,
    class_without_method,
    completion_parts,
    find_method,
    without_method,
)
from alpha_codium.values import JsonValue
from alpha_codium.wording import counted


@dataclass(frozen=True, slots=True)
class RepositoryTask(JsonValue):
    """One method of a repository, from which the tasks of all three benchmarks are made.

    `labels` are those of the tests, see `Recipe`; the first is the method's component. Of the tests, `fail_to_pass`
    decide: each was seen to fail with a body that does nothing, or one of `mutants` small bugs. `pass_to_pass` must
    pass, too. `survivors` are the bugs that no test found. `buggy_text` is the file with a bug, whose kind is `bug`;
    `bug_tests` fail with it, and `test_error` is what they report then; if `bug_crashes`, none of them by an assertion.
    `completion_tests` fail without the part of the body that a completion writes. `controls` are what a right answer
    must fail, see there. `cpu_seconds` is the most that a run of the tests took for the certificate; 0 if it isn't
    known. Rows of earlier versions may be `fresh`: the method is called while the repository is imported, so that each
    run has to import it again. `given_id` is the `dp_id` that a row has.
    """

    repository: str
    version: str
    file_path: str
    labels: tuple[str, ...]
    method: Method
    raw_file_content: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    buggy_text: str = ""
    bug: str = ""
    bug_tests: tuple[str, ...] = ()
    test_error: str = ""
    bug_crashes: bool = False
    completion_tests: tuple[str, ...] = ()
    mutants: int = 0
    survivors: tuple[str, ...] = ()
    controls: tuple[Control, ...] = ()
    fresh: bool = False
    given_id: str = ""
    cpu_seconds: float = 0.0

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests of the task."""
        return (*self.fail_to_pass, *self.pass_to_pass)

    @property
    def mutation_score(self) -> float | None:
        """The share of small bugs that the tests find; None if none were tried."""
        return round(1 - len(self.survivors) / self.mutants, 3) if self.mutants else None

    @property
    def dp_id(self) -> str:
        """A name that is the same wherever the task is built from the same file."""
        if self.given_id:
            return self.given_id
        text = "\0".join((self.repository, self.file_path, self.method.qualified_name, self.raw_file_content))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def lines(self) -> Iterator[str]:
        """Yield lines that show the task: the method, its bug, and its tests."""
        method = self.method
        yield f"{self.repository} {self.version}: {method.qualified_name} in {self.file_path}"
        yield f"dp_id {self.dp_id}, tests of {', '.join(self.labels)}\n"
        yield "".join(lines_of(self.raw_file_content)[slice(*method.lines)])
        if self.buggy_text:
            yield f"with a bug ({self.bug}):\n"
            before, after = lines_of(self.raw_file_content), lines_of(self.buggy_text)
            # Without the heading of the difference.
            yield "".join(itertools.islice(difflib.unified_diff(before, after, n=0), 2, None))
        if self.mutants:
            yield f"finds {self.mutants - len(self.survivors)} of {counted(self.mutants, 'small bug')}, not:"
            yield from (f"  {survivor}" for survivor in self.survivors)
        for title, tests in (("decide", self.fail_to_pass), ("fail with the bug", self.bug_tests)):
            yield f"{title}: {counted(len(tests), 'test')} of {len(self.tests)}"
            yield from (f"  {test}" for test in tests)

    def row(self, idx: int) -> dict[str, Any]:
        """Return the row of a dataset, with the columns of `anonauthor/django_multi_task` and some more."""
        method = self.method
        return {
            "idx": idx,
            "dp_id": self.dp_id,
            "repository": self.repository,
            "version": self.version,
            "file_path": self.file_path,
            "file_sha256": hashlib.sha256(self.raw_file_content.encode()).hexdigest(),
            "class_name": method.class_name,
            "class_doc": class_doc(self.raw_file_content, method),
            "label": self.labels[0] if self.labels else "",
            "labels": list(self.labels),
            "method": {
                "name": method.name,
                "declaration": method.declaration,
                "description": method.docstring,
                "body": method.body,
                "decorators": method.decorators,
                # Lines from 0, with the last one, as in the existing dataset.
                "global_method_declaration_index": [method.lines[0], method.body_lines[0] - 1],
                "global_method_body_index": [method.body_lines[0], method.body_lines[1] - 1],
            },
            "raw_file_content": self.raw_file_content,
            "file_without_method": without_method(self.raw_file_content, method),
            "class_without_method": class_without_method(self.raw_file_content, method),
            "completion_prefix": completion_parts(method)[0],
            "file_with_buggy_method": self.buggy_text,
            "bug": self.bug,
            "bug_crashes": self.bug_crashes,
            "test_error_message": self.test_error,
            "tests": {"full_paths": list(self.tests)},
            "fail_to_pass": list(self.fail_to_pass),
            "pass_to_pass": list(self.pass_to_pass),
            "bug_tests": list(self.bug_tests),
            "completion_tests": list(self.completion_tests),
            "deciding_tests": len(self.fail_to_pass),
            "mutants": self.mutants,
            "mutation_score": self.mutation_score,
            "survivors": list(self.survivors),
            "controls": [control.to_json() for control in self.controls],
            "uncontrolled": not self.controls,
            "cpu_seconds": self.cpu_seconds,
        }


def task_of_row(row: Mapping[str, Any]) -> RepositoryTask:
    """Return the task in a row; columns that only gencode writes may be missing.

    Raises KeyError if a column is missing, or the method isn't in the file, or in that with the bug if there is one.
    """
    name = row["method"]["name"]
    line, _ = row["method"].get("global_method_declaration_index", (-1, -1))
    qualified = f"{row['class_name']}.{name}" if row["class_name"] else name
    tests = tuple(row["tests"]["full_paths"])
    if row["file_with_buggy_method"]:
        find_method(row["file_with_buggy_method"], qualified, line)
    task = RepositoryTask(
        repository=row.get("repository", "django"),
        version=row.get("version", ""),
        file_path=row["file_path"],
        labels=tuple(row.get("labels") or filter(None, [row.get("label")])),
        method=find_method(row["raw_file_content"], qualified, line),
        raw_file_content=row["raw_file_content"],
        fail_to_pass=tuple(row.get("fail_to_pass", tests)),
        pass_to_pass=tuple(row.get("pass_to_pass", ())),
        buggy_text=row["file_with_buggy_method"],
        bug=row.get("bug", ""),
        bug_tests=tuple(row.get("bug_tests", tests)),
        completion_tests=tuple(row.get("completion_tests", tests)),
        test_error=row["test_error_message"],
        bug_crashes=row.get("bug_crashes", False),
        mutants=row.get("mutants") or 0,
        survivors=tuple(row.get("survivors") or ()),
        controls=tuple(map(Control.from_json, row.get("controls") or ())),
        fresh=bool(row.get("fresh")),
        cpu_seconds=row.get("cpu_seconds") or 0.0,
    )
    return task if row.get("dp_id", task.dp_id) == task.dp_id else replace(task, given_id=str(row["dp_id"]))
