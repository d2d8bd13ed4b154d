"""Reward functions for OpenRLHF: `reward_func(queries, prompts, labels)` in a file that `--reward.remote_url` names."""

from collections.abc import Callable, Sequence
from typing import Any

from alpha_codium.app.tests_of import Shape
from alpha_codium.rewards.core import CodeReward


def openrlhf_reward(**options: Any) -> Callable[..., dict[str, Any]]:
    """Return a reward function for OpenRLHF; `options` are those of `CodeReward`.

    The labels are the tests, in one of the shapes of `tests_of`: the column that `--data.label_key` names. `extra_logs`
    has the share of tests that were passed, whether the tests decided the reward, and whose fault it is if not.

    OpenRLHF 0.11.2 can't train without a reward: if it gets None (or an exception, which it only logs), it asks for a
    reward model, and ends with an error if there is none. To go on instead, set `unjudged` to a number, and watch
    `judged` in its logs.
    """
    reward = CodeReward(**options)

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Shape]) -> dict[str, Any]:
        """Reward the programs in what follows the prompts."""
        import torch  # pyrefly: ignore[missing-import] - OpenRLHF needs it, too

        scored = reward.score([_answer(*pair) for pair in zip(queries, prompts, strict=True)], labels)
        if any(each.reward is None for each in scored):
            return {"rewards": None, "scores": None, "extra_logs": {}}
        rewards = torch.tensor([each.reward for each in scored])
        shares = torch.tensor([each.tests_passed / max(1, each.tests_total) for each in scored])
        faults = {"judged": "", "infra_failed": "infra", "data_failed": "data"}
        logs = {name: torch.tensor([float(each.fault == fault) for each in scored]) for name, fault in faults.items()}
        return {"rewards": rewards, "scores": rewards, "extra_logs": {"tests_passed": shares, **logs}}

    return reward_func


def _answer(query: str, prompt: str) -> str:
    """Return what follows the prompt; the whole text if the tokenizer has changed the prompt."""
    texts = isinstance(query, str) and isinstance(prompt, str) and prompt
    return query.partition(prompt)[2] if texts and prompt in query else query
