"""OpenRLHF's executor of single turns with our reward function in a file, as `--reward.remote_url FILE.py` has it.

Run by `test_foreign` with a python that has torch and aiohttp: `openrlhf_agent.py AGENT`, where AGENT is the path of
OpenRLHF's own `utils/agent.py`, unmodified; the whole package needs a GPU. What generates text is a stand-in.
"""

import asyncio
import importlib.util
import json
import logging
import sys
import tempfile
import types
from pathlib import Path
from types import SimpleNamespace

import torch
from page import example

PROMPT = "Double it. For example:\n```python\nprint(1)\n```\n"
ANSWERS = ["```python\nprint(2 * int(input()))\n```<|im_end|>", "```python\nprint(2)\n```"]
TESTS = json.dumps([["1", "2"], ["21", "42"]])


def agent_module(path):
    """OpenRLHF's module; the one for logs, which imports its other parts, is Python's own here."""
    logs = types.ModuleType("openrlhf.utils.logging_utils")
    logs.init_logger = logging.getLogger
    sys.modules["openrlhf.utils.logging_utils"] = logs
    spec = importlib.util.spec_from_file_location("openrlhf_agent", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Letters:
    """A tokenizer of letters."""

    def __call__(self, text, **options):
        return {"input_ids": torch.tensor([[ord(letter) for letter in text]])}

    def decode(self, ids, skip_special_tokens):
        return "".join(map(chr, ids))


class Engine:
    """Generates one answer."""

    def __init__(self, answer):
        self.answer = answer

    async def generate(self, prompt_ids, parameters, multi_modal_data=None):
        ids = [ord(letter) for letter in self.answer]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, finish_reason="stop", logprobs=None)])


async def run(agent, file):
    executor = agent.SingleTurnAgentExecutor(str(file))
    parameters = SimpleNamespace(max_tokens=500, logprobs=None)
    cases = [(answer, TESTS) for answer in ANSWERS] + [(ANSWERS[0], "[]")]
    return await asyncio.gather(
        *(executor.execute(PROMPT, label, parameters, 1000, Letters(), Engine(answer)) for answer, label in cases)
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reward.py")
        file.write_text(example("OpenRLHF", "py"))
        outputs = asyncio.run(run(agent_module(sys.argv[1]), file))
    # As OpenRLHF's `samples_generator` makes a tensor of them.
    rewards = [None if each["reward"] is None else torch.tensor([each["reward"]]).tolist() for each in outputs]
    logs = [{key: value.flatten()[0].item() for key, value in each["extra_logs"].items()} for each in outputs]
    print(json.dumps({"rewards": rewards, "logs": logs}))
