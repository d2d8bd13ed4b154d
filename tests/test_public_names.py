from pathlib import Path

import pytest

import alpha_codium
import alpha_codium.app
import alpha_codium.rewards
import alpha_codium.runs

PUBLIC = {
    "Candidate", "CheckerSpec", "Execution", "ExecutionSpec", "Job", "Judgement", "Limits", "Problem", "Program",
    "Report", "Rules", "Sandbox", "Settings", "Statement", "TestCase", "TestType", "UserError", "Verdict",
    "__version__", "audit_grader", "audit_grader_async", "compare", "compare_async", "evaluate", "evaluate_async",
    "extract_code", "judge_program", "judge_program_async", "judge_programs", "judge_programs_async",
    "load_problems", "load_settings", "open_sandbox", "rejudge", "rejudge_async", "replay", "replay_async", "score",
    "score_async", "shared_sandbox", "solve", "solve_async", "solve_set", "solve_set_async", "validate",
    "validate_async",
}  # fmt: skip


REWARDS = {
    "CodeReward", "Scored", "lm_eval_filter", "lm_eval_metric", "openrlhf_reward", "rates", "trl_reward",
    "trl_reward_async", "verifiers_reward",
}  # fmt: skip


def test_the_public_names_are_these_and_no_others():
    assert set(alpha_codium.rewards.__all__) == REWARDS
    assert set(alpha_codium.__all__) == PUBLIC
    assert len(alpha_codium.__all__) == len(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there(name):
    assert getattr(alpha_codium, name) is not None
    assert name in dir(alpha_codium)


@pytest.mark.parametrize("module", [alpha_codium.rewards, alpha_codium.runs], ids=lambda module: module.__name__)
def test_every_name_of_a_package_is_there(module):
    assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.parametrize("module", [alpha_codium, alpha_codium.rewards], ids=lambda module: module.__name__)
def test_a_name_that_is_not_there_is_an_attribute_error(module):
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = module.nonsense


def test_what_is_public_says_what_it_is():
    assert [name for name in PUBLIC - {"__version__"} if not getattr(alpha_codium, name).__doc__] == []


def test_no_module_of_the_use_cases_bears_the_name_of_a_public_function():
    modules = {path.stem for path in Path(alpha_codium.app.__path__[0]).glob("*.py")}
    assert modules & PUBLIC == set()
