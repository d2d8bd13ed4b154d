"""Rows of a file of samples: a problem, and the texts that a model wrote for it.

1. Objects (JSON lines, a JSON list of them, Parquet, a Solutions dataset) name their problem in the first existing
   column of `TASK_COLUMNS`, and have a text, or a list of texts, in the first of `PROGRAM_COLUMNS`.
2. A JSON list of texts, or of lists of texts, is in the order of the problems. The keys of a JSON object, or of a
   pickled dict, are names or indices of problems. Pickles are read by `data.unpickling`, which imports and calls
   nothing.
3. A `completion` continues the problem's prompt; other columns contain whole programs by default.
4. Files of other tools: a row may identify its problem by its `prompt` (CodeT), or have it in `doc` (lm-eval); the
   programs may be in `eval` (results of EvalPlus) or be the last of `messages`; a folder may have a folder for each
   problem, with a file for each program (EvalPlus), or a file of completions for each problem (MultiPL-E).
5. What a file contains decides how it is read, not its name alone: a pickle, or JSON lines, may be called `.json`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.data.files import read_json, read_json_lines, read_parquet
from alpha_codium.data.folders import FolderSource, is_dataset_folder
from alpha_codium.data.origin import choose_split
from alpha_codium.data.solutions import CANDIDATES
from alpha_codium.data.sources import find_source, stored_names
from alpha_codium.data.unpickling import loads
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.wording import natural_order

COMPLETION, SOLUTION = "completion", "solution"
FORMS = (COMPLETION, SOLUTION)
TASK_COLUMNS = ("task_id", "task_name", "problem_id", "question_id", "problem_name", "name", "task", "id")
# Identifies the problem in our own tables; in other files it may be the statement.
PROBLEM = "problem"
PROMPT, MESSAGES = "prompt", "messages"
COMPLETION_COLUMNS = ("completion", "completions")
PROGRAM_COLUMNS = (
    *("solution", CANDIDATES, *COMPLETION_COLUMNS, "code", "codes", "code_list", "program", "programs"),
    *("generated_code", "generation", "generations", "sample", "samples", "output", "outputs", "response", "responses"),
    *("filtered_resps", "resps", MESSAGES),
)
PICKLES = (".pkl", ".pickle")
SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".parquet", *PICKLES)
FOLDERS = (
    "it must be a Solutions dataset, or have a folder for each problem with its programs (HumanEval_0/0.py), or a file "
    "for each problem with its completions (.json.gz of MultiPL-E)"
)
# PROTO of protocol 2 and later; MARK, or an empty list or dict, of earlier ones.
PICKLE_STARTS = (b"\x80", b"(", b"]", b"}")
# The limit for a pickle, and for its value: five times the largest run of APPS.
MAX_PICKLED_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Row:
    """One row: `texts` are samples of the problem `task`: an id, an index (`by_place`) or the prompt (`by_prompt`).

    `values` are the row's columns, and `column` is the one with the texts ("" if there are no columns). `parts` are the
    objects of the texts in a file that has one for each text, such as results of EvalPlus.
    """

    task: str | int
    texts: tuple[str, ...]
    form: str = SOLUTION
    by_place: bool = False
    column: str = ""
    values: Mapping[str, Any] | None = None
    where: str = ""
    by_prompt: bool = False
    parts: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """The user's choice of the column with programs, and of their form; by default the names of columns decide."""

    column: str = ""
    form: str = ""

    def of(self, values: Mapping[str, Any], where: str) -> tuple[str, str]:
        """Return the column of a row that holds its texts, and their form; raises DatasetError if there is none."""
        known = (self.column,) if self.column else PROGRAM_COLUMNS
        column = next((name for name in known if name in values), None)
        if column is None:
            if self.column:
                raise DatasetError(f"{where}: no column {self.column!r}{nearest(self.column, values)}")
            have = f"such as solution (it has: {_shown(values)}): name one as `column`"
            raise DatasetError(f"{where}: no column that holds programs, {have}")
        return column, self.form or (COMPLETION if column in COMPLETION_COLUMNS else SOLUTION)


