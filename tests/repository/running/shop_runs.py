"""Runs of the repository benchmark on tasks of a small repository, with a scripted model."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from alpha_codium.app import repository_runs
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.methods import find_method, with_body
from alpha_codium.repository.recipes import RECIPES
from alpha_codium.repository.running.benchmarks import whole_method
from alpha_codium.repository.tasks import RepositoryTask
from tests.gen.running import Done, home, run_cli
from tests.repository.shop import FREE, GROSS, NET, SOURCE, task_of_shop
from tests.servers.scripted import ScriptedServer, Text

__all__ = ["home"]


def buggy(task: RepositoryTask) -> RepositoryTask:
    text = with_body(SOURCE, find_method(SOURCE, task.method.qualified_name), "        return None\n")
    return RepositoryTask.from_json(task.to_json() | {"buggy_text": text, "test_error": "None"})


TASKS = [
    buggy(task_of_shop("Price.gross", (GROSS,), (FREE,))),
    buggy(task_of_shop("Price.free", (FREE,), (GROSS,))),
    buggy(task_of_shop("Sale.net", (NET,), (FREE,))),
]
WRONG = "```python\ndef {name}(self):\n    return 0\n```"


@pytest.fixture
def config(home: Path, checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration for the small repository, whose provider uses it as it is."""
    for name in ("LITELLM_KEY", "LITELLM_ENDPOINT", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(RECIPES, "shop", checkout.recipe)
    monkeypatch.setattr(repository_runs, "check_out", lambda *_, **__: checkout)
    Path("tasks.jsonl").write_text("".join(json.dumps(task.row(10 + n)) + "\n" for n, task in enumerate(TASKS)))
    values = {
        "repository": "shop",
        "paths": {"data": "tasks.jsonl", "outputs": "outputs", "checkout": str(checkout.folder)},
        "inference": {"model": "openai/scripted", "max_iter": 2, "workers": 1, "batch_size": 2, "cache": False},
    }
    file = Path("config.yaml")
    file.write_text(yaml.safe_dump(values))
    return file.absolute()


def name_in(body: dict[str, Any]) -> str:
    """The method that a request is about."""
    question = body["messages"][1]["content"]
    return next(task.method.name for task in TASKS if f"def {task.method.name}(" in question.rpartition("begins")[2])


def right_for(name: str) -> str:
    return f"```python\n{whole_method(next(task for task in TASKS if task.method.name == name))}```"


def right_at_last(body: dict[str, Any]) -> Text:
    """The right answer to what was answered wrongly before; `net` is never right."""
    name, again = name_in(body), len(body["messages"]) > 2
    return Text(right_for(name) if again and name != "net" else WRONG.format(name=name))


def run(config: Path, server: ScriptedServer, *options: object) -> Done:
    return run_cli("repo", "run", "--config", config, "-o", f"inference.api_base={server.api_base}", *options)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def the_folder() -> Path:
    (folder,) = Path("outputs").iterdir()
    return folder
