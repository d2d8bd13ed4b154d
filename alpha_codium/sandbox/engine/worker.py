"""The host's side of a zygote in its jail, which runs one candidate at a time and is discarded when it misbehaves."""

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
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.cgroups import WorkerGroup, open_worker_group
from alpha_codium.sandbox.engine.executables import Executable
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import Jail, RunnerProgram, folder_in, program_folder_in, runner_request
from alpha_codium.sandbox.engine.processes import activity, end, processor_wait, reap_orphans
from alpha_codium.sandbox.engine.scratch import Scratch, ScratchState, make_scratch, unused_user

SCRIPT = Path(__file__).with_name("inside") / "main.py"
START_SECONDS = 60.0
ANSWER_SECONDS = 10.0
_numbers = itertools.count()


class NotReady(WorkerLost):
    """The jail isn't ready in time, which doesn't mean that it can't be made."""


class Worker:
    """One zygote in its jail. Used by one thread at a time; `interrupt` and `close` may be called from any."""

    def __init__(self, jail: Jail) -> None:
        self.jail = jail
        self.number = next(_numbers)
        self.facts: dict[str, bool] = {}
        self.group: WorkerGroup | None = None
        # The memory that may be used in addition to the program's.
        self.overhead_bytes = OVERHEAD_BYTES
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._stderr = -1
        self._runner = -1
        self._scratch: Scratch | None = None
        self._scratch_state: ScratchState | None = None
        self._lock = threading.Lock()
        self._closing = False

    @property
    def running(self) -> bool:
        """Whether a zygote was started; it may have died since."""
        return self._process is not None

    @property
    def folder(self) -> str:
        """The folder that programs run in."""
        return folder_in(self._scratch)

    @property
    def program_folder(self) -> str:
        """The folder with the files of a program that isn't run by the interpreter."""
        return program_folder_in(self._scratch)

    def start(self) -> None:
        """Make the jail; raises WorkerLost with the reason if that fails, and NotReady if it takes too long."""
        try:
            self._open()
            assert self._control is not None and self._process is not None
            self.group = open_worker_group(f"gencode-{os.getpid()}-{self.number}")
            if self.group is not None:
                self.group.add(self._process.pid)
            self._control.send(marshal.dumps(self.jail.configuration(self._user, self._scratch), 2))
            message = self._await_ready()
            # Raises if we may not signal the process, and so couldn't end it.
            self._process.send_signal(0)
            self.facts = dict(zip(("landlock", "proc"), map(bool, message[1:3]), strict=True))
            self._control.settimeout(ANSWER_SECONDS)
        except TimeoutError as error:
            self.discard()
            raise NotReady(f"the sandbox isn't ready after {START_SECONDS:g} s: is the machine overloaded?") from error
        except (OSError, ValueError) as error:
            self.discard()
            raise WorkerLost(f"cannot make the jail: {error}") from error

    def _open(self) -> None:
        """Start the process in which the jail is made; raises OSError."""
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

    def begin(self, program: RunnerProgram, limits: Limits) -> tuple[socket.socket, int]:
        """Start a runner; return its socket, and a file with its stderr while it compiles. Raises WorkerLost."""
        self._start_for(limits)
        host, inner = socket.socketpair()
        errors = -1
        try:
            with inner:
                errors = files.output_file("stderr")
                request = runner_request(
                    limits,
                    program,
                    may_fork=self.may_fork_for(program),
                    walls=self.jail.walls,
                    counted=self.counts_memory,
                )
                request["covers"] = self.jail.covered_by(program.main)
                self._hand_over([program.source, program.driver], inner, errors, request)
        except BaseException:
            host.close()
            if errors >= 0:
                os.close(errors)
            raise
        return host, errors

    def _start_for(self, limits: Limits) -> None:
        """Start the jail if there is none, and limit the memory for the next program; raises WorkerLost."""
        if self._closing:
            raise WorkerLost("the sandbox is closed")
        if not self.running:
            self.start()
        if self.group is not None and self.counts_memory:
            # Reset the count: earlier kills belong to another program.
            self.group.was_killed_for_memory()
            if not self.group.set_memory(limits.memory_bytes + self.overhead_bytes):
                raise self._lost("it uses more memory than the next program may have")

    def end_test(self) -> None:
        """Have the runner kill its test."""
        self._signal(signal.SIGUSR1)

    def interrupt(self) -> None:
        """Kill the runner and everything that it runs."""
        self._signal(signal.SIGKILL)

    def await_end(self) -> int:
        """Wait until the runner and everything in its namespace has ended; return the runner's wait status."""
        assert self._control is not None
        try:
            message = self._control.recv(64)
        except OSError as error:
            raise self._lost(error) from error
        finally:
            self._let_go()
        if message[:1] != wire.ENDED:
            raise self._lost("it didn't report the end of a runner")
        if self.touched:
            self._renew()
        return wire.WAIT_STATUS.unpack_from(message, 1)[0]

    @property
    def touched(self) -> bool:
        """Whether a program changed anything in the folders that it can write to."""
        return self._scratch_state is None or self._scratch_state.touched

    @property
    def processor_wait(self) -> float:
        """Seconds that the current test has waited for a processor, see `processor_wait`."""
        with self._lock:  # so that nobody closes the descriptor meanwhile
            return processor_wait(self._runner)

    @property
    def activity(self) -> float | None:
        """Seconds for which the current test has run or waited for a processor, see `activity` in `processes`."""
        with self._lock:
            return activity(self._runner)

    def close(self) -> None:
        """Refuse further programs, and end the one that runs."""
        with self._lock:
            self._closing = True
        self.interrupt()

    def discard(self) -> None:
        """End the jail and release its resources; the next candidate gets a new one."""
        self.interrupt()
        with self._lock:
            process, self._process = self._process, None
            control, self._control = self._control, None
            stderr, self._stderr = self._stderr, -1
        if control is not None:
            control.close()
        if process is not None:
            end(process)
        reap_orphans()
        if stderr >= 0:
            os.close(stderr)
        self._let_go()
        if self._scratch_state is not None:
            self._scratch_state.close()
            self._scratch_state = None
        if self.group is not None:
            self.group.kill_and_remove()
            self.group = None
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None

    def was_killed_for_memory(self) -> bool:
        """Whether the kernel killed a process for memory since the last call."""
        return self.group is not None and self.group.was_killed_for_memory()

    def _spawn(self, inner: socket.socket) -> "subprocess.Popen[bytes]":
        """Start the interpreter with empty files as its streams and an unlimited stack."""
        interpreter = self.jail.interpreter.executable
        fd = inner.fileno()
        # The kernel reserves room for the stack by the limit at exec.
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
        """Wait for the zygote's READY message and return it; raises OSError."""
        assert self._control is not None
        message, fds, flags, _ = socket.recv_fds(self._control, 64, 16, socket.MSG_CMSG_CLOEXEC)
        if self._scratch_state is not None:
            self._scratch_state.close()
        self._scratch_state = ScratchState(fds, own_file_system=not self.jail.walls)
        if message[:1] != wire.READY:
            raise OSError(files.last_words(self._stderr) or "it ended")
        # The kernel silently drops descriptors beyond our limit.
        if flags & socket.MSG_CTRUNC or len(fds) != message[3]:
            raise OSError("Too many open files in this process (ulimit -n)")
        return message

    def _renew(self) -> None:
        """Renew the folders that programs can write to."""
        assert self._control is not None
        try:
            self._control.send(wire.RENEW)
            self._await_ready()
        except OSError as error:
            raise self._lost(error) from error

    @property
    def counts_memory(self) -> bool:
        """Whether a control group limits the memory and counts kills for memory."""
        return self.group is not None and self.group.counts_memory

    @property
    def may_fork(self) -> bool:
        """Whether a test may have several processes: only if the sum of their CPU time and memory is known."""
        return self.group is not None and self.group.complete and self.has_namespaces

    @property
    def has_namespaces(self) -> bool:
        """Whether all processes of a test can be ended together, whatever they do."""
        return not self.jail.walls

    def may_fork_for(self, program: RunnerProgram) -> bool:
        """Whether this program may have several processes: a compiler consists of several, each with the limits.

        Without namespaces, a second filter keeps them together, see `runner_request`.
        """
        compiles = program.native is not None and program.native["writable"]
        return self.may_fork or (compiles and self.has_namespaces)

    @property
    def _user(self) -> int:
        """The user id that the jail takes; 0 to keep ours."""
        return unused_user(self.number)

    def _hand_over(
        self, sources: list[bytes | Executable], inner: socket.socket, errors: int, candidate: dict[str, Any]
    ) -> None:
        assert self._control is not None
        try:
            with files.closing([]) as fds:
                for source in sources:
                    fds.append(os.dup(source.fd) if isinstance(source, Executable) else files.input_file(source))
                socket.send_fds(self._control, [marshal.dumps(candidate, 2)], [*fds, inner.fileno(), errors])
            message, runners, _, _ = socket.recv_fds(self._control, 64, 4, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise self._lost(error) from error
        if message[:1] != wire.STARTED or len(runners) != 1:
            raise self._lost("it started no runner")
        with self._lock:
            self._runner = runners[0]
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
