"""Reading the fields of one raw record, with an error that names the record, the field and what is wrong."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from alpha_codium.data.benchmarks import in_our_schema
from alpha_codium.data.kattis import checker_of_package
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.problem import LANGUAGES, CheckerSpec

# The names that the dataset's own enumeration gives to LANGUAGES, where they differ.
LANGUAGE_ALIASES = {"unknown_language": "unknown"}
EXECUTION_KEYS = ("kind", "entry_point", "test_code", "setup_code")
EXECUTION_KINDS = ("stdin", "call", "assertions")


class RecordReader:
    """One raw record; every method reads one field, or raises DatasetError. A missing field is an empty one.

    `where` says which record it is, for the error.
    """

    def __init__(self, record: Mapping[str, Any], where: str = "the record") -> None:
        self.where = where
        if not isinstance(record, Mapping):
            raise DatasetError(f"{where}: a problem must be an object, not {_kind(record)}")
        self.record = in_our_schema(record, where)

    def fail(self, field: str, what: str) -> NoReturn:
        """Raise DatasetError for a field."""
        name = self.record.get("name")
        label = f" ({name!r})" if isinstance(name, str) and name and field != "name" else ""
        raise DatasetError(f"{self.where}{label}: {field} {what}")

    def name(self) -> str:
        """The problem's name, which must be there."""
        if self.record.get("name") is None:
            have = ", ".join(sorted(map(str, self.record))[:8]) or "nothing"
            self.fail("name", f"is missing: it is no problem in the CodeContests schema (it has: {have})")
        name = self.text("name")
        if not name.strip():
            self.fail("name", "is empty")
        return name

    def text(self, field: str) -> str:
        """A text; null is the empty one."""
        return self._text(field, self.record.get(field) if self.record.get(field) is not None else "")

    def integer(self, field: str) -> int:
        """A whole number; null is 0."""
        return self._integer(field, self.record.get(field))

    def number(self, field: str) -> float:
        """A number; null is 0."""
        return self._number(field, self.record.get(field))

    def flag(self, field: str) -> bool:
        """True or false; null is false."""
        value = self.record.get(field)
        if value not in (None, False, True):
            self.fail(field, f"must be true or false, not {_kind(value)}")
        return bool(value)

    def texts(self, field: str) -> list[str]:
        """A list of texts; null is the empty one."""
        return self._texts(field, self.record.get(field))

    def tests(self, field: str) -> dict[str, list[str]]:
        """Tests as `{input: [...], output: [...]}`, both of one length; a list of `{input, output}` is taken too."""
        columns = self._columns(field, "input", "output")
        return {key: self._texts(f"{field}.{key}", values) for key, values in columns.items()}

    def solutions(self, field: str) -> dict[str, list[Any]]:
        """Solutions as `{language: [numbers of LANGUAGES], solution: [...]}`; languages may come by name."""
        columns = self._columns(field, "language", "solution")
        languages = [self._language(f"{field}.language", value) for value in self._list(field, columns["language"])]
        return {"language": languages, "solution": self._texts(f"{field}.solution", columns["solution"])}

    def time_limit(self) -> dict[str, int] | None:
        """`{seconds, nanos}`, or None for null; a plain number of seconds is taken too."""
        value = self.record.get("time_limit")
        if value is None:
            return None
        if isinstance(value, Mapping):
            seconds, nanos = (self._integer(f"time_limit.{key}", value.get(key)) for key in ("seconds", "nanos"))
        else:
            seconds, nanos = split_seconds(self._number("time_limit", value))
        if seconds < 0 or nanos < 0:
            self.fail("time_limit", "is below 0")
        return {"seconds": seconds, "nanos": nanos}

    def memory_limit(self) -> int:
        """Bytes; 0 where it isn't given."""
        value = self.integer("memory_limit_bytes")
        if value < 0:
            self.fail("memory_limit_bytes", "is below 0")
        return value

    def checker(self) -> CheckerSpec | None:
        """The checker: `{name, arguments}` (a mapping or its JSON), or that of an ICPC package."""
        value = self.record.get("checker")
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.fail("checker", f"must be an object with a name and arguments, not {_kind(value)}")
        try:
            return _own_checker(value) if value.get("name") else checker_of_package(value)
        except ValueError as error:
            self.fail("checker", f"can't be read: {error}")

    def execution(self) -> dict[str, str] | None:
        """How a candidate is run, `{kind, entry_point, test_code, setup_code}`; None for null: by stdin."""
        value = self.record.get("execution")
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.fail("execution", f"must be an object, not {_kind(value)}")
        unknown = {key for key in value if key not in EXECUTION_KEYS}
        if unknown:
            word = min(map(str, unknown))
            self.fail("execution", f"has an unknown key {word!r}{nearest(word, EXECUTION_KEYS)}")
        texts = {key: self._text(f"execution.{key}", value.get(key) or "") for key in EXECUTION_KEYS}
        texts["kind"] = texts["kind"] or EXECUTION_KINDS[0]
        if texts["kind"] not in EXECUTION_KINDS:
            self.fail("execution.kind", f"{texts['kind']!r} is unknown{nearest(texts['kind'], EXECUTION_KINDS)}")
        return texts

    def _columns(self, field: str, first: str, second: str) -> dict[str, Any]:
        value = self.record.get(field)
        if value is None:
            return {first: [], second: []}
        if isinstance(value, Mapping):
            self._same_length(field, value, first, second)
            return {key: value.get(key) or [] for key in (first, second)}
        rows = self._list(field, value)
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping) or first not in row or second not in row:
                self.fail(f"{field}[{index}]", f"must be an object with {first} and {second}")
        return {key: [row[key] for row in rows] for key in (first, second)}

    def _same_length(self, field: str, value: Mapping[str, Any], first: str, second: str) -> None:
        unknown = {key for key in value if key not in (first, second, "language_name")}
        if unknown:
            word = min(map(str, unknown))
            self.fail(field, f"has an unknown key {word!r}{nearest(word, (first, second))}")
        lengths = [len(self._list(f"{field}.{key}", value.get(key))) for key in (first, second)]
        if lengths[0] != lengths[1]:
            self.fail(
                field, f"has {lengths[0]} of {first} but {lengths[1]} of {second}: each {first} needs its {second}"
            )

    def _list(self, field: str, value: Any) -> Sequence[Any]:
        if value is None:
            return []
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            self.fail(field, f"must be a list, not {_kind(value)}")
        return value

    def _texts(self, field: str, value: Any) -> list[str]:
        return [self._text(f"{field}[{index}]", item) for index, item in enumerate(self._list(field, value))]

    def _text(self, field: str, value: Any) -> str:
        if not isinstance(value, str):
            self.fail(field, f"must be text, not {_kind(value)}")
        try:
            value.isascii() or value.encode()
        except UnicodeEncodeError:
            self.fail(field, "holds half a surrogate pair: it is no valid Unicode text")
        return value

    def _integer(self, field: str, value: Any) -> int:
        number = value if isinstance(value, int) and not isinstance(value, bool) else self._number(field, value)
        if number != int(number):
            self.fail(field, f"must be a whole number, not {value!r}")
        if not -(2**63) <= number < 2**63:
            self.fail(field, "must fit into 64 bits")
        return int(number)

    def _number(self, field: str, value: Any) -> float:
        if value is None:
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(field, f"must be a number, not {_kind(value)}")
        if (isinstance(value, int) and abs(value) > 2**63) or not math.isfinite(value):
            self.fail(field, "must be a finite number that fits into 64 bits")
        return float(value)

    def _language(self, field: str, value: Any) -> int:
        if isinstance(value, str):
            name = LANGUAGE_ALIASES.get(value.lower(), value.lower())
            if name not in LANGUAGES:
                self.fail(field, f"{value!r} is unknown{nearest(name, LANGUAGES)}")
            return LANGUAGES.index(name)
        number = self._integer(field, value)
        if not 0 <= number < len(LANGUAGES):
            self.fail(field, f"{number} is unknown: it goes from 0 to {len(LANGUAGES) - 1} ({', '.join(LANGUAGES)})")
        return number


def split_seconds(seconds: float) -> tuple[int, int]:
    """Seconds as whole seconds and nanoseconds."""
    return divmod(round(seconds * 10**9), 10**9)


def _own_checker(value: Mapping[str, Any]) -> CheckerSpec:
    arguments = value.get("arguments") or {}
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    if not isinstance(value["name"], str) or not isinstance(arguments, Mapping):
        raise ValueError("its name must be text and its arguments an object")
    return CheckerSpec(value["name"], dict(arguments))


def _kind(value: Any) -> str:
    """What a value is, in the words of JSON."""
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return "null" if value is None else kinds.get(type(value), type(value).__name__)
