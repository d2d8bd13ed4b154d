"""How runners in containers fork tests and wait for their end.

With namespaces a runner is the first process of a pid namespace, on a kernel whose `kill(-1)` may miss a process:
gVisor goes through the processes one by one, and misses what is being forked meanwhile (seen: a daemon that lived on
until its time was up).

Without namespaces a test is one process, whose filter forbids it to start another one and to signal any but itself, so
its end is the end of all that it did. All processes of the container have the same user then, and none can be opened
or traced.
"""

from __future__ import annotations

import os

from alpha_codium.sandbox.engine.inside import runner, walls


class NestedTestForker(runner.TestForker):
    """For a runner in a pid namespace of its own."""

    pause = 0.0005

    def serve(self) -> None:
        """See `runner.TestForker`."""
        forget_errors()
        super().serve()


class FlatTestForker(walls.WalledTestForker):
    """For a runner without namespaces, which knows its test by number only."""

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
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(null, 2)
    os.close(null)
