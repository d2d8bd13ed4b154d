"""SandboxFusion's judging of inputs and outputs, of a clone in PYTHONPATH; with `pip install structlog psutil aiofiles
aiohttp tenacity databases[aiosqlite] fastapi uvicorn numpy pyyaml`.

Its functions are called in this process, without its server, and programs run in this interpreter, not in one of conda.
It is imported in the clone's folder, since its configuration is there.
"""

import asyncio
import os
import sys

here = os.getcwd()
os.chdir(next(path for path in sys.path if os.path.isdir(os.path.join(path, "sandbox", "configs"))))
os.environ["SANDBOX_CONFIG"] = "local"

from sandbox.datasets.types import GeneralStdioTest, TestConfig
from sandbox.runners import major
from sandbox.utils.testing import check_stdio_test_cases_parallel

os.chdir(here)
major.get_python_rt_env = lambda _name: {"PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"]}
SECONDS = 6.0


def grade(program, inputs, outputs):
    """Whether all outcomes are passed, as its `accepted` has it."""
    cases = [GeneralStdioTest(input={"stdin": i}, output={"stdout": o}) for i, o in zip(inputs, outputs)]
    config = TestConfig(dataset_type="CommonOJDataset", language="python", run_timeout=SECONDS)
    outcomes = asyncio.run(check_stdio_test_cases_parallel(program, cases, config))
    return all(outcome.passed for outcome in outcomes)