def read_samples(name: str | Path, columns: Columns | None = None) -> list[Row]:
    """Return all rows of a file of samples, or of a Solutions dataset; raises DatasetError if it can't be read."""
    path, columns = Path(name).expanduser(), columns or Columns()
    suffix = path.name.lower()
    if path.is_dir() and (found := list(_rows_in_folder(path))):
        return found
    if not path.is_file():
        return list(_rows_of_objects(_stored(str(name)), columns, str(name)))
    if is_pickle(path):
        value = _unpickled(path)
        # A list in a pickle is like a list in a JSON file; `read_json` yields the items of one.
        return list(_rows_of_items(value if isinstance(value, list | tuple) else [value], columns, str(path)))
    if suffix.endswith((".json", ".json.gz")):
        return list(_rows_of_items(list(read_json(path)), columns, str(path)))
    # `FileSource` would convert rows with the columns of a benchmark, which some runs have, to problems.
    for ending, read in {".jsonl": read_json_lines, ".jsonl.gz": read_json_lines, ".parquet": read_parquet}.items():
        if suffix.endswith(ending):
            return list(_rows_of_objects(read(path), columns, str(path)))
    raise DatasetError(f"{path} is not a file of samples: it must end in {', '.join(SUFFIXES)}")


def is_pickle(path: Path) -> bool:
    """Return whether a file is a pickle: by its suffix or, if that is unknown or `.json`, by its first byte.

    Runs of APPS are called `generations_all_...`, without `.pkl`. JSON doesn't begin as a pickle does.
    """
    name = path.name.lower()
    if name.endswith(SUFFIXES) and not name.endswith(".json"):
        return name.endswith(PICKLES)
    try:
        with path.open("rb") as file:
            return file.read(1) in PICKLE_STARTS
    except OSError as error:
        raise DatasetError(f"{path} can't be read: {error.strerror or error}") from error


def _stored(name: str) -> Iterator[Mapping[str, Any]]:
    """Return the rows of a dataset in a folder."""
    folder = Path(name).expanduser()
    if folder.is_dir() and not is_dataset_folder(folder) and name not in stored_names():
        raise DatasetError(f"{name} is not a folder of samples: {FOLDERS}")
    source = find_source(name)
    if not isinstance(source, FolderSource):
        raise DatasetError(f"there is no file or Solutions dataset {name}")
    return source.records(choose_split(source, None))


def _unpickled(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_PICKLED_BYTES:
            raise DatasetError(f"{path} is larger than the limit of {MAX_PICKLED_BYTES} bytes for a pickle")
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} can't be read: {error.strerror or error}") from error
    return loads(data, max_bytes=MAX_PICKLED_BYTES, where=str(path))


def _rows_of_items(items: Sequence[Any], columns: Columns, where: str) -> Iterator[Row]:
    """Return the rows of a JSON or pickled value."""
    if len(items) == 1 and isinstance(items[0], Mapping) and not _task_of(items[0]):
        results = items[0].get("eval")
        return _rows_of_mapping(results if isinstance(results, Mapping) else items[0], columns, where)
    if items and all(isinstance(item, Mapping) and _task_of(item) for item in items):
        return _rows_of_objects(items, columns, where)
    return _rows_in_order(items, columns, where)


