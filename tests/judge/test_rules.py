"""Which limits and which checker: the first that is given wins."""

from dataclasses import replace

import pytest

from alpha_codium.config import load_settings
from alpha_codium.judge import Rules
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem

PLAIN = Problem("a")
LIMITED = Problem("b", time_limit_seconds=2.0, memory_limit_bytes=2**28)
CHECKED = Problem("c", checker=CheckerSpec("exact"), description="Allowed is an error of 1e-4.")
ROUGH = Problem("d", description="Print x with an absolute error of at most 10 - 4.")


def test_the_users_limits_come_before_the_problems_own() -> None:
    limits = Rules(cpu_seconds=1.5, memory_bytes=2**27).limits_for(LIMITED)
    assert (limits.cpu_seconds, limits.memory_bytes, limits.wall_seconds) == (1.5, 2**27, 6.5)


def test_the_problems_own_time_is_taken_times_the_factor() -> None:
    limits = Rules().limits_for(LIMITED)
    assert (limits.cpu_seconds, limits.memory_bytes, limits.wall_seconds) == (6.0, 2**28, 20.0)
    assert Rules(time_limit_factor=1.0).limits_for(LIMITED).cpu_seconds == 2.0


@pytest.mark.parametrize(
    "problem", [PLAIN, Problem("z", time_limit_seconds=0.0, memory_limit_bytes=0)], ids=["null", "zero"]
)
def test_the_default_limits_are_4_seconds_and_1_gibibyte(problem: Problem) -> None:
    limits = Rules().limits_for(problem)
    assert (limits.cpu_seconds, limits.memory_bytes, limits.wall_seconds) == (4.0, 2**30, 14.0)


def test_the_problems_own_checker_comes_before_every_rule() -> None:
    assert Rules(delta=1e-6, order_matters=False).checker_for(CHECKED) == CheckerSpec("exact")


def test_order_comes_before_the_tolerance_the_statement_after_the_rules_and_tokens_come_last() -> None:
    assert Rules(delta=1e-6, order_matters=False).checker_for(PLAIN) == CheckerSpec("unordered_lines")
    assert Rules(delta=1e-6).checker_for(PLAIN) == CheckerSpec("float", {"abs": 1e-6, "rel": 1e-6})
    assert Rules(delta=1e-6).checker_for(ROUGH) == CheckerSpec("float", {"abs": 1e-6, "rel": 1e-6})
    assert Rules().checker_for(ROUGH) == CheckerSpec("float", {"abs": 1e-4, "rel": 0.0})
    assert Rules().checker_for(PLAIN) == CheckerSpec("tokens")


def test_what_a_call_returns_is_compared_by_a_checker_of_its_own() -> None:
    call = Problem("e", execution=ExecutionSpec("call", "f"))
    exact, near = {"abs": 0.0, "rel": 0.0, "unwrap": False}, {"abs": 1e-6, "rel": 1e-6, "unwrap": False}
    assert Rules(order_matters=False).checker_for(call) == CheckerSpec("call_result", exact)
    assert Rules(delta=1e-6).checker_for(call) == CheckerSpec("call_result", near)


def test_what_a_call_returns_is_compared_within_the_errors_that_the_statement_allows() -> None:
    """Whatever other arguments the problem gives, unless it gives a tolerance itself."""
    call = Problem("e", description=ROUGH.description, execution=ExecutionSpec("call", "f"))
    assert Rules().checker_for(call).arguments == {"abs": 1e-4, "rel": 0.0, "unwrap": False}
    wrapped = replace(call, checker=CheckerSpec("call_result"))
    assert Rules().checker_for(wrapped).arguments == {"abs": 1e-4, "rel": 0.0}
    own = replace(call, checker=CheckerSpec("call_result", {"abs": 1e-9}))
    assert Rules(delta=0.1).checker_for(own).arguments == {"abs": 1e-9}


@pytest.mark.parametrize(
    ("override", "rules"),
    [
        ("timeout=2.5", Rules(cpu_seconds=2.5)),
        ("memory_bytes=1000000", Rules(memory_bytes=1_000_000)),
        ("time_limit_factor=2", Rules(time_limit_factor=2.0)),
        ("delta=0.01", Rules(delta=0.01)),
        ("order_matters=false", Rules(order_matters=False)),
        ("stop_on_first_failure=true", Rules(stop_on_first_failure=True)),
    ],
)
def test_every_setting_of_the_tester_changes_its_rule(override: str, rules: Rules) -> None:
    assert Rules.of(load_settings(overrides=[f"code_tester.{override}"], environment={}).code_tester) == rules


def test_the_shipped_settings_are_the_default_rules() -> None:
    assert Rules.of(load_settings(environment={}).code_tester) == Rules()
