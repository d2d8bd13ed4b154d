"""The host's side of a zygote: one jail, one candidate at a time, thrown away when it misbehaves.

Used by one thread at a time; `interrupt` and `kill` may be called from any.
"""

import contextlib
import itertools
import marshal
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

from alpha_codium.limits import OVERHEAD_BYTES, Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.cgroups import WorkerGroup, open_worker_group
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import Jail, folder_in
from alpha_codium.sandbox.engine.processor_wait import processor_wait
from alpha_codium.sandbox.engine.runner_request import runner_request
from alpha_codium.sandbox.engine.scratch import Scratch, make_scratch
from alpha_codium.sandbox.engine.scratch_state import ScratchState
from alpha_codium.sandbox.engine.turn import WorkerLost
from alpha_codium.sandbox.engine.users import unused_user

SCRIPT = Path(__file__).with_name("inside") / "main.py"
START_SECONDS = 60.0
ANSWER_SECONDS = 10.0
LEAVE_SECONDS = 2.0
_numbers = itertools.count()


class Worker:
    """One zygote in its jail."""

    def __init__(self, jail: Jail) -> None:
        self.jail = jail
        self.number = next(_numbers)
        self.facts: dict[str, bool] = {}
        self.group: WorkerGroup | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._stderr = -1
        self._runner = -1
        self._scratch: Scratch | None = None
        self._scratch_state: ScratchState | None = None
        self._lock = threading.Lock()
        self._closing = False
        self._kills = 0

    @property
    def running(self) -> bool:
        """Whether there is a zygote; it may have died without a word."""
        return self._process is not None

    @property
    def folder(self) -> str:
        """Where programs find themselves."""
        return folder_in(self._scratch)

    def start(self) -> None:
        """Make the jail; raises WorkerLost with the reason where that fails."""
        try:
            self._open()
            assert self._control is not None and self._process is not None
            self.group = open_worker_group(f"gencode-{os.getpid()}-{self.number}")
            if self.group is not None:
                self.group.add(self._process.pid)
            self._control.send(marshal.dumps(self.jail.configuration(self._user, self._scratch), 2))
            message = self._await_ready()
            # Whom we may not signal we could not end.
            self._process.send_signal(0)
            self.facts = dict(zip(("landlock", "proc"), map(bool, message[1:3]), strict=True))
            self._control.settimeout(ANSWER_SECONDS)
        except (OSError, ValueError) as error:
            self.discard()
            raise WorkerLost(f"the jail can't be made: {error}") from error

    def _open(self) -> None:
        """Start the process in which the jail is made; raises OSError, and WorkerLost where that is too late."""
        control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with self._lock, inner:
            self._control = control
            if self._closing:
                raise OSError("the sandbox is closed")
            control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, wire.MESSAGE_BYTES)
            control.settimeout(START_SECONDS)
            self._stderr = files.output_file("stderr")
            if self.jail.walls:
                self._scratch = make_scratch(self._user)
            self._process = self.jail.starter.submit(self._spawn, inner).result()

    def begin(self, source: bytes, driver: bytes, limits: Limits) -> tuple[socket.socket, int]:
        """Have a runner started: its socket, and a file that holds what it says on stderr while it compiles."""
        if self._closing:
            raise WorkerLost("the sandbox is closed")
        if not self.running:
            self.start()
        if self.group is not None and self.counts_memory:
            # What was killed in an earlier program's tests is nothing to this one.
            self.was_killed_for_memory()
            if not self.group.set_memory(limits.memory_bytes + OVERHEAD_BYTES):
                raise self._lost("it holds more memory than the next program may have")
        host, inner = socket.socketpair()
        errors = -1
        try:
            with inner:
                errors = files.output_file("stderr")
                request = runner_request(
                    limits, may_fork=self.may_fork, walls=self.jail.walls, counted=self.counts_memory
                )
                self._hand_over([source, driver], inner, errors, request)
        except BaseException:
            host.close()
            if errors >= 0:
                os.close(errors)
            raise
        return host, errors

    def end_test(self) -> None:
        """Have the runner kill the test that it runs."""
        self._signal(signal.SIGUSR1)

    def interrupt(self) -> None:
        """Kill the runner, and with it all that it runs."""
        self._signal(signal.SIGKILL)

    def await_end(self) -> int:
        """Wait until the runner and all that was in its namespace are gone; the runner's wait status."""
        assert self._control is not None
        try:
            message = self._control.recv(64)
        except OSError as error:
            raise self._lost(error) from error
        finally:
            self._let_go()
        if message[:1] != wire.ENDED:
            raise self._lost("it gave no word of the end")
        if self.touched:
            self._renew()
        return wire.WAIT_STATUS.unpack_from(message, 1)[0]

    @property
    def touched(self) -> bool:
        """Whether anything in the folders that programs can write to was changed since they were made."""
        return self._scratch_state is None or self._scratch_state.touched

    @property
    def processor_wait(self) -> float:
        """Seconds for which the test that runs has waited for a processor."""
        return processor_wait(self._runner)

    def close(self) -> None:
        """Take no more programs, and end the one that runs, from any thread."""
        with self._lock:
            self._closing = True
        self.interrupt()

    def discard(self) -> None:
        """Take the jail down and reap it; the next candidate gets a new one."""
        self.interrupt()
        with self._lock:
            process, self._process = self._process, None
            control, self._control = self._control, None
            stderr, self._stderr = self._stderr, -1
        if control is not None:
            control.close()
        if process is not None:
            end(process)
        if stderr >= 0:
            os.close(stderr)
        self._let_go()
        if self._scratch_state is not None:
            self._scratch_state.close()
            self._scratch_state = None
        if self.group is not None:
            self.group.kill_and_remove()
            self.group, self._kills = None, 0
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None

    def was_killed_for_memory(self) -> bool:
        """Whether the kernel has killed for memory since this was last asked."""
        if self.group is None or not self.counts_memory:
            return False
        before, self._kills = self._kills, self.group.oom_kills()
        return self._kills > before

    def _spawn(self, inner: socket.socket) -> "subprocess.Popen[bytes]":
        """Start the interpreter by exec, with empty files as its streams and no limit of its stack."""
        interpreter = self.jail.interpreter.executable
        fd = inner.fileno()
        # The stack's limit at exec decides where the kernel puts what could be in its way.
        shell = 'ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"; exec "$@"'
        command = ["/bin/sh", "-c", shell, "sh", interpreter, "-S", "-s", str(SCRIPT), str(fd)]
        with files.closing([]) as fds:
            fds.append(files.input_file(b""))
            fds.append(files.output_file("stdout"))
            return subprocess.Popen(
                command,
                stdin=fds[0],
                stdout=fds[1],
                stderr=self._stderr,
                pass_fds=[fd],
                env={**self.jail.environment, "HOME": self.folder, "TMPDIR": self.folder},
                cwd="/",
                process_group=0,
            )

    def _await_ready(self) -> bytes:
        """The zygote's word that it can take a program; raises OSError."""
        assert self._control is not None
        message, grips, flags, _ = socket.recv_fds(self._control, 64, 16, socket.MSG_CMSG_CLOEXEC)
        if self._scratch_state is not None:
            self._scratch_state.close()
        self._scratch_state = ScratchState(grips, own_file_system=not self.jail.walls)
        if message[:1] != wire.READY:
            raise OSError(files.last_words(self._stderr) or "it ended")
        # The kernel leaves out what we have no room for, without an error.
        if flags & socket.MSG_CTRUNC or len(grips) != message[3]:
            raise OSError("Too many open files in this process (ulimit -n)")
        return message

    def _renew(self) -> None:
        """Have new folders made that programs can write to."""
        assert self._control is not None
        try:
            self._control.send(wire.RENEW)
            self._await_ready()
        except OSError as error:
            raise self._lost(error) from error

    @property
    def counts_memory(self) -> bool:
        """Whether a control group of ours bounds the memory, and tells when it has killed for it."""
        return self.group is not None and "memory" in self.group.parts

    @property
    def may_fork(self) -> bool:
        """Whether a test may have several processes: where their sum of CPU time and memory is known."""
        return self.group is not None and self.group.complete and not self.jail.walls

    @property
    def _user(self) -> int:
        """The user id that the jail takes; 0 where it keeps ours."""
        return unused_user(self.number) if os.geteuid() == 0 else 0

    def _hand_over(self, sources: list[bytes], inner: socket.socket, errors: int, candidate: dict[str, Any]) -> None:
        assert self._control is not None
        try:
            with files.closing([]) as fds:
                for source in sources:
                    fds.append(files.input_file(source))
                socket.send_fds(self._control, [marshal.dumps(candidate, 2)], [*fds, inner.fileno(), errors])
            message, grips, _, _ = socket.recv_fds(self._control, 64, 4, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise self._lost(error) from error
        if message[:1] != wire.STARTED or len(grips) != 1:
            raise self._lost("it started no runner")
        with self._lock:
            self._runner = grips[0]
        if self._closing:
            self.interrupt()
            raise self._lost("the sandbox is closed")

    def _lost(self, reason: object) -> WorkerLost:
        said = files.last_words(self._stderr) if self._stderr >= 0 else ""
        self.discard()
        return WorkerLost(f"the sandbox's worker was lost: {said or reason}")

    def _signal(self, number: signal.Signals) -> None:
        with self._lock:
            if self._runner >= 0:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._runner, number)

    def _let_go(self) -> None:
        with self._lock:
            if self._runner >= 0:
                os.close(self._runner)
                self._runner = -1


def end(process: "subprocess.Popen[bytes]") -> None:
    """Wait until the jail has ended by itself, now that nobody speaks to it; kill one that doesn't."""
    # By itself it reaps its own, which after a kill only the system's first process can do.
    try:
        process.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
