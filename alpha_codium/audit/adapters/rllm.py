"""rLLM, of a clone in PYTHONPATH; with `pip install numpy pandas pydantic httpx together click rich typer openai`."""

# Every program is given this import, too: once is enough.
import pandas  # noqa: F401
from rllm.rewards.code_reward import lcb_check_correctness_v2

SECONDS = 6


def grade(program, inputs, outputs):
    """Whether all its results are true."""
    tests = [{"input": i, "output": o, "testtype": "stdin_stdout"} for i, o in zip(inputs, outputs)]
    return lcb_check_correctness_v2(tests, program, timeout=SECONDS)[0]
