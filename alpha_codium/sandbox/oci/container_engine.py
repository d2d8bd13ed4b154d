"""Container engines, docker or podman: detection and command lines.

1. An engine is a command, possibly with options (`podman --cgroup-manager=cgroupfs`); its kind is recognised by name.
   It is used if it answers, which a docker client without its daemon doesn't.
2. A container has no network, a read-only root, no capabilities, no way to gain any, and a user who isn't root. Its
   writable folders are in memory, and of limited size. Its memory and number of processes are limited as a whole. If a
   container has its own kernel (runsc), its agent is root of that kernel, and its programs aren't.
3. An image is never fetched: a missing one is an error.
"""

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.errors import SandboxError, nearest
from alpha_codium.sandbox.engine.containers.launch import CAPABILITIES, ask, last_line
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.interpreter import ASK, NEWEST, OLDEST, Interpreter
from alpha_codium.sandbox.engine.jail import SCRATCH_BYTES
from alpha_codium.sandbox.engine.processes import descendants

KINDS = ("docker", "podman")
# The users of containers: within the range that an unprivileged engine maps, and one per worker, since processes are
# counted by user.
FIRST_USER, USERS = 61000, 4000
PROCESSES = 512
# Runtimes whose containers have their own kernel.
OWN_KERNEL = ("runsc", "kata")
FILES = 1024
ASK_ALL = f"{ASK}\nprint(json.dumps(platform.libc_ver()[0]))"
REMEDY = "install docker or podman, or name one: -o sandbox.oci.engine=..."


