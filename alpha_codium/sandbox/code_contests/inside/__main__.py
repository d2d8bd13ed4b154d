"""The child process, which runs batches of inputs in one C++ sandbox.

1. Requests are read from stdin and answers written to the original stdout; the sandbox's own log goes to stderr.
2. A batch is one call of `test`, which compiles the program anew and runs it on each input in turn. After each input it
   calls `after_test`, from another thread, to report progress to the host.
3. Output that isn't UTF-8 would abort this process: the conversion to `str` raises an exception that the C++ code
   doesn't expect. So the error handler for decoding is replaced by one that keeps the bytes.
4. A program's output is kept in this process without a limit. So the address space of this process is limited, after
   the sandbox's fork server was started.
5. Each call of `test` leaves a folder with the program in /tmp. It is removed here.
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
        """Send the results, with each output cut to one byte more than the limit."""
        tests, parts = [], []
        for test, seconds in zip([result.compilation_result, *result.test_results], [0.0, *cpu]):  # noqa: B905 - 3.9
            # Cut before encoding: there may be no memory for a second copy.
            stdout = test.stdout[: most + 1].encode(*ENCODING)
            stderr = test.stderr[-KEPT_OF_STDERR:].encode(*ENCODING)
            said = test.sandbox_result[:KEPT_OF_RESULT]
            wall = layout.value_of(test, layout.ResultLayout).duration.seconds
            status = test.program_status.name
            tests.append({"status": status, "said": said, "wall_seconds": wall, "cpu_seconds": seconds})
            parts += [stdout[: most + 1], stderr]
        self.answer({"tests": tests}, parts)


class Counter:
    """CPU time of everything in our control group except this process; 0 without such a group.

    It includes the test and the setup of its sandbox.
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
    """Limit this process to `more` bytes than it uses now; the sandbox limits the processes that it starts."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - each batch does this
        pages = int(file.read().split()[0])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (soft if hard < 0 else min(soft, hard), hard))


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return stdin and stdout as the channel to the host, and replace both, so that no other code uses them."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def main() -> None:
    """Serve until stdin ends."""
    # Safe, although this is about the starting thread: it lives as long as the host's event loop.
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
