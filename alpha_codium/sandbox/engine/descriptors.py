"""The channel to a zygote in a jail of this machine: sockets, over which messages and open files are sent.

A result is accepted only with the test's nonce, which the runner reads after the test's last process is dead.
"""

import array
import contextlib
import marshal
import os
import signal
import socket
import struct
import subprocess
import threading
from pathlib import Path

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine import files
from alpha_codium.sandbox.engine.channel import ANSWER_SECONDS, Channel, Result, RunnerLost, Wiring
from alpha_codium.sandbox.engine.executables import Executable
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.inside.jail import PROGRAM_FOLDER
from alpha_codium.sandbox.engine.jail import Jail, RunnerProgram, runner_request
from alpha_codium.sandbox.engine.outcome import STDERR_KEPT, Outputs
from alpha_codium.sandbox.engine.processes import end, reap_orphans, scheduled
from alpha_codium.sandbox.engine.scratch import Scratch, ScratchState, make_scratch, unused_user

SCRIPT = Path(__file__).with_name("inside") / "main.py"
SHORTEST_WAIT = 1e-3
TIMEVAL = struct.Struct("@ll")


class DescriptorChannel(Channel):
    """The channel to a zygote; see the module."""

    def __init__(self, jail: Jail, number: int, memory_bytes: int) -> None:
        super().__init__(jail, number, memory_bytes)
        self._control, self._inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._scratch: Scratch | None = None
        self._scratch_state: ScratchState | None = None
        # The connection to the runner, the file with its stderr, and a pidfd, which other threads use.
        self._socket: socket.socket | None = None
        self._errors = self._runner = -1
        self._lock = threading.Lock()
        self._patience = 0.0
        # The stdin, stdout and stderr of the test.
        self._files: list[int] = []
        self._nonce = b""

    def open(self, seconds: float) -> dict[str, bool]:
        """See `Channel`."""
        # The user id that the jail takes; 0 to keep ours.
        control, user = self._control, unused_user(self.number)
        with self._inner as inner:
            control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, wire.MESSAGE_BYTES)
            control.settimeout(seconds)
            self._stderr = files.output_file("stderr")
            if self.jail.walls:
                self._scratch = make_scratch(user)
                self.folder = f"{self._scratch.path}/{wire.BOX}"
                self.program_folder = f"{self._scratch.path}{PROGRAM_FOLDER}"
            self._process = process = self.jail.starter.submit(self._spawn, inner).result()
        self._count([process.pid])
        control.send(marshal.dumps(self.jail.configuration(user, self._scratch), 2))
        _, landlock, proc, _ = self._await_ready()
        # Raises if we may not signal the process, and so couldn't end it.
        process.send_signal(0)
        control.settimeout(ANSWER_SECONDS)
        return {"namespaces": not self.jail.walls, "landlock": bool(landlock), "proc": bool(proc)}

    def close(self) -> None:
        """See `Channel`."""
        self.interrupt()
        self._control.close()
        if self._process is not None:
            end(self._process)
        reap_orphans()
        self._forget_runner()
        if self._scratch_state is not None:
            self._scratch_state.close()
        self._release()
        if self._scratch is not None:
            self._scratch.remove()

    def begin(self, program: RunnerProgram, limits: Limits, *, may_fork: bool) -> None:
        """See `Channel`."""
        walls, counted = self.jail.walls, self.counts_memory
        request = runner_request(limits, program, may_fork=may_fork, walls=walls, counted=counted)
        workspace = self.jail.workspace
        request["covers"] = f"{workspace.folder}/{program.main}" if workspace is not None else ""
        self._socket, inner = socket.socketpair()
        self._patience = 0.0
        with inner, files.closing([]) as fds:
            self._errors = files.output_file("stderr")
            for source in (program.source, program.driver):
                fds.append(os.dup(source.fd) if isinstance(source, Executable) else files.input_file(source))
            socket.send_fds(self._control, [marshal.dumps(request, 2)], [*fds, inner.fileno(), self._errors])
        said, runners, _, _ = socket.recv_fds(self._control, 64, 4, socket.MSG_CMSG_CLOEXEC)
        if said[:1] != wire.STARTED or len(runners) != 1:
            raise ConnectionError("it started no runner")
        with self._lock:
            self._runner = runners[0]

    def answer(self, seconds: float) -> bytes | None:
        """See `Channel`."""
        return self._receive(seconds, 1)

    def errors(self) -> bytes:
        """See `Channel`."""
        return files.end(self._errors, files.size_of(self._errors), STDERR_KEPT)

    def send(self, data: bytes, wiring: Wiring) -> float:
        """See `Channel`."""
        assert self._socket is not None
        self._forget_test()
        with files.closing([] if wiring.link is None else [wiring.link]) as link:
            self._files.append(files.input_file(data))
            self._files.append(files.output_file("stdout"))
            self._files.append(files.output_file("stderr"))
            *streams, stderr = self._files
            given = array.array("i", [*(wiring.streams or streams), stderr, *link, *wiring.beside])
            self._nonce = os.urandom(wire.NONCE_BYTES)
            used = self.cpu_seconds()
            self._socket.sendmsg([wire.TEST, self._nonce], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)])
        return used

    def result(self, seconds: float) -> Result | None:
        """See `Channel`."""
        answer = self._receive(seconds, wire.RESULT.size)
        if answer is None:
            return None
        if len(answer) != wire.RESULT.size or answer[: wire.NONCE_BYTES] != self._nonce:
            raise RunnerLost(files.text_of(self.errors()) or "it gave no answer")
        _, status, cpu_seconds, wall_seconds, peak, processes = wire.RESULT.unpack(answer)
        return Result(status, cpu_seconds, wall_seconds, peak * 1024, processes, self._is_touched())

    def outputs(self, limits: Limits) -> Outputs:
        """See `Channel`."""
        _, stdout, stderr = self._files
        sizes = files.size_of(stdout), files.size_of(stderr)
        beginning = files.beginning(stdout, sizes[0], limits.output_bytes)
        return Outputs(beginning, files.end(stderr, sizes[1], STDERR_KEPT), *sizes)

    def end_test(self) -> None:
        """See `Channel`."""
        self._signal(signal.SIGUSR1)

    def interrupt(self) -> None:
        """See `Channel`."""
        self._signal(signal.SIGKILL)

    def await_end(self) -> int:
        """See `Channel`."""
        if self._socket is not None:
            self._socket.close()
        try:
            message = self._control.recv(64)
        finally:
            self._forget_runner()
        if message[:1] != wire.ENDED:
            raise ConnectionError("it didn't report the end of a runner")
        if self._is_touched():
            self._control.send(wire.RENEW)
            self._await_ready()
        return wire.WAIT_STATUS.unpack_from(message, 1)[0]

    def scheduled(self) -> list[tuple[float, float]] | None:
        """See `Channel`."""
        with self._lock:  # so that nobody closes the descriptor meanwhile
            return scheduled(self._runner)

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
        """Wait for the zygote's READY message and return it."""
        message, fds, flags, _ = socket.recv_fds(self._control, 64, 16, socket.MSG_CMSG_CLOEXEC)
        if self._scratch_state is not None:
            self._scratch_state.close()
        self._scratch_state = ScratchState(fds, own_file_system=not self.jail.walls)
        if message[:1] != wire.READY:
            raise ConnectionError(self.last_words() or "it ended")
        # The kernel silently drops descriptors beyond our limit.
        if flags & socket.MSG_CTRUNC or len(fds) != message[3]:
            raise OSError("Too many open files in this process (ulimit -n)")
        return message

    def _is_touched(self) -> bool:
        """Whether a program changed anything in the folders that it can write to."""
        return self._scratch_state is None or self._scratch_state.touched

    def _receive(self, seconds: float, most: int) -> bytes | None:
        """Return what the runner sends next; None if that is nothing in time, empty if the runner is gone."""
        assert self._socket is not None
        if seconds != self._patience:
            self._patience = seconds
            # A timeout of the socket saves a poll before each answer. 0 would mean none.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval(max(seconds, SHORTEST_WAIT)))
        try:
            return self._socket.recv(most)
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""

    def _signal(self, number: signal.Signals) -> None:
        with self._lock:
            if self._runner >= 0:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._runner, number)

    def _forget_test(self) -> None:
        fds, self._files = self._files, []
        for fd in fds:
            os.close(fd)

    def _forget_runner(self) -> None:
        self._forget_test()
        if self._socket is not None:
            self._socket.close()
        with self._lock:
            for fd in (self._errors, self._runner):
                if fd >= 0:
                    os.close(fd)
            self._errors = self._runner = -1


def timeval(seconds: float) -> bytes:
    """Return a time as the socket option SO_RCVTIMEO takes it."""
    whole, part = divmod(seconds, 1)
    return TIMEVAL.pack(int(whole), int(part * 1e6))
