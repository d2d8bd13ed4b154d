"""`generate` in processes that die at a given step, with a model that fails at given calls.

1. `python -m tests.gen.cut_off` forks for each line of its stdin: a plan in JSON. The child runs the loop with the real
   journal, store and cache, and a model and a sandbox of its own, and prints nothing; its status is answered.
2. A step is whatever could be cut off: a call before and after its answer, a statement of SQLite, a write, a sync, a
   renamed file. At the step that the plan names the child kills itself with SIGKILL; at a write, after half of it.
3. Threads take steps, too: which of them is the n-th may differ from time to time. What is claimed holds for every
   interleaving.
"""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.gen.loop import SampleJob, generate
from alpha_codium.llm.errors import ProviderUnavailable
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.runs import AnswerCache, RunFolder
from alpha_codium.runs.answers import key_of, question_text
from tests.gen.asking import FakeModel, echo_problem, solver_of

PROBLEMS, SAMPLES, CONCURRENCY = 2, 2, 3
# For what the tests note; what the run writes may be cut off.
WRITE = os.write


@dataclass(frozen=True)
class Plan:
    """The folder of the run and of the cache, after how many steps it is killed (0: not), and which calls fail."""

    root: str
    flow: str
    kill_at: int = 0
    faults: tuple[int, ...] = ()


class Steps:
    """Counts steps, and dies at one."""

    def __init__(self, last: int) -> None:
        self.last, self.taken, self.lock = last, 0, threading.Lock()

    def take(self) -> bool:
        """Whether this is the last one; the caller then does half of its work and calls `die`."""
        with self.lock:
            self.taken += 1
            return self.taken == self.last

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class DyingModel(FakeModel):
    """Answers each request with a program of its own; writes down which it has answered."""

    def __init__(self, plan: Plan, steps: Steps, log: int) -> None:
        super().__init__()
        self.plan, self.steps, self.log = plan, steps, log

    async def ask(self, request: ChatRequest) -> Answer:
        self.requests.append(request)
        if self.steps.take():
            self.steps.die()
        await asyncio.sleep(0)
        if len(self.requests) in self.plan.faults:
            raise ProviderUnavailable("down")
        digest = key_of(question_text({"m": [m.content for m in request.messages], "t": request.temperature}, ""))[:12]
        WRITE(self.log, f"{digest}\n".encode())
        if self.steps.take():
            self.steps.die()
        return Answer(f"```python\nprint(input())  # {digest}\n```", self.name, prompt_tokens=10, cost=0.25)


def make_mortal(steps: Steps) -> None:
    """Let this process die in the middle of what it writes."""
    write, sync, replace, connect = os.write, os.fsync, os.replace, sqlite3.connect

    def dying_write(fd: int, content: Any) -> int:
        if steps.take():
            write(fd, bytes(content)[: len(content) // 2])
            steps.die()
        return write(fd, content)

    def dying_sync(fd: int) -> None:
        if steps.take():
            steps.die()
        sync(fd)

    class DyingConnection(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            if steps.take():
                steps.die()
            return super().execute(*arguments)

        def executemany(self, *arguments: Any) -> sqlite3.Cursor:
            if steps.take():
                steps.die()
            return super().executemany(*arguments)

    def dying_replace(*arguments: Any, **named: Any) -> None:
        if steps.take():
            steps.die()
        replace(*arguments, **named)

    os.write, os.fsync, os.replace = dying_write, dying_sync, dying_replace
    sqlite3.connect = lambda *a, **k: connect(*a, **(k | {"factory": DyingConnection}))


def run(plan: Plan) -> None:
    """Be one part of the run: the first, or one that goes on with it."""
    root = Path(plan.root)
    log = os.open(root / "asked", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    steps = Steps(plan.kill_at)
    solver = solver_of(DyingModel(plan, steps, log), plan.flow)
    job = SampleJob([echo_problem(f"p{number}") for number in range(PROBLEMS)], SAMPLES, CONCURRENCY)
    if plan.kill_at:
        make_mortal(steps)
    folder = RunFolder.reopen(root, "r") if (root / "r" / "run.toml").exists() else RunFolder.create(root, "r", {})
    with folder, AnswerCache(root / "cache.sqlite", "", {}) as cache:
        asyncio.run(generate(job, solver, folder, None, cache))
    WRITE(log, f"steps {steps.taken}\n".encode())


def serve() -> None:
    """Fork for each line, and answer with the child's status."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            status = 1
            with contextlib.suppress(BaseException):
                run(Plan(**json.loads(line)))
                status = 0
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
