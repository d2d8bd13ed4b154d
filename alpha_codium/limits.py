"""Limits of programs: which a test gets, which a compiler gets, and what is added for the sandbox itself.

The CPU time decides whether a test took too long. Its limit is the first that is given of `code_tester.timeout`, the
problem's own limit times the factor of the program's language (`time_limit_factor`), and `DEFAULT_CPU_SECONDS`: see
`judge.Rules.limits_for`. Wall time is a backstop against programs that wait: see `Limits`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from alpha_codium.language_table import LANGUAGES
from alpha_codium.values import JsonValue
from alpha_codium.wording import size_text

DEFAULT_CPU_SECONDS = 4.0
DEFAULT_MEMORY_BYTES = 2**30
LARGEST_STACK = 512 * 2**20
# A kernel's limits have 64 bits with a sign.
LARGEST = 2**62
# Problems' own limits are meant for C++. For Python they are multiplied by this, for other languages by these.
DEFAULT_TIME_LIMIT_FACTOR = LANGUAGES["python3"].time_limit_factor
TIME_LIMIT_FACTORS: Mapping[str, float] = {
    name: language.time_limit_factor for name, language in LANGUAGES.items() if name != "python3"
}
WALL_FACTOR, WALL_EXTRA_SECONDS = 3, 2
# Wall time that a test waits for a processor is added to its limit, up to this many times the limit.
MOST_WAIT_FACTOR = 10
# A test that exceeded its CPU limit by less than this factor is run again, if other load may be the reason.
CLOSE_CALL_FACTOR = 1.2
# So is a test that exceeded its wall limit, if it used at least this share of its CPU limit.
STARVED_SHARE = 0.2
# The kernel's limit is higher by this factor. The kernel counts ticks, on a busy machine up to a third more than the
# CPU time of the process; its limit must neither end a test too early nor make every endless loop a close call.
KERNEL_FACTOR = 1.6
# A verdict may depend on the machine's load if what a test used differs from its limit by at most this share of it.
NEAR_SHARE = 0.2

# Memory that an interpreter that compiles a program, and the process that runs its tests, may use in addition.
OVERHEAD_BYTES = 96 * 2**20
# Wall time and memory to compile a program in an interpreter that has been started.
COMPILE_SECONDS = 30.0
COMPILE_BYTES = 2 << 30


def least_memory(language: str) -> int:
    """Return the bytes of memory without which no program in a language runs."""
    return LANGUAGES[language].least_mib << 20 if language in LANGUAGES else 0


def too_little_memory(language: str, memory_bytes: int) -> str:
    """Return why no program in a language can run in so little memory; empty if it may."""
    least = least_memory(language)
    if memory_bytes >= least:
        return ""
    return f"the memory limit, {size_text(memory_bytes)}, is below what a {language} program needs, {size_text(least)}"


@dataclass(frozen=True, slots=True)
class Limits(JsonValue):
    """Limits of one test; the first that is reached ends it.

    `wall_seconds` defaults to three times the CPU limit plus two seconds. `processes` counts threads too.
    """

    cpu_seconds: float = DEFAULT_CPU_SECONDS
    wall_seconds: float = 0.0
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    output_bytes: int = 16 * 2**20
    file_bytes: int = 16 * 2**20
    open_files: int = 64
    processes: int = 64

    @property
    def stack_bytes(self) -> int:
        """The stack of programs without a runtime: endless recursion fills it before all of the memory is used."""
        return min(LARGEST_STACK, self.memory_bytes * 7 // 8)

    def near(self, cpu_seconds: float, wall_seconds: float, memory_bytes: int) -> tuple[str, ...]:
        """Return which of `cpu`, `wall` and `memory` were used within `NEAR_SHARE` of their limits, on either side."""
        used = {
            "cpu": (cpu_seconds, self.cpu_seconds),
            "wall": (wall_seconds, self.wall_seconds),
            "memory": (memory_bytes, self.memory_bytes),
        }
        return tuple(name for name, (amount, limit) in used.items() if abs(amount - limit) <= NEAR_SHARE * limit)

    def use(self, cpu_seconds: float, wall_seconds: float, memory_bytes: int) -> str:
        """Return what a test used of these limits, for people: `CPU time 4.1 s of 4 s, ...`.

        Times of 0 mean that nothing was measured, as with a program that was stopped in a batch.
        """
        if not (cpu_seconds or wall_seconds):
            return f"more than {self.cpu_seconds:g} s of CPU time, or {self.wall_seconds:g} s of wall time"
        cpu = f"CPU time {cpu_seconds:.1f} s of {self.cpu_seconds:g} s"
        wall = f"wall time {wall_seconds:.1f} s of {self.wall_seconds:g} s"
        return f"{cpu}, {wall}, memory {size_text(memory_bytes)} of {size_text(self.memory_bytes)}"

    def __post_init__(self) -> None:
        """Fill in the wall limit; raises ValueError for limits that aren't above 0, or that no kernel takes."""
        if not self.wall_seconds:
            object.__setattr__(self, "wall_seconds", WALL_FACTOR * self.cpu_seconds + WALL_EXTRA_SECONDS)
        for name in self.__slots__:
            if not 0 < getattr(self, name) <= LARGEST:
                raise ValueError(f"{name} must be above 0 and at most 2^62, not {getattr(self, name)}")

    def extended_by(self, cpu_seconds: float) -> Self:
        """The same limits with more CPU time, and with as much more wall time as belongs to it."""
        wall_seconds = self.wall_seconds + WALL_FACTOR * cpu_seconds
        return replace(self, cpu_seconds=self.cpu_seconds + cpu_seconds, wall_seconds=wall_seconds)

    @property
    def kernel_cpu_seconds(self) -> int:
        """The limit to set in the kernel, in whole seconds, see `KERNEL_FACTOR`."""
        return max(int(self.cpu_seconds) + 1, math.ceil(KERNEL_FACTOR * self.cpu_seconds))

    @property
    def most_compile_bytes(self) -> int:
        """The memory of a compiler, if it may not use more than a test and the sandbox together."""
        return min(COMPILE_BYTES, self.memory_bytes + OVERHEAD_BYTES)


# Limits of compiling a Python program in a process of its own.
COMPILE_LIMITS = Limits(cpu_seconds=10, output_bytes=1 << 16)
# Limits of compiling a program of another language. The CPU time is that of all its processes together where a control
# group counts it, the memory includes all files that are written.
COMPILER_LIMITS = Limits(
    cpu_seconds=30,
    wall_seconds=90,
    memory_bytes=2 << 30,
    output_bytes=192 << 20,
    file_bytes=192 << 20,
    open_files=256,
    processes=128,
)
# Limits of a checker; those of Kattis are 60 s and 2 GiB. Files hold a test's input, its answer and an output.
CHECKER_LIMITS = Limits(cpu_seconds=30.0, memory_bytes=2 << 30, output_bytes=1 << 20, file_bytes=64 << 20)
# Seconds after which a candidate and an interactor that only wait are ended.
IDLE_SECONDS = 5.0
