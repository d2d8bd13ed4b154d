"""What a program may use while it runs one test."""

from dataclasses import dataclass

from alpha_codium.values import JsonValue

DEFAULT_CPU_SECONDS = 4.0
DEFAULT_MEMORY_BYTES = 2**30
# What an interpreter that compiles a program, and what runs its tests, may take beyond the program's memory.
OVERHEAD_BYTES = 96 * 2**20


@dataclass(frozen=True, slots=True)
class Limits(JsonValue):
    """Limits of one test; whichever is reached first ends it.

    CPU time decides; `wall_seconds` is a backstop against programs that wait, and where it is not given it is
    three times the CPU limit plus two seconds. `processes` counts threads too.
    """

    cpu_seconds: float = DEFAULT_CPU_SECONDS
    wall_seconds: float = 0.0
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    output_bytes: int = 16 * 2**20
    file_bytes: int = 16 * 2**20
    open_files: int = 64
    processes: int = 64

    def __post_init__(self) -> None:
        """Fill in the wall limit; refuse limits under which nothing can run."""
        if not self.wall_seconds:
            object.__setattr__(self, "wall_seconds", 3 * self.cpu_seconds + 2)
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
