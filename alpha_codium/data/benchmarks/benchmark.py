"""The description of a benchmark whose records have their own schema."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.data.fields import Fields
from alpha_codium.languages.python.beginnings import parsed


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark; `convert` returns a raw record in the CodeContests schema, or raises DatasetError.

    Its records have all of `columns`, and one of `any_of` unless that is empty; `key` is the column of their names. A
    file of it is the split `only_split`, unless `has_splits` is true for its first record. Then `split_of` returns
    which of `splits` a record belongs to, or raises DatasetError. `hub_id` is empty if the hub has no dataset with this
    schema; `files` are those of its configurations that only a script of its knows.
    """

    name: str
    columns: frozenset[str]
    convert: Callable[[Fields], dict[str, Any]]
    key: str = "task_id"
    any_of: frozenset[str] = frozenset()
    hub_id: str = ""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only_split: str = "train"
    splits: tuple[str, ...] = ()
    has_splits: Callable[[Fields], bool] = lambda _first: False
    split_of: Callable[[Fields], str] = lambda _fields: ""

    def matches(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record has the benchmark's columns, and isn't in our own schema."""
        if "name" in record and self.key != "name":
            return False
        return record.keys() >= self.columns and (not self.any_of or not self.any_of.isdisjoint(record))

    def fields(self, record: Mapping[str, Any], where: str) -> Fields:
        """Return a reader of a record's fields."""
        return Fields(record, where, self.key)


def checked_tests(fields: Fields, field: str, *keys: str) -> list[dict[str, str]]:
    """Return the objects in a list of tests, each of which must have texts under the keys; raises DatasetError."""
    tests = fields.parsed(field, [])
    for index, test in enumerate(tests):
        if not isinstance(test, dict) or not all(isinstance(test.get(key), str) for key in keys):
            fields.fail(f"{field}[{index}]", f"must be an object with the texts {', '.join(keys)}")
    return tests


def code_of_test(fields: Fields, field: str) -> str:
    """Return the code of a test, or "" if it asserts nothing."""
    code = fields.text(field)
    if "assert" in code or "raise" in code:
        return code
    # Code that isn't Python is kept, so that the judge reports it.
    tree = parsed(code)
    return code if tree is None or any(isinstance(node, ast.Call) for node in ast.walk(tree)) else ""
