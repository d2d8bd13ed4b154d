"""inspect_ai's interfaces: a scorer, and the sandbox environment `gencode`, in which solvers and scorers run Python.

Programs in the environment are those of `sandbox.md`: each runs alone, in a folder with its file, and what it writes is
lost. So the environment is for evaluations that run a model's code, not for agents with a shell.
"""

import shlex
from functools import partial
from typing import Any, Literal, overload

from anyio.to_thread import run_sync
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr  # pyrefly: ignore[missing-import]
from inspect_ai.solver import TaskState  # pyrefly: ignore[missing-import]
from inspect_ai.util import ExecResult, SandboxEnvironment, sandboxenv  # pyrefly: ignore[missing-import]

from alpha_codium.limits import Limits
from alpha_codium.rewards.commands import NOT_FOUND, PythonFiles, exit_code_of
from alpha_codium.rewards.core import CodeReward
from alpha_codium.sandbox.blocking import shared_sandbox
from alpha_codium.verdict import Execution, Status

DEFAULT_SECONDS = 30


@scorer(metrics=[mean(), stderr()])
def code_scorer(*, field: str = "tests", **options: Any) -> Scorer:
    """Score the program in the answer; `options` are those of `CodeReward`.

    The tests are in the `field` of the sample's metadata, or JSON in its target; `tests_of` has their shapes.

    Where there is no reward, the score is `Score.unscored`, which metrics of inspect_ai 0.3.285 leave out.
    """
    reward = CodeReward(**options)

    async def score(state: TaskState, target: Target) -> Score:
        """Score a sample."""
        tests = state.metadata.get(field, target.text)
        (scored,) = await run_sync(reward.score, [state.output.completion], [tests])
        counts = {"tests_passed": scored.tests_passed, "tests_total": scored.tests_total}
        if scored.reward is None:
            return Score.unscored(answer=scored.code, explanation=scored.message, metadata=counts)
        return Score(value=scored.reward, answer=scored.code, explanation=scored.message, metadata=counts)

    return score


@sandboxenv(name="gencode")
class GencodeSandbox(SandboxEnvironment):
    """The files of a sample, in memory; `exec` runs a program in Python, in the sandbox that the process shares."""

    def __init__(self) -> None:
        super().__init__()
        self.files = PythonFiles()

    @classmethod
    async def sample_init(cls, *_arguments: Any) -> dict[str, SandboxEnvironment]:
        """Return an environment without files."""
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(cls, *_arguments: Any) -> None:
        """Do nothing: programs end with their `exec`."""

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,  # noqa: ASYNC109 - inspect_ai's signature
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run `python FILE`, `python -c CODE` or `python -`, or one of them in a shell; other commands are not found.

        `timeout`, by default 30 s, is a limit of CPU time; `cwd`, `env` and `user` are ignored. Raises TimeoutError,
        and RuntimeError if the sandbox failed.
        """
        text = input.decode() if isinstance(input, bytes) else input or ""
        source, text = self.files.program(cmd, text)
        if source is None:
            shown = shlex.join(cmd)[:80]
            return ExecResult(False, NOT_FOUND, "", f"{shown}: this sandbox only runs programs in Python\n")
        limits = Limits(cpu_seconds=timeout or DEFAULT_SECONDS)
        sandbox = await run_sync(shared_sandbox)
        report = await run_sync(partial(sandbox.run, source, [text], limits=limits))
        return _result(report.last)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Keep a file."""
        self.files.write(file, contents.encode() if isinstance(contents, str) else contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Return what was written; raises FileNotFoundError."""
        contents = self.files.read(file)
        return contents.decode() if text else contents


def _result(execution: Execution) -> ExecResult[str]:
    if execution.status is Status.TIME_LIMIT_EXCEEDED:
        raise TimeoutError
    if execution.status is Status.INTERNAL_ERROR:
        raise RuntimeError(f"the sandbox failed: {execution.stderr}")
    return ExecResult(execution.finished, exit_code_of(execution), execution.stdout, execution.stderr)
