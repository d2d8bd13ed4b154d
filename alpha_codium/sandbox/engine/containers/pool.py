"""A pool of workers that are containers; a backend defines their start (`launch`)."""

from abc import abstractmethod

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.engine.cancellation import Cancellation, WorkerLost
from alpha_codium.sandbox.engine.channel import Channel
from alpha_codium.sandbox.engine.containers.frame_channel import FrameChannel
from alpha_codium.sandbox.engine.containers.launch import Launch
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.pool import JailPool
from alpha_codium.sandbox.protocol import Layer
from alpha_codium.verdict import Status

# A program whose attempts must all fail: to reach the agent and the runner, to write to our files, to make sockets.
ATTEMPTS = """
import os, socket, stat
def others():
    try:
        # A /proc that shows all processes of a container has another number for this one.
        own = {str(os.getpid()), os.readlink("/proc/self")}
        return [name for name in os.listdir("/proc") if name.isdigit() and name not in own]
    except OSError:
        return []
for number in others():
    for file in ("mem", *(f"fd/{fd}" for fd in range(16))):
        try:
            opened = os.open(f"/proc/{number}/{file}", os.O_RDWR | os.O_NONBLOCK)
        except OSError:
            continue
        if not stat.S_ISCHR(os.fstat(opened).st_mode):
            raise SystemExit(f"{file} of process {number} can be opened")
for folder in ("/", "/usr", "/etc", "/lib"):
    try:
        os.close(os.open(f"{folder}/attempt", os.O_CREAT | os.O_WRONLY))
    except OSError:
        continue
    raise SystemExit(f"{folder} can be written to")
try:
    socket.create_connection(("127.0.0.1", 9), 1)
except PermissionError:
    raise SystemExit(0)
raise SystemExit("sockets can be made")
"""
KEPT_BY_ENGINE = "its own kernel, or the engine's isolation, keeps programs from it"


class ContainerSandbox(JailPool):
    """Runs programs in containers; see the module."""

    provider = "container"
    has_runtimes = False
    has_dialogues = False

    @abstractmethod
    def launch(self, memory_bytes: int) -> Launch:
        """Return how to start a container whose programs may use that much memory."""

    def connect(self, jail: Jail, number: int, memory_bytes: int) -> Channel:
        """See `JailPool`."""
        return FrameChannel(jail, number, memory_bytes, self.launch)

    @property
    def layers(self) -> list[Layer]:
        """Return the layers that isolate programs from this machine and from each other."""
        worker = self._slots[0].plain
        return [
            Layer("container", True, f"no network, no file of the host: {KEPT_BY_ENGINE}", ""),
            Layer("seccomp", True, "no system call that an ordinary program doesn't need, no other program", ""),
            Layer(
                "namespaces",
                worker.has_namespaces,
                "several processes a test, all of them ended with it; without them a test has one, with threads",
                "a runtime that lets a container make namespaces (runsc), or --security-opt seccomp=unconfined",
            ),
            Layer(
                "cgroup",
                worker.bounded,
                "CPU time and memory of all processes of a test together; without it a test has one, with threads",
                "run as root, or under systemd-run --user --scope -p Delegate=yes",
                needed=False,
            ),
            Layer("proc", worker.facts["proc"], "/dev/stdin and /proc/self for who opens them", "", needed=False),
        ]

    def start_first(self, cancellation: Cancellation, jail: Jail) -> None:
        """Start the first container and try to break out of it; raises SandboxError unless it starts and holds."""
        try:
            self.start(jail)
            end = self.attempt(cancellation, ATTEMPTS)
        except WorkerLost as error:
            raise SandboxError(self.refusal(str(error).splitlines()[-1])) from error
        if end.status is not Status.FINISHED:
            raise SandboxError(self.refusal(f"it doesn't isolate programs: {end.status} {end.stderr[-500:].strip()}"))

    def refusal(self, reason: str) -> str:
        """Return the message for when there is no container."""
        return f"no container can isolate untrusted programs ({reason})"