@dataclass(frozen=True, slots=True)
class Engine:
    """A command that runs containers, the runtime that it uses (its default if empty), and options for `run`."""

    command: tuple[str, ...]
    runtime: str = ""
    options: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """`docker` or `podman`."""
        return Path(self.command[0]).name

    def run(
        self,
        image: str,
        name: str,
        interpreter: Sequence[str],
        environment: Mapping[str, str],
        memory_bytes: int = 0,
        number: int = 0,
        folders: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Return the command line of a container that runs `interpreter`, a command, with our pipes as its streams.

        Containers with different numbers have different users, as far as there are users. Memory 0 means no limit.
        `folders` of this machine are visible at the same paths, read-only.
        """
        memory = (f"--memory={memory_bytes}", f"--memory-swap={memory_bytes}") if memory_bytes else ()
        # Otherwise podman copies the image's content of such a folder.
        plain = ",notmpcopyup" if self.kind == "podman" else ""
        writable = f"rw,nosuid,nodev,noexec,size={SCRATCH_BYTES},mode=1777{plain}"
        return (
            *self._global(),
            "run",
            "--rm",
            "--interactive",
            f"--name={name}",
            "--pull=never",
            "--network=none",
            "--read-only",
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            f"--pids-limit={PROCESSES}",
            *memory,
            f"--tmpfs={wire.SCRATCH}:{writable}",
            f"--tmpfs=/tmp:{writable}",
            "--shm-size=16m",
            f"--ulimit=nofile={FILES}:{FILES}",
            f"--ulimit=nproc={PROCESSES}:{PROCESSES}",
            *(f"--volume={folder}:{folder}:ro" for folder in folders),
            *self._user(number),
            "--workdir=/",
            "--hostname=sandbox",
            "--log-driver=none",
            *self._own(),
            *self.options,
            *(f"--env={key}={value}" for key, value in environment.items()),
            f"--entrypoint={interpreter[0]}",
            image,
            *interpreter[1:],
        )

    def remove(self, name: str) -> None:
        """Remove a container, if it still exists; raises SandboxError if the engine doesn't answer."""
        ask([*self._global(), "rm", "--force", name])

    def members(self, name: str) -> list[int]:
        """Return the processes of a running container that we may move to another control group: those of podman.

        Containers of a docker daemon stay in the daemon's control groups. Podman's monitor of the container stays where
        it is: if it were killed for memory with the container, podman would wait 20 s for it.
        """
        if self.kind != "podman" or os.geteuid() != 0:
            return []
        answer = ask([*self._global(), "inspect", "--format={{.State.ConmonPid}}", name]).stdout.strip()
        monitor = int(answer) if answer.isdigit() else 0
        return descendants(monitor) if is_monitor(monitor, name) else []

    def has_image(self, image: str) -> bool:
        """Whether the engine has the image."""
        return ask([*self.command, "image", "inspect", image]).returncode == 0

    def digest_of(self, image: str) -> str:
        """Return the id of an image, a hash of its content."""
        return ask([*self.command, "image", "inspect", "--format={{.Id}}", image]).stdout.strip()

    def _user(self, number: int) -> tuple[str, ...]:
        """Options for the user of the container's processes."""
        if Path(self.runtime).name.startswith(OWN_KERNEL):
            # Root of the container's own kernel has no rights on the host, and can isolate programs from the agent.
            return ("--user=0:0", *(f"--cap-add={capability}" for capability in CAPABILITIES))
        user = FIRST_USER + number % USERS
        return (f"--user={user}:{user}",)

    def _global(self) -> tuple[str, ...]:
        """The command and its global options."""
        return (*self.command, "--runtime", self.runtime) if self.runtime and self.kind == "podman" else self.command

    def _own(self) -> tuple[str, ...]:
        """Options that differ between docker and podman."""
        if self.kind == "podman":
            # By default, podman searches the input for keys to detach, makes more folders writable, and shows programs
            # the host's /etc/hosts.
            return ("--detach-keys=", "--read-only-tmpfs=false", "--no-hosts")
        return (f"--runtime={self.runtime}",) if self.runtime else ()


def find_engine(wanted: str, runtime: str, options: tuple[str, ...] = ()) -> Engine:
    """Return the engine that was asked for, or the first that answers; raises SandboxError if there is none."""
    reasons = []
    for command in [words_of(wanted, "sandbox.oci.engine")] if wanted.strip() else [(kind,) for kind in KINDS]:
        engine = Engine(command, runtime, options)
        if engine.kind not in KINDS:
            raise SandboxError(f"unknown container engine {engine.kind!r}{nearest(engine.kind, KINDS)}")
        reason = trouble(command)
        if not reason:
            return engine
        reasons.append(f"{shlex.join(command)}: {reason}")
    raise SandboxError(f"no container engine responds ({'; '.join(reasons)}): {REMEDY}")


def is_monitor(process: int, name: str) -> bool:
    """Whether a process of this machine is podman's monitor of the container of that name.

    An engine may run on another machine: then the process id belongs to an unrelated process here.
    """
    try:
        return name.encode() in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def words_of(text: str, name: str) -> tuple[str, ...]:
    """Return the words of a command line, split as by a shell; raises SandboxError if it can't be split."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise SandboxError(f"{name} is {text!r}, which is not a command line: {error}") from error


def trouble(command: Sequence[str]) -> str:
    """Return why an engine doesn't answer, or nothing."""
    if shutil.which(command[0]) is None:
        return "not installed"
    try:
        answer = ask([*command, "version"])
    except SandboxError as error:
        return str(error)
    return "" if answer.returncode == 0 else last_line(answer.stderr)


def inspect_image(command: Sequence[str], image: str, interpreter: str) -> Interpreter:
    """Inspect an image's interpreter, which `command` runs with ASK_ALL; raises SandboxError if it can't be used."""
    answer = ask(command)
    if answer.returncode:
        reason = last_line(answer.stderr)
        raise SandboxError(f"the image {image!r} can't be run, or has no interpreter {interpreter!r} ({reason})")
    try:
        facts, libc = map(json.loads, answer.stdout.splitlines()[-2:])
    except ValueError as error:
        raise SandboxError(
            f"{interpreter!r} of the image {image!r} doesn't behave like a Python interpreter: {error}"
        ) from error
    version = tuple(facts["version"])
    if facts["implementation"] != "CPython" or not OLDEST <= version <= NEWEST or libc != "glibc":
        raise SandboxError(
            f"the image {image!r} has {facts['implementation']} {version[0]}.{version[1]} on {libc or 'another libc'}: "
            f"the oci backend needs CPython {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]} on glibc "
            "(python:3.12-slim, say)"
        )
    return Interpreter(
        executable=facts["attributes"]["executable"],
        version=(version[0], version[1]),
        path=tuple(facts["path"]),
        attributes=facts["attributes"],
        depth=facts["depth"],
        read_only=(),
        links=(),
    )
