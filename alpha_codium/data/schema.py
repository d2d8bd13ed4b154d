"""The CodeContests schema: raw records, stored records and problems.

1. A raw record, as read from a source, has any of the schema's columns, and perhaps others.
2. A stored record has exactly the columns of `features()`, so that nulls and empty lists are typed. Added to the
   CodeContests columns are `source_name`, `difficulty_name` and, with each list of languages, `language_name`.
3. A checker's arguments are stored as JSON text, since an Arrow column has one type.
"""

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypedDict

from alpha_codium.data.reader import EXECUTION_KEYS, RecordReader, split_seconds
from alpha_codium.errors import DatasetError
from alpha_codium.problem import (
    LANGUAGE_NAMES,
    SOURCE_NAMES,
    CheckerSpec,
    ExecutionSpec,
    Problem,
    Solution,
    TestCase,
    TestType,
)

if TYPE_CHECKING:
    from datasets import Features

# From contest_problem.proto in github.com/google-deepmind/code_contests: words, then the letters of Codeforces.
DIFFICULTY_NAMES = (
    *("unknown_difficulty", "easy", "medium", "hard", "harder", "hardest", "external"),
    *"ABCDEFGHIJKLMNOPQRSTUV",
    *("introductory", "interview", "competition"),  # APPS
)
DATE_COLUMNS = ("date", "contest_date", "question_date")
TEST_COLUMNS = tuple(str(kind) for kind in TestType)
SOLUTION_COLUMNS = ("solutions", "incorrect_solutions")
# The reader of each column.
READERS: dict[str, Callable[[RecordReader, str], Any]] = {
    "name": RecordReader.name,
    "description": RecordReader.text,
    **dict.fromkeys(TEST_COLUMNS, RecordReader.tests),
    "source": RecordReader.integer,
    "difficulty": RecordReader.integer,
    **dict.fromkeys(SOLUTION_COLUMNS, RecordReader.solutions),
    "cf_contest_id": RecordReader.integer,
    "cf_index": RecordReader.text,
    "cf_points": RecordReader.number,
    "cf_rating": RecordReader.integer,
    "cf_tags": RecordReader.texts,
    "is_description_translated": RecordReader.flag,
    "untranslated_description": RecordReader.text,
    "time_limit": RecordReader.time_limit,
    "memory_limit_bytes": RecordReader.byte_count,
    "input_file": RecordReader.text,
    "output_file": RecordReader.text,
    "execution": RecordReader.execution,
    "checker": RecordReader.checker,
}
COLUMNS = (*READERS, "source_name", "difficulty_name")
# The columns that `gencode data validate` adds.
VALIDATION_COLUMNS = (
    *("is_valid_problem", "is_valid_test", "multiple_answers", "suggested_checker", "suggested_time_limit"),
    *("suggested_memory_limit_bytes", "undetected_incorrect", "validation_findings"),
)
# The name of a problem's assertions among the columns of tests.
TEST_CODE = "test_code"


def problem_from_record(record: Mapping[str, Any], where: str = "the record") -> Problem:
    """Return the problem of a raw or stored record; raises DatasetError with `where`, the field, and the mistake."""
    stored = stored_record(record, where)
    limit, checker = stored["time_limit"], stored["checker"]
    parts: dict[str, Any] = {}
    for column in TEST_COLUMNS:
        parts[column] = tuple(map(TestCase, stored[column]["input"], stored[column]["output"]))
    for column in SOLUTION_COLUMNS:
        parts[column] = tuple(map(Solution, stored[column]["language_name"], stored[column]["solution"]))
    return Problem(
        name=stored["name"],
        description=stored["description"],
        **parts,
        source=stored["source"],
        difficulty=stored["difficulty"],
        tags=tuple(stored["cf_tags"]),
        time_limit_seconds=(limit["seconds"] + limit["nanos"] / 1e9 or None) if limit else None,
        memory_limit_bytes=stored["memory_limit_bytes"] or None,
        checker=CheckerSpec(checker["name"], json.loads(checker["arguments"])) if checker else None,
        execution=ExecutionSpec(**(stored["execution"] or {})),
        input_file=stored["input_file"],
        output_file=stored["output_file"],
    )


def record_from_problem(problem: Problem) -> dict[str, Any]:
    """Return a raw record that `problem_from_record` converts back to the same problem."""
    limit = None
    if problem.time_limit_seconds is not None:
        limit = dict(zip(("seconds", "nanos"), split_seconds(problem.time_limit_seconds), strict=True))
    tests = {kind: getattr(problem, kind) for kind in TEST_COLUMNS}
    programs = {column: getattr(problem, column) for column in SOLUTION_COLUMNS}
    checker = problem.checker
    return {
        "name": problem.name,
        "description": problem.description,
        **{kind: {"input": [t.input for t in of], "output": [t.output for t in of]} for kind, of in tests.items()},
        "source": problem.source,
        "difficulty": problem.difficulty,
        "cf_tags": list(problem.tags),
        **{
            column: {"language": [LANGUAGE_NAMES.index(s.language) for s in of], "solution": [s.code for s in of]}
            for column, of in programs.items()
        },
        "time_limit": limit,
        "memory_limit_bytes": problem.memory_limit_bytes or 0,
        "input_file": problem.input_file,
        "output_file": problem.output_file,
        "execution": asdict(problem.execution),
        "checker": None if checker is None else {"name": checker.name, "arguments": checker.arguments},
    }


