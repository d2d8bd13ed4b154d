"""The child: holds one C++ sandbox and runs a batch of inputs at a time.

1. Requests come on stdin and answers go to what was stdout; the sandbox's own log goes to stderr.
2. A batch is one call of `test`, which compiles the program anew and runs it on each input in turn. After each one it
   calls `after_test`, from a thread of its own: there the host hears how far the batch has come.
3. Where a program's output isn't UTF-8 the sandbox would abort this process: the conversion to `str` raises, and no
   C++ code expects it. So the handler of such errors is one that keeps the bytes.
4. A program may print for as long as it runs, and all of it is kept here: so the address space of this process is
   limited, once the sandbox's fork server has been started.
5. Each call of `test` leaves its folder in /tmp behind, with the program in it. It is removed here.
"""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import os
import resource
import signal
import time

import layout  # pyrefly: ignore - beside this file
import leftovers  # pyrefly: ignore - beside this file
import wire  # pyrefly: ignore - beside this file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

PR_SET_PDEATHSIG = 1
ENCODING = "utf-8", "surrogateescape"
KEPT_OF_STDERR = 1 << 20
KEPT_OF_RESULT = 2000


class Child:
    """One sandbox and the pipe to the host."""

    def __init__(self, tester: Any, answers: BinaryIO, start: dict[str, Any]) -> None:
        self.tester, self.answers = tester, answers
        self.sandboxer = tester.Py3TesterSandboxer(start["interpreter"], start["libraries"])
        self.counter = Counter(start.get("cpu_file", ""))

    def answer(self, header: dict[str, Any], parts: list[bytes] | None = None) -> None:
        """Send one message."""
        self.answers.write(wire.pack(header, parts or []))
        self.answers.flush()

    def run(self, request: dict[str, Any], program: bytes, inputs: list[bytes]) -> None:
        """Run a program on each input and answer with all results."""
        options = self.tester.TestOptions()
        options.num_threads, options.stop_on_first_failure = 1, False
        limits = layout.value_of(options, layout.OptionsLayout)
        limits.time_limit = layout.Duration(request["cpu_seconds"], 0)
        limits.memory_bytes = max(request["memory_bytes"] - layout.ADDED, 1)
        limit_own_memory(request["own_bytes"])
        cpu: list[float] = []

        def after_test(*_outputs: str) -> bool:
            cpu.append(self.counter.lap())
            self.answer({"done": len(cpu)})
            return True

        began = time.time()
        self.counter.lap()
        try:
            result = self.sandboxer.test(program, inputs, options, [b""] * len(inputs), after_test)
        finally:
            leftovers.remove(os.getpid(), began)
        self.answer_with(result, cpu, request["output_bytes"])

    def answer_with(self, result: Any, cpu: list[float], most: int) -> None:
        """Send the results, with a little more of each output than may be."""
        tests, parts = [], []
        for test, seconds in zip([result.compilation_result, *result.test_results], [0.0, *cpu]):  # noqa: B905 - 3.9
            # Cut before they are encoded: there may be no memory for another one of it.
            stdout = test.stdout[: most + 1].encode(*ENCODING)
            stderr = test.stderr[-KEPT_OF_STDERR:].encode(*ENCODING)
            said = test.sandbox_result[:KEPT_OF_RESULT]
            wall = layout.value_of(test, layout.ResultLayout).duration.seconds
            status = test.program_status.name
            tests.append({"status": status, "said": said, "wall_seconds": wall, "cpu_seconds": seconds})
            parts += [stdout[: most + 1], stderr]
        self.answer({"tests": tests}, parts)


class Counter:
    """CPU time of all that runs in our control group, without this process; 0 where there is no such group.

    Less this process's own, it is that of a test and of setting up its sandbox.
    """

    def __init__(self, file: str) -> None:
        self._file = os.open(file, os.O_RDONLY) if file else None
        self._last = (0.0, 0.0)

    def lap(self) -> float:
        """Seconds since the last call."""
        now = (self._all(), time.process_time())
        used = (now[0] - self._last[0]) - (now[1] - self._last[1])
        self._last = now
        return max(used, 0.0)

    def _all(self) -> float:
        if self._file is None:
            return 0.0
        words = os.pread(self._file, 64, 0).split()
        return int(words[1]) / 1e6 if words[0] == b"usage_usec" else int(words[0]) / 1e9


def limit_own_memory(more: int) -> None:
    """Let this process take so many bytes more than it has; what it starts is limited by the sandbox."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - each batch does this
        pages = int(file.read().split()[0])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (soft if hard < 0 else min(soft, hard), hard))


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout as the channel to the host; nobody else finds them there."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def main() -> None:
    """Serve until stdin ends."""
    # The thread that started us lives as long as the host's event loop.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    codecs.register_error("strict", codecs.lookup_error("surrogateescape"))
    requests, answers = take_streams()
    first = wire.read(requests)
    if first is None:
        return
    import code_contests_tester  # pyrefly: ignore - in this environment only

    child = Child(code_contests_tester, answers, first[0])
    child.answer({"fault": layout.check(code_contests_tester)})
    while True:
        message = wire.read(requests)
        if message is None:
            return
        request, (program, *inputs) = message
        child.run(request, program, inputs)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
