"""Reading the fields of a record in a benchmark's own schema, with an error that names the record and the field."""

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from alpha_codium.errors import DatasetError
from alpha_codium.languages.python.beginnings import parsed

KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", dict: "an object", list: "a list"}


@dataclass(frozen=True, slots=True)
class Raw:
    """One record; every method reads one field, or raises DatasetError. Missing and null are the same.

    `where` says which record it is, `key` is the field that holds its name.
    """

    record: Mapping[str, Any]
    where: str
    key: str = "task_id"

    def fail(self, field: str, what: str) -> NoReturn:
        """Raise DatasetError for a field."""
        name = self.record.get(self.key)
        label = f" ({name!r})" if isinstance(name, str | int) and field != self.key else ""
        raise DatasetError(f"{self.where}{label}: {field} {what}")

    def text(self, field: str) -> str:
        """A text; empty where it is missing."""
        value = self.record.get(field)
        if not isinstance(value, str | None):
            self.fail(field, f"must be text, not {_kind(value)}")
        return value or ""

    def needed(self, field: str) -> str:
        """A text that must be there, and not empty."""
        if not self.text(field).strip():
            self.fail(field, "is missing" if self.record.get(field) is None else "is empty")
        return self.text(field)

    def test(self, field: str) -> str:
        """The code of a test; empty where it is missing, or asserts nothing: that is no test."""
        code = self.text(field)
        return code if code.strip() and _asserts(code) else ""

    def texts(self, field: str) -> list[str]:
        """A list of texts; empty where it is missing."""
        value = self.rows(field)
        for place, item in enumerate(value):
            if not isinstance(item, str):
                self.fail(f"{field}[{place}]", f"must be text, not {_kind(item)}")
        return list(value)

    def rows(self, field: str) -> Sequence[Any]:
        """A list of anything; empty where it is missing."""
        value = self.record.get(field)
        if value is None:
            return []
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            self.fail(field, f"must be a list, not {_kind(value)}")
        return value

    def integer(self, field: str) -> int:
        """A whole number that must be there."""
        value = self.record.get(field)
        if value is None:
            self.fail(field, "is missing")
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(field, f"must be a whole number, not {_kind(value)}")
        return value

    def number(self, field: str) -> float:
        """A finite number; 0 where it is missing."""
        value = self.record.get(field)
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            self.fail(field, f"must be a number, not {_kind(value)}")
        if not abs(value or 0) <= sys.float_info.max:
            self.fail(field, "must be a finite number")
        return value or 0


def _asserts(code: str) -> bool:
    """Whether code may fail on what it tests; what isn't Python may, so that the judge says so."""
    if "assert" in code or "raise" in code:
        return True
    tree = parsed(code)
    return tree is None or any(isinstance(node, ast.Call) for node in ast.walk(tree))


def _kind(value: Any) -> str:
    """What a value is, in the words of JSON."""
    return "null" if value is None else KINDS.get(type(value), type(value).__name__)
