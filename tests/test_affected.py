from pathlib import Path

import pytest

from tests.affected import ALWAYS, SETTINGS, affected


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("alpha_codium/eval/scoring.py", ["tests/eval/test_scoring.py"]),
        ("alpha_codium/eval/judging.py", ["tests/eval"]),
        ("alpha_codium/verdict.py", ["tests/test_verdict.py"]),
        ("alpha_codium/coroutines.py", ["tests/test_coroutines.py"]),
        ("alpha_codium/comparison/fitting.py", ["tests/comparison"]),
        ("tests/eval/test_known.py", ["tests/eval/test_known.py"]),
        ("tests/eval/test_deleted.py", []),
        ("alpha_codium/config/sections.py", ["tests/test_config.py"]),
        ("settings/configuration.toml", ["tests/test_config.py", SETTINGS]),
        ("prompts/auto/flow.toml", ["tests/flows/test_prompts.py", "tests/flows/test_loading.py"]),
        ("docs/architecture.md", ["tests/test_docs.py"]),
        ("README.md", ["tests/test_docs.py"]),
        ("CONTRIBUTING.md", ["tests/test_docs.py"]),
        ("alpha_codium/checkers.py", ["tests/test_linear_work.py", "tests/test_checkers.py"]),
        ("benchmarks/sandbox/__main__.py", []),
    ],
)
def test_the_tests_of_a_change_are_those_that_mirror_it(changed, tests):
    assert affected([Path(changed)]) == [*ALWAYS, *tests]


def test_an_added_test_file_does_not_replace_the_tests_of_its_folder():
    changed = [Path("alpha_codium/eval/scoring.py"), Path("tests/eval/test_scoring.py")]
    assert affected(changed) == [*ALWAYS, "tests/eval/test_scoring.py"]
    assert affected(changed, added=changed[1:]) == [*ALWAYS, "tests/eval", "tests/eval/test_scoring.py"]
