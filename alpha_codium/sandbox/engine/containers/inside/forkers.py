"""Forkers of tests for runners in containers.

With namespaces, a runner is process 1 of a pid namespace, but `kill(-1)` may miss a process in gVisor, which signals
processes one by one and misses those that are being forked (observed: a daemon that survived until the wall limit).

Without namespaces, a test is a single process, whose filter forbids it to start others and to signal any but itself.
All processes of the container have the same user then, and none can be opened or traced.
"""

from __future__ import annotations

import os

from alpha_codium.sandbox.engine.inside import runner, walls


class NestedTestForker(runner.TestForker):
    """The forker for a runner with its own pid namespace."""

    pause = 0.0005

    def serve(self) -> None:
        """See `runner.TestForker`."""
        forget_errors()
        super().serve()


class FlatTestForker(walls.WalledTestForker):
    """The forker for a runner without namespaces, which identifies its test by process id."""

    def serve(self) -> None:
        """See `runner.TestForker`."""
        forget_errors()
        super().serve()

    def enclose(self) -> None:
        """In the new process: die with the runner, and install the filter of a test."""
        walls.die_with(self.runner)
        self.install_own_filter()


def forget_errors() -> None:
    """Close the file that a runner had for stderr, so that two tests can't communicate by it."""
    # A root without devices has no /dev/null; a folder can't be written to, either.
    exists = os.path.exists(os.devnull)
    nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC) if exists else os.open("/", os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 2)
    os.close(nothing)
