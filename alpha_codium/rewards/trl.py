"""Reward functions for TRL, such as for its `GRPOTrainer`: `reward_func(prompts, completions, **columns)`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from alpha_codium.app.tests_of import Shape
from alpha_codium.errors import UserError
from alpha_codium.rewards.core import Answer, CodeReward
from alpha_codium.rewards.scores import Scored, rates

Rewards = list[float | None]
# Columns of common datasets, in the order in which they are looked for.
COLUMNS = ("tests", "test_cases", "verification_info", "input_output", "test_list", "ground_truth", "private_tests")


def trl_reward(*, column: str = "", **options: Any) -> Callable[..., Rewards]:
    """Return a reward function for TRL; `options` are those of `CodeReward`.

    The tests are in the dataset's `column`, by default the first that it has of `COLUMNS`; `tests_of` lists their
    shapes. Completions may be texts or chats, whose last message counts.

    TRL 1.16.0 excludes completions whose reward is None from the mean and the deviation of their group, and doesn't
    train on them: their advantage is 0. If there are other reward functions that do give a reward, None counts as 0 in
    their sum, so use it as the only one, or weight the others lightly. If the trainer is one that can't take None, set
    `unjudged`. How many there were is in TRL's log: the numbers of `rates`, under `code_reward/`.

    The function raises UserError if the dataset doesn't have the column, and the errors of `CodeReward.score`.
    """
    reward = CodeReward(**options)

    def code_reward(
        prompts: Sequence[Any],  # noqa: ARG001 - TRL passes it by name
        completions: Sequence[Answer],
        **columns: Any,
    ) -> Rewards:
        """Reward the programs in completions."""
        return _rewards(reward.score(completions, _tests(columns, column)), columns)

    return code_reward


def trl_reward_async(*, column: str = "", **options: Any) -> Callable[..., Awaitable[Rewards]]:
    """Return a coroutine function for TRL, which runs it beside its other asynchronous ones; see `trl_reward`."""
    reward = CodeReward(**options)

    async def code_reward(
        prompts: Sequence[Any],  # noqa: ARG001 - TRL passes it by name
        completions: Sequence[Answer],
        **columns: Any,
    ) -> Rewards:
        """Reward the programs in completions."""
        scored = await reward.score_async(completions, _tests(columns, column))
        return _rewards(scored, columns)

    return code_reward


def _rewards(scores: Sequence[Scored], columns: Mapping[str, Any]) -> Rewards:
    """Return the rewards, and log the numbers of `rates` if TRL gives a function for this."""
    if callable(log := columns.get("log_metric")):
        for name, value in rates(scores).items():
            log(f"code_reward/{name}", value)
    return [each.reward for each in scores]


def _tests(columns: Mapping[str, Any], column: str) -> Sequence[Shape]:
    names = (column,) if column else COLUMNS
    for name in names:
        if columns.get(name) is not None:
            return list(columns[name])
    raise UserError(
        f"the dataset has no column {' or '.join(names)}, but {', '.join(sorted(columns)) or 'none'}: name that of the "
        "tests with column="
    )
