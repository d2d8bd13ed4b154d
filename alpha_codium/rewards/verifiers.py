"""Rewards for verifiers: an asynchronous function of a task's data and a trace."""

from collections.abc import Awaitable, Callable
from typing import Any

from alpha_codium.rewards.core import CodeReward


def verifiers_reward(*, field: str = "tests", **options: Any) -> Callable[[Any, Any], Awaitable[float]]:
    """Return a reward for verifiers; `options` are those of `CodeReward`.

    The reward is that of the trace's last reply, by the tests in the `field` of the task's data, which has one of the
    shapes of `tests_of`. Call it in a method with `@vf.reward`, or name it in the task's configuration, as `fn` of
    `rewards`; `alpha_codium.rewards.verifiers:code_reward` is one with the default options.

    It raises RuntimeError where there is no reward. verifiers 0.4.0 records that in the trace: `has_error` is true, and
    the entry in `rewards` is None. `reward`, the sum, counts it as 0, so leave out traces with errors.
    """
    reward = CodeReward(**options)

    async def code_reward(task: Any, trace: Any) -> float:
        """Reward the program in the last reply."""
        (scored,) = await reward.score_async([trace.last_reply], [getattr(task, field)])
        if scored.reward is None:
            raise RuntimeError(f"the program couldn't be judged: {scored.message}")
        return scored.reward

    return code_reward


code_reward = verifiers_reward()
