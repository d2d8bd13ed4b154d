"""Our sandbox: `run` of each program, outputs compared here."""

import asyncio
import json
import sys
from collections.abc import Sequence

from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.verdict import Status

_runner = asyncio.Runner()
_state: dict[str, Sandbox] = {}
_concurrency = 1


def start(options: dict[str, str]) -> None:
    """Open the sandbox; `concurrency` is the number of candidates in flight."""
    global _concurrency  # noqa: PLW0603 - the script is one object with a state
    _concurrency = int(options.get("concurrency", "1"))
    _state["sandbox"] = open_ours(options)
    _runner.run(_state["sandbox"].__aenter__())


def open_ours(options: dict[str, str]) -> Sandbox:
    """The sandbox that the options name, not entered yet."""
    isolation = {"true": True, "false": False}.get(options.get("isolation", "true"), "strict")
    workers, interpreter = int(options.get("workers", "1")), options.get("interpreter", "")
    own = json.loads(options.get("own", "{}"))
    return open_sandbox(options["sandbox"], workers=workers, isolation=isolation, interpreter=interpreter, **own)


def run(programs: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> int:
    """Run each program on each input."""
    return _runner.run(_run(programs, inputs, outputs))


async def _run(programs: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> int:
    waiting = iter(programs)

    async def work() -> int:
        return sum([await _one(program, inputs, outputs) for program in waiting])

    return sum(await asyncio.gather(*(work() for _ in range(_concurrency))))


async def _one(program: str, inputs: Sequence[str], outputs: Sequence[str]) -> int:
    report = await _state["sandbox"].run(program, inputs)
    pairs = zip(report.executions, outputs, strict=False)
    wrong = [done for done, output in pairs if done.status is not Status.FINISHED or done.stdout != output]
    for execution in (wrong if report.executions else [report.compilation])[:1]:
        print(f"{execution.status}: {execution.stderr.strip()[-200:]!r}", file=sys.stderr)
    return len(report.executions) - len(wrong)


def stop() -> None:
    """Close the sandbox."""
    _runner.run(_state["sandbox"].__aexit__(None, None, None))
