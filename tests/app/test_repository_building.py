"""Building a dataset of tasks, label by label."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.app import repository_building
from alpha_codium.app.repository_building import BuildReport, build_tasks
from alpha_codium.config import load_settings
from alpha_codium.data.catalogue import list_datasets
from alpha_codium.errors import SandboxError, UserError
from alpha_codium.repository.building import LabelTasks, tasks_of
from alpha_codium.repository.dataset import load_tasks
from alpha_codium.repository.harness import Trace
from tests.gen.running import run_cli
from tests.repository.shop import SOURCE, TESTS, checkout_at

RECIPE = """\
distribution = "shop"
version = "1"
sources = ["shop"]
runner = "unittest"
labels = ["test_prices", "test_sales"]
licence = "MIT"
"""
LONG = SOURCE.replace(
    "        return self.amount * self.percent // 100\n",
    "        share = self.percent\n        amount = self.amount * share\n        return amount // 100\n",
)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of a repository whose recipe is a file, and that has two labels of tests."""
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    recipe = tmp_path / "home" / "recipes" / "shop.toml"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(RECIPE)
    checkout = tmp_path / "shop"
    (checkout / "shop").mkdir(parents=True)
    (checkout / "shop" / "__init__.py").touch()
    (checkout / "shop" / "prices.py").write_text(LONG)
    (checkout / "test_prices.py").write_text(TESTS)
    (checkout / "test_sales.py").write_text(TESTS)
    return checkout


@pytest.mark.thorough
def test_a_dataset_is_built_from_a_checkout_and_read_again(shop: Path) -> None:
    report = build_tasks("shop", checkout=str(shop), output="tasks")
    assert (report.tasks, [len(label.tasks) for label in report.labels]) == (1, [1, 0]), "each method once"
    ((idx, task),) = load_tasks("tasks").items()
    assert (idx, task.method.name, task.raw_file_content) == (0, "net", LONG)
    assert "license: mit" in (report.stored / "README.md").read_text()
    (summary,) = list_datasets()
    assert (summary.name, summary.kind, summary.rows) == ("tasks", "tasks", "test: 1")
    with pytest.raises(UserError, match="exists already"):
        build_tasks("shop", checkout=str(shop), output="tasks")


@pytest.mark.thorough
def test_a_resumed_build_makes_only_the_labels_that_are_missing(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def recorded(checkout: object, label: str, methods: object, **options: object) -> LabelTasks:
        asked.append(label)
        if asked == ["test_prices", "test_sales"]:
            raise KeyboardInterrupt
        return await tasks_of(checkout, label, methods, **options)

    monkeypatch.setattr(repository_building, "tasks_of", recorded)

    def build(**options: object) -> BuildReport:
        return build_tasks("shop", checkout=str(shop), repeats=1, output="tasks", **options)

    with pytest.raises(KeyboardInterrupt):
        build(run="first")
    assert build(resume="first").tasks == 1
    assert asked == ["test_prices", "test_sales", "test_sales"]


@pytest.mark.thorough
def test_ctrl_c_exits_with_130_and_says_how_to_resume(shop: Path) -> None:
    (shop / "test_sales.py").write_text(TESTS.replace('print("OK")', "import time; time.sleep(2)"))
    command = [sys.executable, "-m", "alpha_codium", "repo", "build", "--repository", "shop", "--checkout", shop]
    process = subprocess.Popen([*command, "--repeats", "1", "--run", "mine"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while not process.stderr.readline().startswith("test_prices: 1 task"):
        assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "resume this run with gencode repo build --resume mine\n" in errors


@pytest.mark.timeout(30)
def test_a_label_whose_tests_take_long_does_not_hold_the_others(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, all_asked = [], asyncio.Event()

    async def failing(_: object, label: str) -> Trace:
        asked.append(label)
        if label == "d":
            all_asked.set()
        if label == "a":
            await all_asked.wait()
        raise SandboxError(label)

    monkeypatch.setattr(repository_building, "check_out", lambda *_, **__: checkout_at(shop))
    monkeypatch.setattr(repository_building, "calls_of", failing)
    settings = load_settings(overrides=["code_tester.workers=2"])
    with pytest.raises(SandboxError, match="b"):
        build_tasks("shop", labels=("a", "b", "c", "d"), only_labels=True, settings=settings)
    assert asked == ["a", "b", "c", "d"]


@pytest.mark.thorough
def test_labels_without_tests_are_reported_and_the_others_built(shop: Path) -> None:
    (shop / "test_prices.py").write_text("import os\nos._exit(1)\n")
    done = run_cli("repo", "build", "--repository", "shop", "--checkout", shop, "--repeats", "1", "--json", "-")
    assert "no tests of test_prices: " in done.stderr
    assert [label["tasks"] for label in json.loads(done.stdout)["labels"]] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--repository", "jango"], "there is no repository 'jango' (did you mean 'django'?)"),
        (
            ["--repository", "django", "--version", "1", "--sdist", "a"],
            "--version, --sdist and --checkout exclude each",
        ),
        (["--repository", "django", "--checkout", "nowhere"], "there is no folder nowhere"),
        ([], "Missing option '--repository'"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], message: str) -> None:
    done = run_cli("repo", "build", *arguments)
    assert done.returncode == 2 and done.stderr.startswith(f"error: {message}")