def stored_record(
    record: Mapping[str, Any], where: str = "the record", date_columns: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a raw record with the columns of `features(date_columns)`; raises the errors of `problem_from_record`."""
    read = RecordReader(record, where)
    stored = {column: reader(read, column) for column, reader in READERS.items()}
    names = {"source_name": source_name(stored["source"]), "difficulty_name": difficulty_name(stored["difficulty"])}
    return stored | names | {column: date_text(record, column, where) for column in date_columns}


def features(date_columns: Iterable[str] = (), *, validated: bool = False) -> "Features":
    """Return the types of a stored record's columns, with those that validation adds if `validated` is set."""
    from datasets import Features, Sequence, Value

    text, number, texts = Value("string"), Value("int64"), Sequence(Value("string"))
    types: dict[Any, Any] = {
        RecordReader.name: text,
        RecordReader.text: text,
        RecordReader.texts: texts,
        RecordReader.integer: number,
        RecordReader.byte_count: number,
        RecordReader.number: Value("float64"),
        RecordReader.flag: Value("bool"),
        RecordReader.tests: {"input": texts, "output": texts},
        RecordReader.solutions: {"language": Sequence(number), "solution": texts, "language_name": texts},
        RecordReader.time_limit: {"seconds": number, "nanos": number},
        RecordReader.execution: dict.fromkeys(EXECUTION_KEYS, text),
        RecordReader.checker: {"name": text, "arguments": text},
    }
    added: dict[str, Any] = dict.fromkeys(("source_name", "difficulty_name", *date_columns), text)
    if validated:
        yes = Value("bool")
        tests = dict.fromkeys((*TEST_COLUMNS, TEST_CODE), Sequence(yes))
        findings = [{"reason": text, "fault": yes, "text": text, "evidence": text}]
        kinds = (yes, tests, yes, types[RecordReader.checker], Value("float64"), number, number, findings)
        added |= dict(zip(VALIDATION_COLUMNS, kinds, strict=True))
    return Features({column: types[reader] for column, reader in READERS.items()} | added)


def source_name(number: int) -> str:
    """Return the name of a value of the column `source`."""
    return SOURCE_NAMES.get(number, f"source_{number}")


def difficulty_name(number: int) -> str:
    """Return the name of a value of the column `difficulty`: a lower-case word, or an upper-case letter."""
    return DIFFICULTY_NAMES[number] if 0 <= number < len(DIFFICULTY_NAMES) else f"difficulty_{number}"


def date_text(record: Mapping[str, Any], column: str, where: str = "the record") -> str | None:
    """Return a date as ISO 8601 text, or None if it is missing; raises DatasetError if it isn't a date."""
    value = record.get(column)
    if value is None or value == "":
        return None
    if isinstance(value, datetime.date):
        return value.isoformat()
    try:
        datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{where}: {column} {value!r} isn't a date such as 2024-12-31") from error
    return value


class Fingerprint:
    """The SHA-256 of the canonical JSON of stored records, in order."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, record: Mapping[str, Any]) -> int:
        """Add one record; return the length of its canonical JSON in bytes."""
        line = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        return len(line)

    @property
    def hex(self) -> str:
        """The fingerprint of the records so far, 64 hexadecimal digits."""
        return self._digest.hexdigest()


class RecordCounts(TypedDict):
    """The number of problems and of repeated names; tests by type, solutions by language, and so on."""

    problems: int
    repeated_names: int
    tests: dict[str, int]
    solutions: dict[str, int]
    incorrect_solutions: dict[str, int]
    sources: dict[str, int]
    difficulties: dict[str, int]


class SplitCounts:
    """Counts of stored records: tests by type, solutions by language, and so on."""

    def __init__(self) -> None:
        self.problems = self.without_tests = self.repeated_names = 0
        self._names = set[str]()
        self._by_column = {c: Counter[str]() for c in ("tests", *SOLUTION_COLUMNS, "sources", "difficulties")}

    def add(self, stored: Mapping[str, Any]) -> None:
        """Count one stored record; assertions count as one private test."""
        self.problems += 1
        self.repeated_names += stored["name"] in self._names
        self._names.add(stored["name"])
        self._by_column["sources"][stored["source_name"]] += 1
        self._by_column["difficulties"][stored["difficulty_name"]] += 1
        tests = {column: len(stored[column]["input"]) for column in TEST_COLUMNS}
        tests["private_tests"] += bool(((stored["execution"] or {}).get("test_code") or "").strip())
        self._by_column["tests"].update(tests)
        self.without_tests += not any(tests.values())
        for column in SOLUTION_COLUMNS:
            self._by_column[column].update(stored[column]["language_name"])

    def as_record(self) -> RecordCounts:
        """Return the counts as JSON."""
        counts = {column: dict(counts) for column, counts in self._by_column.items()}
        return RecordCounts(problems=self.problems, repeated_names=self.repeated_names, **counts)
