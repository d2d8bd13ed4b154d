"""A reward function for verl: `compute_score(data_source, solution_str, ground_truth, extra_info)`.

reward.custom_reward_function.path=pkg://alpha_codium.rewards.verl
+reward.custom_reward_function.reward_kwargs.scheme=continuous
"""

from collections.abc import Mapping
from typing import Any

from alpha_codium.app.tests_of import Shape
from alpha_codium.rewards.core import CodeReward


async def compute_score(
    data_source: str,  # noqa: ARG001 - verl passes it by name
    solution_str: str,
    ground_truth: Shape,
    extra_info: Mapping[str, Any] | None = None,  # noqa: ARG001 - the same
    **options: Any,
) -> dict[str, Any]:
    """Reward the program in a response by the tests in its ground truth, a dict or JSON; see `tests_of`.

    The ground truth is verl's, `{"inputs", "outputs", "fn_name"?}` or `{"assert_case"}`, or has another shape of
    `tests_of`. `options` are those of `CodeReward`; `scheme="continuous"` is that of verl's own function, but a program
    gets 1.0 only if it passes all tests. It is a coroutine, of which verl runs many at a time.

    Beside `score`, the dict has `acc` (whether all tests were passed), `tests_passed`, `tests_total`, `judged`, and
    `infra_failed` and `data_failed` (whose fault it is if there is no score), all of which verl logs.

    verl 0.9.1 can't train without a score: its trainer ends with an error if `score` is None. To go on instead, set
    `unjudged` to a number, and watch `judged` in its logs. Its manager `rate_limited` gives 0 for an exception or a
    time-out; the others end.
    """
    (scored,) = await CodeReward(**options).score_async([solution_str], [ground_truth])
    return {
        "score": scored.reward,
        "acc": float(scored.judged and 0 < scored.tests_total == scored.tests_passed),
        "tests_passed": scored.tests_passed,
        "tests_total": scored.tests_total,
        "judged": scored.judged,
        "infra_failed": scored.fault == "infra",
        "data_failed": scored.fault == "data",
    }
