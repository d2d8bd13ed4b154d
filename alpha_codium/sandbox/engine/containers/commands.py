"""Commands of container engines and runtimes."""

import subprocess
from collections.abc import Sequence

from alpha_codium.errors import SandboxError

ANSWER_SECONDS = 60.0


def ask(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command, whatever its exit status; raises SandboxError if it can't be run or doesn't answer."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=ANSWER_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"{command[0]} doesn't respond within {ANSWER_SECONDS:.0f} s") from error
    except OSError as error:
        raise SandboxError(f"cannot run {command[0]}: {error.strerror or error}") from error


def last_line(text: str) -> str:
    """Return the last line of some output."""
    return (text.strip().splitlines() or ["no message"])[-1]
