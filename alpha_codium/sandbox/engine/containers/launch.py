"""How agents are started, which each backend says of its own, and commands of container engines."""

import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine.containers.sources import CONTAINER
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import RunnerProgram

# The capabilities that an agent needs as root of its container's own kernel: for the namespaces, users, signals and
# folders of runners.
CAPABILITIES = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER")
ANSWER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Launch:
    """How an agent is started, in a container or beside us: by `command`; `remove` removes what it leaves.

    `overhead` is the memory of the agent and its container, in bytes. `members`, if an engine starts the container,
    returns those of its processes that we may count. `modules` are the agent's, and `config` what it is told beside the
    configuration of a jail. `folders` are where programs run, and where the files are of those that the interpreter
    doesn't run. `facts` names the bytes of its first message.

    `request` is for an agent whose tests are plain processes of this kernel, so that their CPU time is exact and their
    number can be limited. By a program's limits, the program, and whether its memory is counted, it returns what the
    agent is told in place of `runner_request`.
    """

    command: tuple[str, ...]
    remove: Callable[[], None]
    overhead: int
    members: Callable[[], Iterable[int]] | None = None
    modules: tuple[str, ...] = CONTAINER
    config: Mapping[str, Any] = field(default_factory=dict)
    folders: tuple[str, str] = (wire.FOLDER, wire.FOLDER)
    facts: tuple[str, ...] = ("namespaces", "proc")
    request: Callable[[Limits, RunnerProgram, bool], dict[str, Any]] | None = None


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
