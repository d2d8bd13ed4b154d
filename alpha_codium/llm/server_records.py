"""Records of servers that were started in the background, by which exactly these are ended later.

A process id is used again after its process has ended. So the record also has the time at which the process started,
and the boot of the machine since which that is counted.
"""

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from alpha_codium.errors import UserError
from alpha_codium.values import JsonValue

BOOT = Path("/proc/sys/kernel/random/boot_id")
# The fields of /proc/PID/stat after the name of the program.
STATE, SESSION, STARTED = 0, 3, 19
PATIENCE_SECONDS = 10.0
POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ModelServer(JsonValue):
    """A server: its GPU and port, its process, which leads a session of its own, and the file of its log.

    `started` is in clock ticks since the boot.
    """

    gpu: str
    port: int
    pid: int
    started: int
    boot: str
    log: str

    @classmethod
    def of(cls, pid: int, gpu: str, port: int, log: Path) -> Self:
        """Return the record of a child process that was just started."""
        fields = _fields(pid)
        return cls(gpu, port, pid, int(fields[STARTED]) if fields else 0, BOOT.read_text().strip(), str(log))

    @property
    def address(self) -> str:
        """The address for clients of OpenAI's protocol."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def is_running(self) -> bool:
        """Whether the process is that of the record, and hasn't ended."""
        fields = _fields(self.pid)
        return self._is_ours(fields) and fields[STATE] != "Z"

    def members(self) -> list[int]:
        """Return the processes of its session that haven't ended, also if the first of them has."""
        leader = _fields(self.pid)
        if (leader and not self._is_ours(leader)) or self.boot != BOOT.read_text().strip():
            return []
        processes = ((int(entry.name), _fields(int(entry.name))) for entry in Path("/proc").glob("[0-9]*"))
        return [
            pid for pid, fields in processes if fields and fields[SESSION] == str(self.pid) and fields[STATE] != "Z"
        ]

    def _is_ours(self, fields: Sequence[str]) -> bool:
        return bool(fields) and int(fields[STARTED]) == self.started and self.boot == BOOT.read_text().strip()


@dataclass(frozen=True, slots=True)
class ServerRecords(JsonValue):
    """The servers that one command started, the model that they have, and the key of all of them."""

    model: str
    api_key: str
    servers: tuple[ModelServer, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the servers."""
        return tuple(server.address for server in self.servers)

    def write(self, file: Path) -> None:
        """Write the records to a file that only the user can read, since the key is in it."""
        unfinished = file.with_name(f".{file.name}.{os.getpid()}")
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(self.to_json(), out, indent=2)
        unfinished.replace(file)


def read_records(file: Path) -> ServerRecords | None:
    """Return the records in a file, None if there is none; raises UserError if it is damaged."""
    try:
        return ServerRecords.from_json(json.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, AttributeError) as error:
        raise UserError(f"{file} is damaged ({error}): end the servers yourself, and delete it") from error


def end_servers(servers: Sequence[ModelServer], patience_seconds: float = PATIENCE_SECONDS) -> list[ModelServer]:
    """End the servers with all processes of their sessions, and return those that still ran.

    Processes that don't end after SIGTERM are killed.
    """
    running = [server for server in servers if server.members()]
    _signal(running, signal.SIGTERM)
    deadline = time.monotonic() + patience_seconds
    while any(server.members() for server in running) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    while any(server.members() for server in running):
        _signal(running, signal.SIGKILL)
        time.sleep(POLL_SECONDS)
    return running


def _signal(servers: Sequence[ModelServer], number: signal.Signals) -> None:
    for server in servers:
        for pid in server.members():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def _fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the program's name, which may have spaces, or []."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
