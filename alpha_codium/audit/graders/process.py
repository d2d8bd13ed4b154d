"""A grader in a process of its own, and what it says of one case after the other."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from alpha_codium.audit.graders import worker
from alpha_codium.audit.graders.enclosure import FOLDER, HOME, SHARED, enclosing_command, kept_of
from alpha_codium.errors import UserError

# Some packages that graders import take a minute to load.
LOADING_SECONDS = 240.0
# More than a case may take, before the process itself counts as stuck.
GRACE_SECONDS = 20.0
# Of the caller's environment, a grader gets these only: no secrets.
PASSED_ON = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
LINE_BYTES = 1 << 26


@dataclass(frozen=True)
class Grader:
    """Where a grader is: a module or file, and how it is started.

    With a `function`, it grades this `form` only. `variables` are added to its environment. One with `network` is a
    client of a service; the programs run there. One that `isolates` programs itself can't do so in namespaces of ours.
    `files` are those that it reads.
    """

    label: str
    module: str
    function: str = ""
    form: str = "stdin"
    python: str = sys.executable
    variables: dict[str, str] = field(default_factory=dict)
    network: bool = False
    isolates: bool = False
    files: tuple[str, ...] = ()

    @property
    def needed(self) -> list[str]:
        """The paths without which it can't be started."""
        python = shutil.which(self.python) or self.python
        own = [str(Path(self.module).absolute())] if self.module.endswith(".py") else []
        paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        return [python, os.path.realpath(python), worker.__file__, *own, *self.files, *paths]


@dataclass(frozen=True)
class GraderAnswer:
    """What a grader said of a case: `accepted`, `rejected`, `error` (it raised one), `crash` or `hang`."""

    seen: str
    message: str = ""


class GraderProcess:
    """The process of a grader; use it with `async with`, which raises UserError if the grader can't be loaded."""

    def __init__(self, grader: Grader) -> None:
        self.grader = grader
        self.forms: frozenset[str] = frozenset()
        self.prefix = [] if grader.network or grader.isolates else enclosing_command(grader.needed)
        self._process: asyncio.subprocess.Process | None = None

    @property
    def enclosed(self) -> bool:
        """Whether it runs where it can do no harm."""
        return bool(self.prefix)

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def ask(self, form: str, arguments: list[Any], seconds: float) -> GraderAnswer:
        """Return what the grader says of a case in this form; a process that is lost is started anew."""
        if self._process is None:
            await self._start()
        request = {"form": form, "arguments": arguments, "seconds": seconds}
        answer = await self._exchange(request, seconds + GRACE_SECONDS)
        if answer is not None:
            return GraderAnswer(answer["seen"], answer.get("message", ""))
        was_stuck = self._process is not None and self._process.returncode is None
        await self._end()
        return GraderAnswer("hang" if was_stuck else "crash", "with the process that called it")

    async def _start(self) -> None:
        grader = self.grader
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment |= {"HOME": HOME, "PYTHONDONTWRITEBYTECODE": "1", **grader.variables}
        if not self.enclosed:
            environment["HOME"] = os.environ.get("HOME", "/")
        self._process = await asyncio.create_subprocess_exec(
            *self.prefix, grader.python, "-u", worker.__file__,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env=environment, start_new_session=True, limit=LINE_BYTES,
        )  # fmt: skip
        settings = {
            "shared": (*SHARED, HOME) if self.enclosed else (),
            "kept": [HOME, *kept_of(grader.needed)],
            "folder": FOLDER if self.enclosed else ".",
        }
        where = {"module": grader.module, "function": grader.function, "form": grader.form, "settings": settings}
        answer = await self._exchange(where, LOADING_SECONDS)
        if answer is None or "error" in answer:
            await self._end()
            why = answer["error"] if answer else "it ended, or took too long"
            raise UserError(f"the grader {grader.label} can't be loaded by {grader.python}: {why}")
        self.forms = frozenset(answer["forms"])

    async def _exchange(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        """Send a line and wait for its answer; None if there is none."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            line = await asyncio.wait_for(process.stdout.readline(), seconds)
            return json.loads(line) if line else None
        except (TimeoutError, OSError, ValueError):
            return None

    async def _end(self) -> None:
        """End the process, with all that it started: `unshare` takes its namespace along."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            # `kill` of asyncio would reap the process before its watcher does.
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        await process.wait()
