"""A program that isn't run by the zygote's interpreter: a test's process executes it.

1. It is a static executable, which is handed over as an open file, or a command that finds its files in a folder:
   read-only beside the programs of the interpreter, or, for a compiler, in the folder where it can write.
2. If a control group limits the CPU time and memory of all processes together, and /proc is there, `posix_spawn` starts
   it: that costs less than half of a fork, which copies the interpreter's page tables. Tests then inherit the limits of
   the runner, so its own hard limit of CPU time must leave room for what it uses itself.
3. Otherwise, and again if that fails, each test is forked. A process that can't execute the program says so in memory
   that it shares with the runner; a program that was executed no longer has that memory, so it can't pretend that it
   wasn't executed.
4. Whatever the kernel says of an executable, which the program's author made, is the program's own fault, unless the
   smallest executable (`known_good`) can't be executed, either. A command is never the program's.
"""

from __future__ import annotations

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import marshal
import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap

    from alpha_codium.sandbox.engine.inside import jail

from alpha_codium.sandbox.engine.inside import known_good, trees, wire

# A command finds the path of the folder with the program's files in place of this.
FOLDER = "{folder}"
# Signals that Python ignores, and that of the soft limit of CPU time, which a runner ignores.
IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU)
# CPU seconds that a runner may use itself.
RUNNER_SECONDS = 60


class NativeProgram:
    """A program and how a test's process becomes it."""

    # The descriptor of the executable, -1 if there is none.
    image = -1
    # The number of the error with which a forked process of a test couldn't execute the program, in memory that it
    # shares with the runner.
    failed: mmap.mmap | None = None

    def __init__(self, native: jail.Config, source: int, config: jail.Config, place_of_image: int) -> None:
        """Take over the executable `source`, which becomes `place_of_image`, or write the files marshalled in it."""
        folder = config["folder"] if native["writable"] else config["program_path"]
        self.arguments = [argument.replace(FOLDER, folder) for argument in native["command"]]
        self.environment = {**config["variables"], **native["environment"]}
        self.memory, self.writable = native["memory"], native["writable"]
        self.stack = native["stack_bytes"]
        if native["image"]:
            self.image = os.dup2(source, place_of_image, inheritable=False)
        else:
            place = os.open(folder, os.O_PATH) if native["writable"] else config["program_folder"]
            for path, data in marshal.loads(wire.read_all(source)).items():
                trees.write(path, data, place)
        self.target = self.image if native["image"] else native["command"][0]

    def prepare_fork(self) -> None:
        """In the runner: make the shared memory, which forks need."""
        if self.failed is None:
            # Loaded only here: it takes half a millisecond, and Python programs would find it imported in the zygote.
            import mmap

            self.failed = mmap.mmap(-1, 1)

    def inherit_limits(self) -> None:
        """In the runner: take the limits of tests, which `spawn` needs."""
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        self.limit_itself()

    def spawn(self, fds: list[int], cpu_seconds: int) -> int:
        """Start a test's process with these streams; return its process id. Raises OSError if it can't be executed."""
        # Each time: the kernel raises the soft limit of a process that ignores its signal.
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + RUNNER_SECONDS))
        target = "/proc/self/fd/%d" % self.image if self.image >= 0 else self.arguments[0]
        streams = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(fds)]
        return os.posix_spawn(
            target, self.arguments, self.environment, file_actions=streams, setsid=True, setsigdef=IGNORED
        )

    def limit_itself(self) -> None:
        """Raise the limit of the address space, as a control group counts the memory, and limit the stack.

        So endless recursion ends with a signal, before the control group ends it for its memory.
        """
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        if self.stack:
            resource.setrlimit(resource.RLIMIT_STACK, (self.stack, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    def execute(self) -> None:
        """Become the program."""
        self.limit_itself()
        if self.memory:
            name, most = self.memory
            resource.setrlimit(getattr(resource, name), (most, most))
        for number in IGNORED:
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execve(self.target, self.arguments, self.environment)  # noqa: S606 - a shell isn't wanted
        except OSError as error:
            assert self.failed is not None
            self.failed[0] = error.errno or 255
            os.write(2, (known_good.WHY % error.strerror).encode() + b"\n")
        finally:
            os._exit(known_good.REFUSED)

    def require_executed(self) -> None:
        """Raise OSError if a test's process couldn't execute the program, and the program isn't to blame."""
        if self.failed is None or not self.failed[0]:
            return
        error, self.failed[0] = self.failed[0], 0
        if self.image < 0 or not known_good.starts():
            raise OSError(error, known_good.WHY % os.strerror(error), self.arguments[0])
