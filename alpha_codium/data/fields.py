"""A reader of an untrusted record's fields, with errors that name the record, the field and the mistake."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from alpha_codium.errors import DatasetError
from alpha_codium.values import parse_json, surrogate_in

KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}


class Fields:
    """One record; each method reads one field, or raises DatasetError. Missing or null fields are empty, or 0.

    `where` identifies the record in errors, and `key` is the field with its name.
    """

    def __init__(self, record: Mapping[str, Any], where: str, key: str = "name") -> None:
        self.record, self.where, self.key = record, where, key

    def fail(self, field: str, what: str) -> NoReturn:
        """Raise DatasetError for a field."""
        name = self.record.get(self.key)
        label = f" ({name!r})" if isinstance(name, str | int) and name != "" and field != self.key else ""
        raise DatasetError(f"{self.where}{label}: {field} {what}")

    def text(self, field: str) -> str:
        """Return a text."""
        value = self.record.get(field)
        return "" if value is None else self.as_text(field, value)

    def needed(self, field: str) -> str:
        """Return a text that must not be missing or empty."""
        if not self.text(field).strip():
            self.fail(field, "is missing" if self.record.get(field) is None else "is empty")
        return self.text(field)

    def texts(self, field: str) -> list[str]:
        """Return a list of texts."""
        return self.as_texts(field, self.record.get(field))

    def rows(self, field: str) -> Sequence[Any]:
        """Return a list with items of any type."""
        return self.as_list(field, self.record.get(field))

    def integer(self, field: str) -> int:
        """Return a whole number of 64 bits."""
        return self.as_integer(field, self.record.get(field))

    def number(self, field: str) -> float:
        """Return a finite number."""
        return self.as_number(field, self.record.get(field))

    def flag(self, field: str) -> bool:
        """Return true or false."""
        value = self.record.get(field)
        if value not in (None, False, True):
            self.fail(field, f"must be true or false, not {kind_of(value)}")
        return bool(value)

    def parsed(self, field: str, empty: Any) -> Any:
        """Return a value of the type of `empty`, parsed if the field contains JSON text; `empty` if it is missing."""
        value = self.record.get(field)
        if isinstance(value, str):
            try:
                value = parse_json(value) if value.strip() else None
            except (ValueError, RecursionError) as error:
                self.fail(field, f"isn't valid JSON: {error}")
        value = empty if value is None else value
        if not isinstance(value, type(empty)):
            self.fail(field, f"must be {kind_of(empty)}, not {kind_of(value)}")
        return value

    def as_list(self, field: str, value: Any) -> Sequence[Any]:
        """Return `value`, which must be a list."""
        if value is None:
            return []
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            self.fail(field, f"must be a list, not {kind_of(value)}")
        return value

    def as_texts(self, field: str, value: Any) -> list[str]:
        """Return `value`, which must be a list of strings."""
        return [self.as_text(f"{field}[{index}]", item) for index, item in enumerate(self.as_list(field, value))]

    def as_text(self, field: str, value: Any) -> str:
        """Return `value`, which must be valid Unicode text."""
        if not isinstance(value, str):
            self.fail(field, f"must be text, not {kind_of(value)}")
        if reason := surrogate_in(value):
            self.fail(field, f"is {reason}")
        return value

    def as_integer(self, field: str, value: Any) -> int:
        """Return `value`, which must be a whole number of 64 bits."""
        number = value if isinstance(value, int) and not isinstance(value, bool) else self.as_number(field, value)
        if number != int(number):
            self.fail(field, f"must be a whole number, not {value!r}")
        if not -(2**63) <= number < 2**63:
            self.fail(field, "must fit into 64 bits")
        return int(number)

    def as_number(self, field: str, value: Any) -> float:
        """Return `value`, which must be a finite number."""
        if value is None:
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(field, f"must be a number, not {kind_of(value)}")
        if (isinstance(value, int) and abs(value) > 2**63) or not math.isfinite(value):
            self.fail(field, "must be a finite number that fits into 64 bits")
        return float(value)


def kind_of(value: Any) -> str:
    """Return the type of a value in JSON's terms."""
    return "null" if value is None else KINDS.get(type(value), type(value).__name__)
