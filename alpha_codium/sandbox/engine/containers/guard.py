"""A small filter that guards a runner against its tests: gVisor's kernel lets them kill the first process they see.

Each runner installs it before the local backend's own filter, and its tests inherit it: a signal to process 1 is said
to be sent, as Linux says it, and isn't.
"""

import functools

from alpha_codium.sandbox.engine.seccomp import (
    ALLOW,
    ARGUMENTS,
    JUMP_EQUAL,
    LOAD,
    NUMBER,
    RETURN,
    instruction,
    refuse,
)
from alpha_codium.sandbox.engine.syscalls import numbers_of

SIGNALLING = ("kill", "tkill", "tgkill")
FIRST_PROCESS = 1


@functools.cache
def guard_of(machine: str) -> bytes:
    """The filter for a machine as `platform.machine()` names it: an array of `struct sock_filter`."""
    numbers = [numbers_of(machine)[name] for name in SIGNALLING]
    # Each comparison that holds jumps over those that follow, and over the verdict behind them.
    matches = [instruction(JUMP_EQUAL, number, len(numbers) - index) for index, number in enumerate(numbers)]
    return b"".join(
        [
            instruction(LOAD, NUMBER),
            *matches,
            instruction(RETURN, ALLOW),
            instruction(LOAD, ARGUMENTS),
            instruction(JUMP_EQUAL, FIRST_PROCESS, 0, 1),
            instruction(RETURN, refuse(0)),
            instruction(RETURN, ALLOW),
        ]
    )
