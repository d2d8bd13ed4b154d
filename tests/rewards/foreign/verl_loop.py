"""The recipe for verl: a worker of its reward loop, with our configuration, rewards a batch of our file.

Run by `test_foreign` with a python that has verl: `verl_loop.py PARQUET`; prints what verl would train on and log.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas
import torch
from hydra import compose, initialize_config_dir
from verl import DataProto
from verl.experimental.reward_loop.reward_loop import RewardLoopWorker, migrate_legacy_reward_impl

from examples.trainers.trl_grpo import tiny_tokenizer

ROOT = Path(__file__).resolve().parents[3]
ANSWERS = [
    "```python\nprint(2 * int(input()))\n```",
    "I can't.",
    "```python\ndef largest(values):\n    return max(values)\n```",
    "```python\ndef reverse(text):\n    return text\n```",
]


def batch(rows, words):
    """Rollouts as verl passes them on: answers of different lengths, padded."""
    ids = [words(answer)["input_ids"] for answer in ANSWERS]
    longest = max(map(len, ids))
    responses = torch.tensor([each + [words.pad_token_id] * (longest - len(each)) for each in ids])
    mask = torch.tensor([[1] + [1] * len(each) + [0] * (longest - len(each)) for each in ids])
    columns = {name: np.array(list(rows[name]), dtype=object) for name in ("data_source", "reward_model", "extra_info")}
    return DataProto.from_dict(
        tensors={"prompts": torch.tensor([[65]] * len(ids)), "responses": responses, "attention_mask": mask},
        non_tensors=columns,
    )


if __name__ == "__main__":
    words = tiny_tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        words.save_pretrained(folder)
        with initialize_config_dir(str(ROOT / "examples" / "trainers" / "verl"), version_base=None):
            config = compose("reward", overrides=[f"actor_rollout_ref.model.path={folder}"])
        # What verl runs as an actor of Ray, here in this process.
        worker = RewardLoopWorker(migrate_legacy_reward_impl(config))
    data = batch(pandas.read_parquet(sys.argv[1]), words)
    found = worker.loop.run_until_complete(worker.compute_score_batch(data))
    scores = worker.reward_manager.assemble_rm_scores(data, [each["reward_score"] for each in found])
    infos = [each["reward_extra_info"] for each in found]
    logged = {name: [info[name] for info in infos] for name in ("acc", "judged", "infra_failed")}
    print(json.dumps({"scores": scores.sum(1).tolist(), "logged": logged}))
