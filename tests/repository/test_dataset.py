"""Datasets of tasks."""

import json
from pathlib import Path

import pytest

from alpha_codium.errors import DatasetError
from alpha_codium.repository.dataset import load_tasks
from alpha_codium.repository.methods import find_method
from alpha_codium.repository.tasks import RepositoryTask
from tests.gen.running import run_cli
from tests.repository.shop import FILE, NET, SOURCE

NET_METHOD = find_method(SOURCE, "Sale.net")
BUGGY = SOURCE.replace("// 100", "* 100")
# A row with only the columns of `anonauthor/django_multi_task`.
FOREIGN = {
    "idx": 7,
    "dp_id": 1234,
    "file_path": FILE,
    "class_name": "Sale",
    "class_doc": "",
    "method": {
        "name": "net",
        "declaration": "    def net(self):\n",
        "body": NET_METHOD.body,
        "description": "Return the reduced amount.",
        "global_method_declaration_index": [37, 39],
        "global_method_body_index": [39, 40],
    },
    "raw_file_content": SOURCE,
    "file_without_method": "",
    "class_without_method": "",
    "file_with_buggy_method": BUGGY,
    "test_error_message": "AssertionError",
    "tests": {"full_paths": [NET]},
}


def stored(folder: Path, *rows: dict) -> str:
    path = folder / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_dataset_with_the_columns_of_the_existing_benchmark_is_read(tmp_path: Path) -> None:
    ((idx, task),) = load_tasks(stored(tmp_path, FOREIGN)).items()
    assert (idx, task.dp_id, task.method, task.tests) == (7, "1234", NET_METHOD, (NET,))
    assert (task.buggy_text, task.bug_tests, task.test_error) == (BUGGY, (NET,), "AssertionError")
    again = RepositoryTask.from_json(task.to_json())
    assert again == task and again.row(7)["dp_id"] == "1234"


def test_the_first_tasks_of_a_dataset_are_read(tmp_path: Path) -> None:
    name = stored(tmp_path, *({**FOREIGN, "idx": idx} for idx in range(3)))
    assert list(load_tasks(name, limit=2)) == [0, 1]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"name": "a"}, "it lacks 'method'"),
        ({**FOREIGN, "class_name": "Price"}, "it lacks 'Price.net'"),
        ({**FOREIGN, "raw_file_content": "def ("}, "invalid syntax"),
        ({**FOREIGN, "file_with_buggy_method": "def ("}, "invalid syntax"),
        ({**FOREIGN, "file_with_buggy_method": "class Sale:\n    pass\n"}, "it lacks 'Sale.net'"),
    ],
)
def test_a_row_that_is_no_task_is_named_with_the_reason(tmp_path: Path, row: dict, reason: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load_tasks(stored(tmp_path, FOREIGN, row))
    assert "row 2, is not a task of a repository: " + reason in str(caught.value)


def test_repo_show_shows_a_summary_or_a_task(tmp_path: Path) -> None:
    name = stored(tmp_path, FOREIGN)
    assert run_cli("repo", "show", name).stdout.startswith("1 task\n  django")
    shown = run_cli("repo", "show", name, "--idx", "7").stdout
    assert "Sale.net in shop/prices.py\n" in shown
    assert (
        "-        return self.amount * self.percent // 100\n+        return self.amount * self.percent * 100" in shown
    )
    assert run_cli("repo", "show", name, "--idx", "8").stderr.endswith("has no task with idx 8\n")
