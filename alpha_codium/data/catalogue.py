"""Listings of the stored datasets, and descriptions of their content."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from alpha_codium.data.folders import FolderSource, refuse_damaged
from alpha_codium.data.load import load_problems
from alpha_codium.data.origin import Source, choose_split
from alpha_codium.data.schema import RecordCounts, SplitCounts, difficulty_name, source_name, stored_record
from alpha_codium.data.solutions import CANDIDATES
from alpha_codium.data.sources import find_source
from alpha_codium.data.store import read_info
from alpha_codium.errors import DatasetError
from alpha_codium.paths import datasets_folder
from alpha_codium.problem import Problem, TestType
from alpha_codium.values import JsonValue
from alpha_codium.wording import counted


@dataclass(frozen=True, slots=True)
class Summary(JsonValue):
    """One stored dataset; `splits` maps each split to its number of rows.

    `kind` is `problems`, `solutions`, `tasks` (of repositories), or `unreadable`: then `error` says why.
    """

    name: str
    kind: str
    splits: dict[str, int]
    size_bytes: int
    origin: str
    error: str = ""

    @property
    def rows(self) -> str:
        """The number of rows of each split, for people."""
        return ", ".join(f"{split}: {rows}" for split, rows in self.splits.items())


@dataclass(frozen=True, slots=True)
class SplitDescription(JsonValue):
    """The content of one split: its columns, its counts (see `SplitCounts.as_record`), and its entry in `etl.json`."""

    split: str
    columns: tuple[str, ...]
    counts: RecordCounts
    info: dict[str, Any]


def list_datasets() -> tuple[Summary, ...]:
    """Return every stored dataset in alphabetical order, including unreadable ones."""
    return tuple(_summary(path) for path in sorted(datasets_folder().iterdir()) if not path.name.startswith("."))


def describe(name: str, split: str | None = None) -> tuple[SplitDescription, ...]:
    """Return a description of each split of a dataset, or of the given one.

    The counts that ETL stored are reused; a dataset without them is read from end to end. Raises DatasetError if the
    dataset can't be read or holds no problems.
    """
    source = find_source(name)
    splits = source.splits() if split is None else (choose_split(source, split),)
    return tuple(_describe_split(source, each) for each in splits)


def find_problem(dataset: str, name: str, split: str | None = None) -> Problem:
    """Return a dataset's problem by name; raises DatasetError with the nearest name if there is none."""
    source = find_source(dataset)
    if split is None and isinstance(source, FolderSource):
        for each in source.splits():
            problems = load_problems(dataset, each)
            if name in problems.names:
                return problems.get(name)
    return load_problems(dataset, split).get(name)


def _summary(folder: Path) -> Summary:
    info = read_info(folder)
    origins = dict.fromkeys(map(_origin_in, info.values()))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    try:
        source = FolderSource(folder)
        for saved in source.saved_folders():
            refuse_damaged(saved)
        splits = {split: info.get(split, {}).get("problems_out") for split in source.splits()}
        sizes = {split: len(source.dataset(split)) if count is None else count for split, count in splits.items()}
        kind = _kind_of(source)
    except DatasetError as error:
        return Summary(folder.name, "unreadable", {}, size, ", ".join(origins), str(error))
    return Summary(folder.name, kind, sizes, size, ", ".join(origins))


def _origin_in(info: Mapping[str, Any]) -> str:
    """Return the origin of a split as the user gave it, or "" if it is unknown."""
    origin = info.get("origin")
    return str(origin.get("text", "")) if isinstance(origin, dict) else ""


def _kind_of(source: FolderSource) -> str:
    columns = source.dataset(source.splits()[0]).column_names
    if CANDIDATES in columns and source.any_split:
        return "solutions"
    # A column of the repository benchmark.
    return "tasks" if "file_with_buggy_method" in columns else "problems"


def _describe_split(source: Source, split: str) -> SplitDescription:
    if isinstance(source, FolderSource):
        info = read_info(source.path).get(split, {})
        if info.get("counts"):
            return SplitDescription(split, tuple(source.dataset(split).column_names), info["counts"], info)
    counts, columns = SplitCounts(), dict[str, None]()
    for number, record in enumerate(source.records(split), start=1):
        columns |= dict.fromkeys(record)
        counts.add(stored_record(record, f"{source.origin.text}[{split}], record {number}"))
    return SplitDescription(split, tuple(columns), counts.as_record(), {"origin": asdict(source.origin)})


def split_lines(name: str, split: SplitDescription) -> Iterator[str]:
    """Yield lines that describe a split of the dataset `name`."""
    counts = split.counts
    yield f"{name}[{split.split}]"
    rows = {"problems": str(counts["problems"]), "repeated names": str(counts["repeated_names"] or "")}
    for column in ("tests", "solutions", "incorrect_solutions", "sources", "difficulties"):
        rows[column.replace("_", " ")] = ", ".join(f"{key}: {count}" for key, count in counts[column].items() if count)
    rows["columns"] = ", ".join(split.columns)
    origin = split.info.get("origin") or {}
    rows["origin"] = "@".join(filter(None, (origin.get("location"), origin.get("revision"))))
    for key in ("fingerprint", "filters", "sampling"):
        value = split.info.get(key) or ""
        rows[key] = value if isinstance(value, str) else ", ".join(f"{k}: {v}" for k, v in value.items())
    for label, value in rows.items():
        if value:
            yield f"  {label + ':':<21}{value}"


def problem_lines(problem: Problem) -> Iterator[str]:
    """Yield lines that show a problem with its public tests, and the number of its other tests and solutions."""
    limits = [
        f"{problem.time_limit_seconds:g} s" if problem.time_limit_seconds else "",
        f"{problem.memory_limit_bytes / 2**20:g} MiB" if problem.memory_limit_bytes else "",
    ]
    facts = [source_name(problem.source), difficulty_name(problem.difficulty), *problem.tags, *filter(None, limits)]
    yield f"{problem.name}\n{', '.join(facts)}\n\n{problem.description.rstrip()}"
    for number, test in enumerate(problem.public_tests, start=1):
        yield (f"\nPublic test {number}, input:\n{test.input.rstrip()}\n\nexpected output:\n{test.output.rstrip()}")
    counts = {
        "private test": problem.tests([TestType.PRIVATE]),
        "generated test": problem.generated_tests,
        "solution": problem.solutions,
        "incorrect solution": problem.incorrect_solutions,
    }
    yield "\n" + ", ".join(counted(len(values), noun) for noun, values in counts.items())
