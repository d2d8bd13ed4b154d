"""A reader of raw records in the CodeContests schema."""

import json
from collections.abc import Mapping
from typing import Any

from alpha_codium.checkers import check_checker
from alpha_codium.data.benchmarks import in_our_schema
from alpha_codium.data.fields import Fields, kind_of
from alpha_codium.data.kattis import checker_of_package
from alpha_codium.errors import DatasetError, UserError, nearest
from alpha_codium.problem import EXECUTION_KINDS, LANGUAGE_NAMES, CheckerSpec, ExecutionSpec
from alpha_codium.program import PYTHON

# Names in the dataset's enumeration of languages that differ from LANGUAGE_NAMES.
LANGUAGE_ALIASES = {"unknown_language": "unknown"}
EXECUTION_KEYS = ("kind", "entry_point", "test_code", "setup_code", "language")


class RecordReader(Fields):
    """One raw record, converted if it is in a benchmark's schema; each method returns a column in its stored form."""

    def __init__(self, record: Mapping[str, Any], where: str = "the record") -> None:
        if not isinstance(record, Mapping):
            raise DatasetError(f"{where}: a problem must be an object, not {kind_of(record)}")
        super().__init__(in_our_schema(record, where), where)

    def name(self, field: str = "name") -> str:
        """Return the problem's name, which is required."""
        if self.record.get(field) is None:
            have = ", ".join(sorted(map(str, self.record))[:8]) or "nothing"
            self.fail(field, f"is missing: not a problem in the CodeContests schema (it has: {have})")
        return self.needed(field)

    def tests(self, field: str) -> dict[str, list[str]]:
        """Return tests as `{input: [...], output: [...]}`; a list of `{input, output}` is accepted, too."""
        columns = self._columns(field, "input", "output")
        return {key: self.as_texts(f"{field}.{key}", values) for key, values in columns.items()}

    def solutions(self, field: str) -> dict[str, list[Any]]:
        """Return programs as `{language: [indices of LANGUAGE_NAMES], solution, language_name}`; accepts names, too."""
        columns = self._columns(field, "language", "solution")
        languages = [self._language(f"{field}.language", value) for value in columns["language"]]
        programs = self.as_texts(f"{field}.solution", columns["solution"])
        return {
            "language": languages,
            "solution": programs,
            "language_name": [LANGUAGE_NAMES[number] for number in languages],
        }

    def time_limit(self, field: str) -> dict[str, int] | None:
        """Return `{seconds, nanos}`, or None for null; a number of seconds is accepted, too."""
        value = self.record.get(field)
        if value is None:
            return None
        if isinstance(value, Mapping):
            seconds, nanos = (self.as_integer(f"{field}.{key}", value.get(key)) for key in ("seconds", "nanos"))
        else:
            seconds, nanos = split_seconds(self.as_number(field, value))
        if seconds < 0 or nanos < 0:
            self.fail(field, "is below 0")
        return {"seconds": seconds, "nanos": nanos}

    def byte_count(self, field: str) -> int:
        """Return a number of bytes; 0 if it is missing."""
        value = self.integer(field)
        if value < 0:
            self.fail(field, "is below 0")
        return value

    def checker(self, field: str) -> dict[str, str] | None:
        """Return `{name, arguments}`, the arguments as JSON; an ICPC package's validator is accepted, too."""
        value = self.record.get(field)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.fail(field, f"must be an object with a name and arguments, not {kind_of(value)}")
        try:
            checker = _own_checker(value) if value.get("name") else checker_of_package(value)
            check_checker(checker)
        except (ValueError, UserError) as error:
            self.fail(field, f"can't be read: {error}")
        return {"name": checker.name, "arguments": json.dumps(checker.arguments, sort_keys=True)}

    def execution(self, field: str) -> dict[str, str] | None:
        """Return how candidates are run, `{kind, entry_point, test_code, setup_code}`, or None for null (stdin).

        With `language` unless it is Python.
        """
        value = self.record.get(field)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.fail(field, f"must be an object, not {kind_of(value)}")
        self._refuse_unknown(field, value, EXECUTION_KEYS)
        texts = {key: self.as_text(f"{field}.{key}", value.get(key) or "") for key in EXECUTION_KEYS}
        texts["kind"] = texts["kind"] or EXECUTION_KINDS[0]
        if texts["kind"] not in EXECUTION_KINDS:
            self.fail(f"{field}.kind", f"{texts['kind']!r} is unknown{nearest(texts['kind'], EXECUTION_KINDS)}")
        spec = ExecutionSpec(texts["kind"])
        if spec.is_function and spec.has_outputs and not texts["entry_point"].isidentifier():
            self.fail(f"{field}.entry_point", f"must be the name of the function to call, not {texts['entry_point']!r}")
        language = texts.pop("language")
        if language in ("", PYTHON):
            return texts
        return texts | {"language": LANGUAGE_NAMES[self._language(f"{field}.language", language)]}

    def _columns(self, field: str, first: str, second: str) -> dict[str, Any]:
        value = self.record.get(field)
        if isinstance(value, Mapping):
            self._refuse_unknown(field, value, (first, second), "language_name")
            columns = {key: self.as_list(f"{field}.{key}", value.get(key)) for key in (first, second)}
            lengths = [len(values) for values in columns.values()]
            if lengths[0] != lengths[1]:
                what = f"has {lengths[0]} of {first} but {lengths[1]} of {second}: each {first} needs its {second}"
                self.fail(field, what)
            return columns
        rows = self.as_list(field, value)
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping) or first not in row or second not in row:
                self.fail(f"{field}[{index}]", f"must be an object with {first} and {second}")
        return {key: [row[key] for row in rows] for key in (first, second)}

    def _refuse_unknown(self, field: str, value: Mapping[str, Any], known: tuple[str, ...], *also: str) -> None:
        if unknown := [str(key) for key in value if key not in known + also]:
            self.fail(field, f"has an unknown key {min(unknown)!r}{nearest(min(unknown), known)}")

    def _language(self, field: str, value: Any) -> int:
        if isinstance(value, str):
            name = LANGUAGE_ALIASES.get(value.lower(), value.lower())
            if name not in LANGUAGE_NAMES:
                self.fail(field, f"{value!r} is unknown{nearest(name, LANGUAGE_NAMES)}")
            return LANGUAGE_NAMES.index(name)
        number = self.as_integer(field, value)
        if not 0 <= number < len(LANGUAGE_NAMES):
            names = ", ".join(LANGUAGE_NAMES)
            self.fail(field, f"{number} is unknown: it goes from 0 to {len(LANGUAGE_NAMES) - 1} ({names})")
        return number


def split_seconds(seconds: float) -> tuple[int, int]:
    """Return seconds as whole seconds and nanoseconds."""
    return divmod(round(seconds * 10**9), 10**9)


def _own_checker(value: Mapping[str, Any]) -> CheckerSpec:
    arguments = value.get("arguments") or {}
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    if not isinstance(value["name"], str) or not isinstance(arguments, Mapping):
        raise ValueError("its name must be text and its arguments an object")
    return CheckerSpec(value["name"], dict(arguments))
