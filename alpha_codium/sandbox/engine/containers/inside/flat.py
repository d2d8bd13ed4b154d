"""Runners in a container that gives no namespaces of its own: a test is one process, with threads, and nothing more.

Its filter refuses it to start another one, and to signal or ask for any but itself; so its end is the end of all that
it did. All processes of the container have the same user, and none can be opened or traced.
"""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Config = dict[str, Any]

from alpha_codium.sandbox.engine.containers.inside import streams
from alpha_codium.sandbox.engine.inside import kernel as k
from alpha_codium.sandbox.engine.inside import walls, wire


def fork_runner(_config: Config) -> int:
    """Fork a runner, which dies with us."""
    agent = os.getpid()
    pid = os.fork()
    if pid == 0:
        walls.die_with(agent)
    return pid


class FlatTestForker(walls.WalledTestForker):
    """For a runner that isn't the first process of anything: it knows its test by number only."""

    def serve(self) -> None:
        """See `runner.TestForker`."""
        streams.forget_errors()
        super().serve()

    def enclose(self) -> None:
        """In the new process: die with the runner, behind a filter of its own."""
        walls.die_with(self.runner)
        own = struct.pack("=I", os.getpid())
        k.install_filter(k.filter_of(self.filter.replace(struct.pack("=I", wire.OWN_PROCESS), own)))


FORKER = FlatTestForker