def _rows_of_objects(records: Iterable[Mapping[str, Any]], columns: Columns, where: str) -> Iterator[Row]:
    for number, values in enumerate(records, start=1):
        at = f"{where}, row {number}"
        found = _task_of(values)
        if found is None:
            have = f"it has: {_shown(values)}; name it {', '.join(TASK_COLUMNS[:-1])} or {TASK_COLUMNS[-1]}"
            raise DatasetError(f"{at}: no column identifies the problem ({have})")
        key, task = found
        if isinstance(task, bool) or not isinstance(task, str | int):
            raise DatasetError(f"{at}: {key} must be text or a whole number, not {type(task).__name__}")
        column, form = columns.of(values, at)
        # A null list of candidates means no samples, but a null program is a sample without a program.
        texts = () if column == CANDIDATES and values[column] is None else _texts(values[column], at)
        yield Row(task, texts, form, column=column, values=values, where=at, by_prompt=key == PROMPT)


def _rows_of_mapping(items: Mapping[Any, Any], columns: Columns, where: str) -> Iterator[Row]:
    for key, value in items.items():
        at = f"{where}, key {str(key)[:80]!r}"
        form, texts = _form_and_texts(value, columns, at)
        parts = tuple(each for each in value if isinstance(each, Mapping)) if isinstance(value, list) else ()
        yield Row(key, texts, form, where=at, parts=parts if len(parts) == len(texts) else ())


def _rows_in_order(items: Sequence[Any], columns: Columns, where: str) -> Iterator[Row]:
    for place, value in enumerate(items):
        at = f"{where}, item {place + 1}"
        if isinstance(value, Mapping) and _task_of(value):
            raise DatasetError(f"{at} names its problem, but other rows don't: all rows must, or none")
        form, texts = _form_and_texts(value, columns, at)
        yield Row(place, texts, form, by_place=True, where=at)


def _form_and_texts(value: Any, columns: Columns, where: str) -> tuple[str, tuple[str, ...]]:
    """Return the form and texts of one problem in a file without ids: texts, or objects that contain them."""
    objects = [value] if isinstance(value, Mapping) else value
    if not (isinstance(objects, list | tuple) and objects and all(isinstance(each, Mapping) for each in objects)):
        return columns.form or SOLUTION, _texts(value, where)
    chosen = [columns.of(each, where) for each in objects]
    if len(set(chosen)) > 1:
        raise DatasetError(f"{where}: several columns hold programs: choose one with `column`")
    texts = [text for each in objects for text in _texts(each[chosen[0][0]], where)]
    return chosen[0][1], tuple(texts)


def _shown(values: Mapping[Any, Any]) -> str:
    """Return the names of columns as one line."""
    return ", ".join(repr(str(name)[:40]) for name in list(values)[:12])


def _task_of(values: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the column that identifies a row's problem, and its value; None if there is none."""
    doc = values.get("doc")
    places = [values, *([doc] if isinstance(doc, Mapping) else [])]
    for name in (*TASK_COLUMNS, PROMPT, PROBLEM):
        for place in places:
            if name in place:
                return name, place[name]
    return None


def _rows_in_folder(folder: Path) -> Iterator[Row]:
    """Yield the rows of a folder with a folder for each problem, or with a file of completions for each problem."""
    for path in sorted(folder.glob("*/*.py"), key=lambda path: natural_order(str(path))):
        try:
            yield Row(path.parent.name, (path.read_text("utf-8"),), where=str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"{path} can't be read: {error}") from error
    for path in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
        values = next(read_json(path), None)
        if isinstance(values, Mapping) and {"name", "completions"} <= values.keys():
            texts = _texts(values["completions"], str(path))
            yield Row(str(values["name"]), texts, COMPLETION, column="completions", values=values, where=str(path))


def _texts(value: Any, where: str) -> tuple[str, ...]:
    """Return the texts of a value; null is a sample without a program."""
    texts = value if isinstance(value, list | tuple) else [value]
    if len(texts) == 1 and isinstance(texts[0], list):  # lm-eval has a list for each request
        texts = texts[0]
    if texts and all(isinstance(each, Mapping) and "role" in each for each in texts):
        texts = [each.get("content") for each in texts if each["role"] == "assistant"][-1:]
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise DatasetError(f"{where}: a program must be text, not {type(text).__name__}")
    return tuple(text or "" for text in texts)
