"""Commands that run Python programs, of environments that have files and a shell; the programs run in our sandbox."""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from alpha_codium.verdict import Execution

PYTHONS = ("python", "python3")
NOT_FOUND, KILLED = 127, 128


class PythonFiles:
    """Files in memory, and the programs that commands such as `python FILE` run."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def write(self, file: str, contents: bytes) -> None:
        """Keep a file."""
        self._files[str(PurePosixPath(file))] = contents

    def read(self, file: str) -> bytes:
        """Return what was written; raises FileNotFoundError."""
        found = self._files.get(str(PurePosixPath(file)))
        if found is None:
            raise FileNotFoundError(file)
        return found

    def program(self, command: Sequence[str], text: str = "") -> tuple[str | None, str]:
        """Return the program that a command runs, None if it is another command, and its input.

        Commands are `python FILE`, `python -c CODE` and `python -`, or one of them in a shell.
        """
        if len(command) > 2 and command[0] in ("bash", "sh") and command[-2].endswith("c"):
            command = shlex.split(command[-1])
        if len(command) < 2 or command[0] not in PYTHONS:
            return None, text
        if command[1:] == ["-"]:
            return text, ""
        if command[1] == "-c" and len(command) == 3:
            return command[2], text
        found = self._files.get(str(PurePosixPath(command[1]))) if len(command) == 2 else None
        return found.decode(errors="replace") if found is not None else None, text


def exit_code_of(execution: Execution) -> int:
    """Return the exit code that a shell would give for what a program did."""
    code = execution.exit_code if execution.exit_code is not None else KILLED + (execution.signal or 0)
    return code if execution.finished else code or 1
