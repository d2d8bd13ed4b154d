"""verl's own loading of a reward function by its configuration, and its reward managers, with ours.

Run by `test_foreign` with a python that has verl; prints what the managers say as JSON.
"""

import asyncio
import json

import numpy as np
import torch
from omegaconf import OmegaConf
from page import example
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager

TESTS = {"inputs": ["1", "21"], "outputs": ["2", "42"]}
CALLS = json.dumps({"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"})
CASES = [
    ("```python\nprint(2 * int(input()))\n```", TESTS),
    ("```python\nprint(2)\n```", json.dumps(TESTS)),
    ("```python\ndef add(a, b): return a + b\n```", CALLS),
    ("```python\ndef add(a, b): return a - b\n```", {"assert_case": ["assert add(1, 2) == 3"]}),
    ("```python\nprint(1)\n```", {"inputs": [], "outputs": []}),
]


class Letters:
    """A tokenizer of letters."""

    def decode(self, ids, skip_special_tokens=True):
        return "".join(map(chr, ids.tolist()))


def batch(answer, ground_truth):
    """One rollout as verl passes it to a reward manager."""
    ids = torch.tensor([[ord(letter) for letter in answer]])
    prompt = torch.tensor([[65]])
    return DataProto.from_dict(
        tensors={"prompts": prompt, "responses": ids, "attention_mask": torch.ones(1, ids.shape[1] + 1)},
        non_tensors={
            "data_source": np.array(["apps"], dtype=object),
            "reward_model": np.array([{"ground_truth": ground_truth}], dtype=object),
            "extra_info": np.array([{}], dtype=object),
        },
    )


def manager(name, **options):
    """verl's manager of that name, with our function as the page names it in verl's configuration."""
    shown = OmegaConf.from_dotlist([line.lstrip("+") for line in example("verl", "text").splitlines()])
    custom = {"name": "compute_score", "reward_kwargs": options}
    reward = {"custom_reward_function": custom, "reward_manager": {"source": "register", "name": name}}
    return load_reward_manager(OmegaConf.merge({"reward": reward}, shown), Letters())


async def scores(name, **options):
    """What the manager gives each case, side by side as in verl's reward loop."""
    made = manager(name, **options)
    return await asyncio.gather(*(made.run_single(batch(*case)) for case in CASES))


def assembled(values):
    """Whether verl takes such scores; the error if not."""
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

    data = DataProto.concat([batch("ab", TESTS)] * len(values))
    try:
        return NaiveRewardManager.assemble_rm_scores(data, values)[:, -1].tolist()
    except Exception as error:
        return type(error).__name__


if __name__ == "__main__":
    found = {
        "naive": asyncio.run(scores("naive", rules={"cpu_seconds": 2.0})),
        "rate_limited": asyncio.run(scores("rate_limited", unjudged=0.25)),
    }
    found["numbers"], found["with None"] = assembled([1.0, 0.5]), assembled([1.0, None])
    print(json.dumps(found))
