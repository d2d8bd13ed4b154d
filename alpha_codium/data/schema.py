"""The CodeContests schema: raw records, stored records and problems.

1. A raw record is what a source gives: any subset of the columns of the schema, and perhaps others.
2. A stored record has every column of `features()`, so that nulls and empty lists have their types; columns of
   another schema are gone. It adds `source_name`, `difficulty_name` and, beside each list of languages,
   `language_name`, and renames nothing.
3. A checker's arguments are stored as JSON text, since Arrow has one type a column.
"""

import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from alpha_codium.data.reader import RecordReader, split_seconds
from alpha_codium.errors import DatasetError
from alpha_codium.problem import LANGUAGES, SOURCE_NAMES, ExecutionSpec, Problem, Solution, TestCase, TestType

if TYPE_CHECKING:
    from datasets import Features

# contest_problem.proto of github.com/google-deepmind/code_contests: words, then Codeforces' letters.
DIFFICULTY_NAMES = (
    *("unknown_difficulty", "easy", "medium", "hard", "harder", "hardest", "external"),
    *"ABCDEFGHIJKLMNOPQRSTUV",
    *("introductory", "interview", "competition"),  # of APPS
)
DATE_COLUMNS = ("date", "contest_date", "question_date")
TEST_COLUMNS = tuple(str(kind) for kind in TestType)
SOLUTION_COLUMNS = ("solutions", "incorrect_solutions")
COLUMNS = (
    *("name", "description", *TEST_COLUMNS, "source", "difficulty", *SOLUTION_COLUMNS, "cf_contest_id", "cf_index"),
    *("cf_points", "cf_rating", "cf_tags", "is_description_translated", "untranslated_description", "time_limit"),
    *("memory_limit_bytes", "input_file", "output_file", "execution", "checker", "source_name", "difficulty_name"),
)


def problem_from_record(record: Mapping[str, Any], where: str = "the record") -> Problem:
    """The problem of a raw or a stored record; raises DatasetError with `where`, the field, and what is wrong."""
    read = RecordReader(record, where)
    limit = read.time_limit()
    return Problem(
        name=read.name(),
        description=read.text("description"),
        public_tests=_tests(read, "public_tests"),
        private_tests=_tests(read, "private_tests"),
        generated_tests=_tests(read, "generated_tests"),
        source=read.integer("source"),
        difficulty=read.integer("difficulty"),
        tags=tuple(read.texts("cf_tags")),
        solutions=_solutions(read, "solutions"),
        incorrect_solutions=_solutions(read, "incorrect_solutions"),
        time_limit_seconds=(limit["seconds"] + limit["nanos"] / 1e9 or None) if limit else None,
        memory_limit_bytes=read.memory_limit() or None,
        checker=read.checker(),
        execution=ExecutionSpec(**execution) if (execution := read.execution()) else ExecutionSpec(),
        input_file=read.text("input_file"),
        output_file=read.text("output_file"),
    )


def record_from_problem(problem: Problem) -> dict[str, Any]:
    """A raw record that `problem_from_record` reads back as the same problem."""
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
            column: {"language": [LANGUAGES.index(s.language) for s in of], "solution": [s.code for s in of]}
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
    """A raw record in the columns of `features(date_columns)`; raises DatasetError as `problem_from_record` does."""
    read = RecordReader(record, where)
    checker = read.checker()
    source, difficulty = read.integer("source"), read.integer("difficulty")
    return {
        "name": read.name(),
        "description": read.text("description"),
        **{column: read.tests(column) for column in TEST_COLUMNS},
        "source": source,
        "difficulty": difficulty,
        **{column: _with_language_names(read.solutions(column)) for column in SOLUTION_COLUMNS},
        "cf_contest_id": read.integer("cf_contest_id"),
        "cf_index": read.text("cf_index"),
        "cf_points": read.number("cf_points"),
        "cf_rating": read.integer("cf_rating"),
        "cf_tags": read.texts("cf_tags"),
        "is_description_translated": read.flag("is_description_translated"),
        "untranslated_description": read.text("untranslated_description"),
        "time_limit": read.time_limit(),
        "memory_limit_bytes": read.memory_limit(),
        "input_file": read.text("input_file"),
        "output_file": read.text("output_file"),
        "execution": read.execution(),
        "checker": None
        if checker is None
        else {"name": checker.name, "arguments": json.dumps(checker.arguments, sort_keys=True)},
        "source_name": source_name(source),
        "difficulty_name": difficulty_name(difficulty),
        **{column: date_text(record, column, where) for column in date_columns},
    }


def features(date_columns: Iterable[str] = ()) -> "Features":
    """The types of a stored record's columns."""
    from datasets import Features, Sequence, Value

    text, number, texts = Value("string"), Value("int64"), Sequence(Value("string"))
    tests = {"input": texts, "output": texts}
    programs = {"language": Sequence(number), "solution": texts, "language_name": texts}
    types: dict[str, Any] = dict.fromkeys(COLUMNS, text)
    types |= dict.fromkeys(TEST_COLUMNS, tests) | dict.fromkeys(SOLUTION_COLUMNS, programs)
    types |= dict.fromkeys(("source", "difficulty", "cf_contest_id", "cf_rating", "memory_limit_bytes"), number)
    types |= {"cf_points": Value("float64"), "cf_tags": texts, "is_description_translated": Value("bool")}
    types |= {"time_limit": {"seconds": number, "nanos": number}, "checker": {"name": text, "arguments": text}}
    types["execution"] = dict.fromkeys(("kind", "entry_point", "test_code", "setup_code"), text)
    return Features(types | dict.fromkeys(date_columns, text))


def source_name(number: int) -> str:
    """The name of a value of the column `source`."""
    return SOURCE_NAMES.get(number, f"source_{number}")


def difficulty_name(number: int) -> str:
    """The name of a value of the column `difficulty`: a word in lower case, or a letter in upper case."""
    return DIFFICULTY_NAMES[number] if 0 <= number < len(DIFFICULTY_NAMES) else f"difficulty_{number}"


def date_text(record: Mapping[str, Any], column: str, where: str = "the record") -> str | None:
    """A date column's value as ISO 8601 text, None where it is null; raises DatasetError if it is no date."""
    value = record.get(column)
    if value is None or value == "":
        return None
    if isinstance(value, datetime.date):
        return value.isoformat()
    try:
        datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{where}: {column} {value!r} is no date: it must read like 2024-12-31") from error
    return value


class Fingerprint:
    """SHA-256 over the canonical JSON of stored records, in order: of content, not of files or of versions."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, record: Mapping[str, Any]) -> int:
        """Take in one record; gives the length of its canonical JSON in bytes."""
        line = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        return len(line)

    @property
    def hex(self) -> str:
        """The fingerprint so far, 64 hexadecimal digits."""
        return self._digest.hexdigest()


def _tests(read: RecordReader, column: str) -> tuple[TestCase, ...]:
    tests = read.tests(column)
    return tuple(map(TestCase, tests["input"], tests["output"]))


def _solutions(read: RecordReader, column: str) -> tuple[Solution, ...]:
    programs = read.solutions(column)
    return tuple(
        Solution(LANGUAGES[n], code) for n, code in zip(programs["language"], programs["solution"], strict=True)
    )


def _with_language_names(programs: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return programs | {"language_name": [LANGUAGES[number] for number in programs["language"]]}
