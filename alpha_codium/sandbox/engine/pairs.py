"""Pairs of programs that run at once: with a channel between them, or with the streams of one joined to the other.

1. Both share one hold of the lock: they wait for each other, so neither may wait for the lock.
2. In a dialogue this process holds both ends of both pipes, too. A side finds the end of its input only when we know
   how the other side ended, so which of them ended first is never in doubt. What a side writes after the other has
   ended is read here, so it neither gets SIGPIPE nor waits forever.
3. Both sides of a dialogue are idle if neither runs or waits for a processor. The program is to blame: it may not have
   flushed its output, or waits for more than it gets.
"""

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace

from alpha_codium.program import Dialogue, PairJob
from alpha_codium.sandbox.engine.cancellation import Cancellation
from alpha_codium.sandbox.engine.channel import Wiring
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock, is_loaded
from alpha_codium.sandbox.engine.session import Session
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, PairReport, Report, Status

# Seconds for the right side of a pair with a channel to exit after the left side has ended.
LEAVE_SECONDS = 0.5
# Seconds between two looks at the programs of a dialogue.
LOOK_SECONDS = 0.1
# A program that uses a processor for less than this share of the time is idle.
IDLE_SHARE = 1e-3
PIECE = 1 << 16
SIDES = ("left", "right")
IDLE = "idleness limit exceeded: for {:g} s, the program and the one that it talks to did nothing but wait"


def run_pair(sessions: list[Session], lock: ExclusiveLock, cancellation: Cancellation, job: PairJob) -> PairReport:
    """Compile both programs, then run both if both compiled; raises Cancelled.

    As with a single program, they run again if a worker was lost, and alone if a time limit was narrowly exceeded.
    """
    inputs = [side.input.encode("utf-8", "replace") for side in job.sides]
    first = ""

    def interrupt() -> None:
        for session in sessions:
            session.worker.interrupt()

    def run() -> list[Execution]:
        nonlocal first
        if job.dialogue is None:
            return run_linked(sessions, inputs)
        executions, first = run_dialogue(sessions, inputs[0], job.dialogue)
        return executions

    executed: list[Execution] = []
    try:
        with cancellation.calling(interrupt):
            compiled = [session.compile() for session in sessions]
            if all(compilation.finished for compilation in compiled):
                with lock.shared():
                    executed = run()
                if any(execution.status is Status.INTERNAL_ERROR for execution in executed):
                    with lock.shared():
                        executed = run()
                in_all = sum(execution.cpu_seconds for execution in executed)
                both = zip(sessions, executed, strict=True)
                if any(session.is_close_call(each, in_all) for session, each in both) and is_loaded(lock):
                    with lock.exclusive():
                        executed = run()
    finally:
        for session in sessions:
            session.end()
    left, right = (Report(each, tuple(executed[i : i + 1])) for i, each in enumerate(compiled))
    return PairReport(left, right, first)


def run_linked(sessions: list[Session], inputs: list[bytes]) -> list[Execution]:
    """Run two compiled programs, each with one end of a new channel."""
    ends = socket.socketpair()
    with ThreadPoolExecutor(2, thread_name_prefix="pair") as threads:
        running: list[Future[Execution]] = [
            threads.submit(session.execute_linked, data, Wiring(link=end.detach()), other.worker)
            for session, other, data, end in zip(sessions, reversed(sessions), inputs, ends, strict=True)
        ]
        wait(running[:1])
        wait(running, LEAVE_SECONDS)
        sessions[1].worker.end_test()
        return [each.result() for each in running]


class Pipe:
    """A pipe, whose ends are closed with `closing`."""

    def __init__(self, closing: contextlib.ExitStack) -> None:
        reader, writer = os.pipe()
        # A program of another user may open /dev/stdin.
        os.fchmod(reader, 0o666)
        self.reader = closing.enter_context(os.fdopen(reader, "rb", buffering=0))
        self.writer = closing.enter_context(os.fdopen(writer, "wb", buffering=0))

    def drain(self, over: threading.Event) -> None:
        """Read and forget what is written until its end, or until `over`."""
        poller = select.poll()
        poller.register(self.reader, select.POLLIN)
        while not over.is_set():
            if poller.poll(1000 * LOOK_SECONDS) and not self.reader.read(PIECE):
                return


class Idleness:
    """Notices that programs neither run nor wait for a processor."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._idle, self._looked, self._activity = 0.0, time.monotonic(), 0.0

    def lasts(self, workers: Sequence[Worker]) -> bool:
        """Whether the programs of these workers have been idle for so long; false if the kernel doesn't report it."""
        now = time.monotonic()
        # If nobody looked for longer, this process had no processor, and the programs may wait for what it does.
        passed, self._looked = min(now - self._looked, 2 * LOOK_SECONDS), now
        found = [worker.scheduled() for worker in workers]
        known = [sum(map(sum, each)) for each in found if each is not None]
        if len(known) < len(found) or abs(sum(known) - self._activity) > IDLE_SHARE * self.seconds:
            self._idle, self._activity = 0.0, sum(known)
        else:
            self._idle += passed
        return self._idle >= self.seconds


def run_dialogue(sessions: list[Session], data: bytes, dialogue: Dialogue) -> tuple[list[Execution], str]:
    """Run two compiled programs, the left one with `data` as its stdin; return also which side ended first."""
    idleness, over = Idleness(dialogue.idle_seconds), threading.Event()
    first, idle = "", list[int]()
    with contextlib.ExitStack() as closing:
        from_left, from_right = written = [Pipe(closing), Pipe(closing)]
        wirings = (
            Wiring(beside=(from_right.reader.fileno(), from_left.writer.fileno())),
            Wiring(streams=(from_left.reader.fileno(), from_right.writer.fileno())),
        )
        threads = closing.enter_context(ThreadPoolExecutor(4, thread_name_prefix="pair"))
        closing.callback(over.set)
        executions = [
            threads.submit(session.execute_linked, data, wiring, other.worker)
            for session, other, wiring in zip(sessions, reversed(sessions), wirings, strict=True)
        ]
        running = dict(enumerate(executions))
        while running:
            wait(running.values(), LOOK_SECONDS, FIRST_COMPLETED)
            for place in [place for place, execution in running.items() if execution.done()]:
                del running[place]
                first = first or SIDES[place]
                # Sides that are ended for idleness mustn't find an end of their input, or they may end by themselves.
                if not idle:
                    written[place].writer.close()
                threads.submit(written[1 - place].drain, over)
            workers = [sessions[place].worker for place in running]
            if not idle and running and idleness.lasts(workers):
                idle, first = list(running), first or SIDES[1]
            # Again and again: a test may only just be starting.
            if idle or (0 not in running and executions[0].result().exit_code not in dialogue.accepting):
                for worker in workers:
                    worker.end_test()
    ended = [each.result() for each in executions]
    for place in idle:
        ended[place] = idled(ended[place], dialogue.idle_seconds)
    return ended, first


def idled(execution: Execution, seconds: float) -> Execution:
    """Return the execution of a program that was ended because it was idle."""
    if execution.finished:
        return execution
    stderr = f"{execution.stderr}\n{IDLE.format(seconds)}".lstrip()
    return replace(execution, status=Status.TIME_LIMIT_EXCEEDED, stderr=stderr)
