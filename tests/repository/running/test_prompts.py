"""The prompts that users may edit."""

from pathlib import Path

import pytest

from alpha_codium.errors import FlowError
from alpha_codium.repository.running.benchmarks import BENCHMARKS
from alpha_codium.repository.running.config import RESOURCES
from alpha_codium.repository.running.context import Shown
from alpha_codium.repository.running.prompts import TEMPLATES, load_prompts
from alpha_codium.repository.tasks import RepositoryTask
from tests.repository.shop import SOURCE, task_of_shop

TASK = RepositoryTask.from_json(
    task_of_shop("Price.gross", ()).to_json()
    | {"buggy_text": SOURCE.replace("* RATE", "+ RATE"), "test_error": "5 != 6"}
)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_shipped_prompts_have_what_the_model_needs_and_not_the_answer(name: str) -> None:
    prompts = load_prompts(name)
    variables = BENCHMARKS[name].variables(TASK, Shown(), 100) | {"feedback": "1 != 2", "reason": "it is no method"}
    filled = {template: prompts.fill(template, variables) for template in TEMPLATES}
    assert "shop/prices.py" in filled["task"] and "Return the amount with tax." in filled["task"]
    assert "return self.amount * RATE" not in filled["task"]
    assert "1 != 2" in filled["failed"] and "1 != 2" not in filled["failed_without_feedback"]
    assert "it is no method" in filled["not_run"]
    assert ("5 != 6" in filled["task"]) == (name == "program_repair")


def test_a_repair_is_not_told_which_method_has_the_bug() -> None:
    prompts, benchmark = load_prompts("program_repair"), BENCHMARKS["program_repair"]
    asked = prompts.fill("task", benchmark.variables(TASK, Shown(), 100) | {"context": "", "test_error": ""})
    assert "gross" not in asked


def test_edited_prompts_are_read_from_a_folder(tmp_path: Path) -> None:
    shipped = RESOURCES.joinpath("prompts", "completion.yaml").read_text("utf-8")
    (tmp_path / "completion.yaml").write_text(shipped.replace("experienced", "new"))
    prompts = load_prompts("completion", str(tmp_path))
    assert "a new Python" in prompts.fill("system", {"repository": "x"}).replace("an new", "a new")
    assert prompts.fingerprint != load_prompts("completion").fingerprint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system: [", "not valid YAML"),
        ("system: x", "lack task, failed"),
        ("sistem: x", r"unknown key 'sistem' \(did you mean 'system'\?\)"),
        ("system: 3", "system must be a text, not 3"),
        ("text", "must have keys and values"),
    ],
)
def test_broken_prompts_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "completion.yaml").write_text(text)
    with pytest.raises(FlowError, match=message):
        load_prompts("completion", str(tmp_path))


def test_a_missing_file_and_a_missing_variable_are_named(tmp_path: Path) -> None:
    with pytest.raises(FlowError, match=r"completion.yaml can't be read: No such file"):
        load_prompts("completion", str(tmp_path))
    (tmp_path / "x.yaml").write_text("\n".join(f"{name}: '{{{{ nothing }}}}'" for name in TEMPLATES))
    prompts = load_prompts("x", str(tmp_path))
    with pytest.raises(FlowError, match=r"prompt 'x, task' can't be rendered: 'nothing' is undefined; there are: name"):
        prompts.fill("task", {"name": "x"})
