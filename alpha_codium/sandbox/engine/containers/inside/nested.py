"""Tests of a runner that is the first process of a pid namespace, on a kernel whose `kill(-1)` may miss one.

gVisor goes through the processes one by one, and what is being forked meanwhile isn't among them (seen: a daemon that
lived on until its time was up). So what a test left is killed again and again until nothing is left.
"""

from __future__ import annotations

import os
import time

from alpha_codium.sandbox.engine.containers.inside import streams
from alpha_codium.sandbox.engine.inside import runner

FIRST_PAUSE, LONGEST_PAUSE = 0.0005, 0.02


class NestedTestForker(runner.TestForker):
    """For a runner whose tests end when all of their processes are dead, however often that takes."""

    def serve(self) -> None:
        """See `runner.TestForker`."""
        streams.forget_errors()
        super().serve()

    def reap(self, pid: int) -> tuple[int, float, int, int]:
        """See `runner.reap_all`."""
        status, cpu_seconds, peak, processes, options, pause = 0, 0.0, 0, 0, runner.WALL, FIRST_PAUSE
        while True:
            try:
                ended, how, usage = os.wait4(-1, options)
            except ChildProcessError:
                return status, cpu_seconds, peak, processes
            if not ended:
                runner.kill_all()
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            if ended == pid:
                # Another one may get its number now.
                pid, status, options = -1, how, runner.WALL | os.WNOHANG
            processes += 1
            cpu_seconds += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss)


FORKER = NestedTestForker
