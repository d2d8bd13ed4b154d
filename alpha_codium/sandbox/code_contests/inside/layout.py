"""Access to fields of the wheel's C++ values that have no Python attribute, by their offsets in memory.

1. Time limit and duration are `absl::Duration`s, which the wheel can't convert, and the memory limit isn't exposed at
   all. A pybind11 object holds a pointer to the C++ value after its header.
2. The offsets are those of version 0.1.6 for x86-64. Before anything runs, `check` compares the fields that do have an
   attribute, and the defaults, so that any other build is refused.
"""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TICKS = 4_000_000_000  # in a second, in the lower part of a duration
DEFAULT_SECONDS, DEFAULT_BYTES = 10.0, 1 << 28
# Bytes that the sandbox adds to the memory limit for itself.
ADDED = 1 << 25
POINTER = object.__basicsize__


class Duration(ctypes.Structure):
    """`absl::Duration`: whole seconds, and a part of one."""

    _fields_ = (("whole", ctypes.c_int64), ("part", ctypes.c_uint32))

    @property
    def seconds(self) -> float:
        """As a number of seconds."""
        return self.whole + self.part / TICKS


class OptionsLayout(ctypes.Structure):
    """`TestOptions`; the time limit is of CPU time, rounded down to whole seconds, one at least."""

    _fields_ = (
        ("time_limit", Duration),
        ("num_threads", ctypes.c_int32),
        ("memory_bytes", ctypes.c_uint64),
        ("stop", ctypes.c_bool),
    )


class ResultLayout(ctypes.Structure):
    """The beginning of `ExecutionResult`, up to its duration, which is wall time."""

    _fields_ = (
        ("status", ctypes.c_int32),
        ("program_hash", ctypes.c_int64),
        ("stdout", ctypes.c_void_p),
        ("stderr", ctypes.c_void_p),
        ("duration", Duration),
    )


def value_of(wrapped: Any, layout: type[Any]) -> Any:
    """Return the C++ value of a pybind11 object as `layout`; valid as long as the object exists."""
    address = ctypes.c_void_p.from_address(id(wrapped) + POINTER).value
    return layout.from_address(address)


def check(tester: Any) -> str:
    """Return what is wrong with the layout, or an empty string."""
    options = tester.TestOptions()
    seen = value_of(options, OptionsLayout)
    if (seen.time_limit.seconds, seen.memory_bytes) != (DEFAULT_SECONDS, DEFAULT_BYTES):
        return "the default limits aren't where they are in version 0.1.6"
    for threads, stop in ((0x1234567, True), (1, False)):
        options.num_threads, options.stop_on_first_failure = threads, stop
        if (seen.num_threads, seen.stop) != (threads, stop):
            return "the options aren't where they are in version 0.1.6"
    return ""
