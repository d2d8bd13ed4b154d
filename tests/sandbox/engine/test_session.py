"""Which executions of a program are run again, alone."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.sandbox.engine import session
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock
from alpha_codium.sandbox.engine.session import Session
from alpha_codium.verdict import Execution, Status

WAITED = Execution(Status.TIME_LIMIT_EXCEEDED, cpu_seconds=1.0)
FINISHED = Execution(Status.FINISHED)


class ScriptedSession(Session):
    """A session whose tests end as `results` says."""

    def __init__(self, results: list[Execution]) -> None:
        job = Job(Program.from_source("python", "pass"), ("",))
        super().__init__(cast("Any", None), ExclusiveLock(), cast("Any", None), job, Limits(cpu_seconds=4.0))
        self.results: Iterator[Execution] = iter(results)

    def _test(self, *_: object, **__: object) -> Execution:
        return next(self.results)


def test_a_test_that_waited_without_load_leaves_the_rerun_to_a_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = iter([False, True, True])
    monkeypatch.setattr(session, "is_loaded", lambda _: next(loads))
    scripted = ScriptedSession([WAITED, WAITED, FINISHED, WAITED])
    ended = [scripted._execute(b"").status for _ in range(3)]
    assert ended == [Status.TIME_LIMIT_EXCEEDED, Status.FINISHED, Status.TIME_LIMIT_EXCEEDED]
