"""Commands of container engines and runtimes."""

import subprocess
from collections.abc import Sequence

from alpha_codium.errors import SandboxError

ANSWER_SECONDS = 60.0


def ask(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """What an engine says, whatever its exit status; raises SandboxError where it doesn't answer."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=ANSWER_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"{command[0]} doesn't answer within {ANSWER_SECONDS:.0f} s") from error
    except OSError as error:
        raise SandboxError(f"{command[0]} can't be run: {error.strerror or error}") from error


def last_line(text: str) -> str:
    """The last thing that was said."""
    return (text.strip().splitlines() or ["it says nothing"])[-1]
