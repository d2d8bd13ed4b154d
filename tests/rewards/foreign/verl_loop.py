"""The recipe for verl: its reward loop on Ray, by our configuration, rewards a batch of the file that we prepared.

Run by `test_foreign` with a python that has verl: `verl_loop.py PARQUET`; prints what verl would train on and log.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas
import ray
import torch
from hydra import compose, initialize_config_dir
from verl import DataProto
from verl.experimental.reward_loop import RewardLoopManager
from verl.experimental.reward_loop.reward_loop import migrate_legacy_reward_impl

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
        ray.init(
            address="local", num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False
        )
        try:
            loop = RewardLoopManager(migrate_legacy_reward_impl(config))
            found = loop.compute_rm_score(batch(pandas.read_parquet(sys.argv[1]), words))
        finally:
            ray.shutdown()
    logged = {name: found.non_tensor_batch[name].tolist() for name in ("acc", "judged", "infra_failed")}
    print(json.dumps({"scores": found.batch["rm_scores"].sum(1).tolist(), "logged": logged}))
