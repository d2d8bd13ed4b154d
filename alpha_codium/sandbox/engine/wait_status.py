"""How a process ended, read from its wait status."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HasWaitStatus:
    """Something with a `wait_status`, as `os.wait4` gives it."""

    wait_status: int

    @property
    def exit_code(self) -> int | None:
        """The exit status, or None where a signal ended the process."""
        return os.WEXITSTATUS(self.wait_status) if os.WIFEXITED(self.wait_status) else None

    @property
    def signal(self) -> int | None:
        """The signal that ended the process, or None."""
        return os.WTERMSIG(self.wait_status) if os.WIFSIGNALED(self.wait_status) else None
