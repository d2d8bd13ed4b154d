"""Two steps of TRL's GRPOTrainer on a CPU, with a tiny model with random weights; prints what the trainer logged.

Run by `test_foreign` with a python that has TRL. A model like this writes no program, so most completions are replaced
by scripted ones before they are rewarded, in a reward function around ours; ours gets what the trainer passes to it.
"""

import inspect
import json
import tempfile

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from alpha_codium.rewards import trl_reward, trl_reward_async
from examples.trainers.trl_grpo import tiny_model, tiny_tokenizer

SCRIPTED = ["```python\nprint(2 * int(input()))\n```", "```python\nprint(2)\n```", None]
TESTS = [["1", "2"], ["21", "42"]]


def scripted(reward, seen):
    """Our reward function, of completions of which some are replaced; it notes what it returned."""

    def given(completions):
        chosen = [SCRIPTED[place % len(SCRIPTED)] for place in range(len(completions))]
        chats = isinstance(completions[0], list)
        return [
            own if text is None else [{"role": "assistant", "content": text}] if chats else text
            for own, text in zip(completions, chosen, strict=True)
        ]

    def scripted_reward(prompts, completions, **columns):
        seen.append(reward(prompts=prompts, completions=given(completions), **columns))
        return seen[-1]

    async def scripted_reward_async(prompts, completions, **columns):
        seen.append(await reward(prompts=prompts, completions=given(completions), **columns))
        return seen[-1]

    return scripted_reward_async if inspect.iscoroutinefunction(reward) else scripted_reward


def train(reward, prompts, tests):
    """Train for two steps; return the rewards that the trainer got, and its last log."""
    words = tiny_tokenizer()
    model = tiny_model(words)
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        arguments = GRPOConfig(
            output_dir=folder, max_steps=2, per_device_train_batch_size=3, num_generations=3, logging_steps=1,
            max_completion_length=16, use_cpu=True, bf16=False, report_to=[], save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=model, processing_class=words, args=arguments, reward_funcs=scripted(reward, seen),
            train_dataset=Dataset.from_dict({"prompt": prompts, "tests": tests}),
        )  # fmt: skip
        before = [each.detach().clone() for each in model.parameters()]
        trainer.train()
        moved = any((old != new).any().item() for old, new in zip(before, model.parameters(), strict=True))
    logs = [each for each in trainer.state.log_history if "reward" in each]
    return {"rewards": seen, "logged": [each["reward"] for each in logs], "moved": moved}


if __name__ == "__main__":
    plain, chat = ["Double it."] * 6, [[{"role": "user", "content": "Double it."}]] * 6
    found = {
        "plain": train(trl_reward(), plain, [TESTS] * 6),
        "chat, async": train(trl_reward_async(scheme="share"), chat, [TESTS] * 6),
        "no tests": train(trl_reward(), plain, [[]] * 6),
    }
    print(json.dumps(found))
