"""GRPO with TRL, and tests as the reward: 20 steps on a CPU with a tiny model of random weights, or a model of yours.

    pip install trl torch      # on a machine without a GPU: --extra-index-url https://download.pytorch.org/whl/cpu
    python examples/trainers/trl_grpo.py
    python examples/trainers/trl_grpo.py --model Qwen/Qwen2.5-Coder-0.5B-Instruct --data train.jsonl --steps 200

The tiny model writes no programs: it shows that everything is plugged together. What to watch in the log:
`reward`; `code_reward/judged_rate`, which should be 1; `code_reward/data_failed_rate`, which `gencode data validate
FILE --tests_column tests` tells before; `code_reward/infra_failed_rate`, which is the sandbox's or the server's.
"""

import argparse
import json
import tempfile

from datasets import load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from alpha_codium.rewards import trl_reward

ASK = "\n\nAnswer with a Python program in a block of code."
CHAT_TEMPLATE = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of bytes."""
    vocabulary = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    core = Tokenizer(models.BPE(vocab=vocabulary | {"<end>": len(vocabulary)}, merges=[]))
    core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<end>", pad_token="<end>")
    made.chat_template = CHAT_TEMPLATE
    return made


def tiny_model(words: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A model of one layer with random weights."""
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(words), **sizes, pad_token_id=words.pad_token_id))


def main() -> None:
    """Train, and print the last line of the log."""
    from trl import GRPOConfig, GRPOTrainer

    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=__file__.replace("trl_grpo.py", "rows.jsonl"))
    parser.add_argument("--model", default="", help="a model of transformers; by default, a tiny one")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--urls", nargs="*", default=[], help="servers of `gencode serve` that judge")
    given = parser.parse_args()
    words = None if given.model else tiny_tokenizer()
    rows = load_dataset("json", data_files=given.data, split="train")
    rows = rows.map(lambda row: {"prompt": [{"role": "user", "content": row["question"] + ASK}]})
    with tempfile.TemporaryDirectory() as folder:
        on_cpu = {} if given.model else {"use_cpu": True, "bf16": False, "max_completion_length": 16}
        arguments = GRPOConfig(
            output_dir=folder, max_steps=given.steps, per_device_train_batch_size=4, num_generations=4,
            logging_steps=1, report_to=[], save_strategy="no", **on_cpu,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=given.model or tiny_model(words), processing_class=words, args=arguments, train_dataset=rows,
            reward_funcs=trl_reward(scheme="share", rules={"cpu_seconds": 2.0}, urls=given.urls, deadline=120),
        )  # fmt: skip
        trainer.train()
    logged = [each for each in trainer.state.log_history if "reward" in each][-1]
    watched = {name: value for name, value in logged.items() if name == "reward" or name.startswith("code_reward/")}
    print(json.dumps({"steps": trainer.state.global_step, **watched}))


if __name__ == "__main__":
    main()
