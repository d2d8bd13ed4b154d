"""Rewards for code that models write, in the form that trainers and evaluation tools ask for.

`CodeReward` is the reward itself; the other names adapt it to a trainer, and import nothing of it before they are used.
verl is given the module `verl`, and inspect_ai's parts are in the module `inspect_ai`, which imports it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "CodeReward": "alpha_codium.rewards.core",
    "Scored": "alpha_codium.rewards.scores",
    "rates": "alpha_codium.rewards.scores",
    "trl_reward": "alpha_codium.rewards.trl",
    "trl_reward_async": "alpha_codium.rewards.trl",
    "openrlhf_reward": "alpha_codium.rewards.openrlhf",
    "verifiers_reward": "alpha_codium.rewards.verifiers",
    "lm_eval_filter": "alpha_codium.rewards.lm_eval",
    "lm_eval_metric": "alpha_codium.rewards.lm_eval",
}
__all__ = [*_HOMES]  # noqa: PLE0604 - the names of the table above

if TYPE_CHECKING:
    from alpha_codium.rewards.core import CodeReward as CodeReward
    from alpha_codium.rewards.lm_eval import lm_eval_filter as lm_eval_filter
    from alpha_codium.rewards.lm_eval import lm_eval_metric as lm_eval_metric
    from alpha_codium.rewards.openrlhf import openrlhf_reward as openrlhf_reward
    from alpha_codium.rewards.scores import Scored as Scored
    from alpha_codium.rewards.scores import rates as rates
    from alpha_codium.rewards.trl import trl_reward as trl_reward
    from alpha_codium.rewards.trl import trl_reward_async as trl_reward_async
    from alpha_codium.rewards.verifiers import verifiers_reward as verifiers_reward
else:

    def __getattr__(name: str) -> Any:
        """Import a public name from its module."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
