"""Tasks of the repository benchmark as a Hugging Face dataset."""

import json
from collections.abc import Sequence
from pathlib import Path

from alpha_codium.data.folders import DICT_FILE
from alpha_codium.data.origin import choose_split
from alpha_codium.data.sources import find_source
from alpha_codium.data.store import INFO_FILE, check_target, lock, put_in_place, save, temporary_folder
from alpha_codium.errors import DatasetError
from alpha_codium.repository.tasks import RepositoryTask, task_of_row

SPLIT = "test"


def load_tasks(name: str, split: str | None = None, limit: int | None = None) -> dict[int, RepositoryTask]:
    """Return the tasks of a dataset by their `idx`, or the first `limit` of them.

    `name` is a dataset that `gencode repo build` stored, a path, or a hub id; one with the columns of
    `anonauthor/django_multi_task` is read, too. Raises DatasetError if it can't be read, or a row isn't a task.
    """
    source = find_source(name)
    split = choose_split(source, split)
    tasks: dict[int, RepositoryTask] = {}
    for number, row in enumerate(source.records(split)):
        if len(tasks) == limit:
            break
        try:
            tasks[int(row.get("idx", number))] = task_of_row(row)
        except (LookupError, TypeError, ValueError, SyntaxError) as error:
            where = f"{name}[{split}], row {number + 1}"
            why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise DatasetError(f"{where}, is not a task of a repository: {why}") from error
    return tasks


def save_tasks(tasks: Sequence[RepositoryTask], target: Path, card: str, origin: str) -> None:
    """Store tasks in a folder, as the split `test`; a dataset that is there is replaced.

    `origin` says in listings where they come from. Raises DatasetError if the folder can't be written.
    """
    from datasets import Dataset, NamedSplit

    check_target(target)
    rows = [task.row(idx) for idx, task in enumerate(tasks)]
    info = {"origin": {"text": origin}, "problems_out": len(rows)}
    with temporary_folder(target) as folder:
        save(Dataset.from_list(rows, split=NamedSplit(SPLIT)), folder / SPLIT)
        (folder / DICT_FILE).write_text(json.dumps({"splits": [SPLIT]}), "utf-8")
        (folder / INFO_FILE).write_text(json.dumps({"splits": {SPLIT: info}}), "utf-8")
        (folder / "README.md").write_text(card, "utf-8")
        with lock(target):
            put_in_place(folder, target)
