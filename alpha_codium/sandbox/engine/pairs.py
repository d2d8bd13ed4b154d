"""Running two programs at once, each in a jail of its own, with a channel between them.

Both hold the lock together: they wait for each other, so neither may have to wait for the lock.
"""

import socket
from concurrent.futures import Future, ThreadPoolExecutor, wait

from alpha_codium.program import PairJob
from alpha_codium.sandbox.engine.cancellation import Cancellation
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock, is_loaded
from alpha_codium.sandbox.engine.session import Session
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, PairReport, Report, Status

# How long the right side may take to end by itself after the left one has ended.
LEAVE_SECONDS = 0.5


def run_pair(
    workers: tuple[Worker, Worker], lock: ExclusiveLock, cancellation: Cancellation, job: PairJob
) -> PairReport:
    """Compile both programs, then run both if both compiled; raises Cancelled.

    As with a single program, they run again if a worker was lost, and alone if the time was a close call.
    """
    sides = (job.left, job.right)
    sessions = [
        Session(worker, lock, cancellation, side, job.limits) for worker, side in zip(workers, sides, strict=True)
    ]
    inputs = [side.input.encode("utf-8", "replace") for side in sides]

    def interrupt() -> None:
        for worker in workers:
            worker.interrupt()

    executed: list[Execution] = []
    try:
        with cancellation.calling(interrupt):
            compiled = [session.compile() for session in sessions]
            if all(compilation.finished for compilation in compiled):
                with lock.shared():
                    executed = run_linked(sessions, inputs)
                if any(execution.status is Status.INTERNAL_ERROR for execution in executed):
                    with lock.shared():
                        executed = run_linked(sessions, inputs)
                elif any(s.is_close_call(each) for s, each in zip(sessions, executed, strict=True)) and is_loaded(lock):
                    with lock.exclusive():
                        executed = run_linked(sessions, inputs)
    finally:
        for session in sessions:
            session.end()
    return PairReport(*(Report(each, tuple(executed[i : i + 1])) for i, each in enumerate(compiled)))


def run_linked(sessions: list[Session], inputs: list[bytes]) -> list[Execution]:
    """Run two compiled programs, each with one end of a new channel."""
    ends = socket.socketpair()
    with ThreadPoolExecutor(2, thread_name_prefix="pair") as threads:
        running: list[Future[Execution]] = [
            threads.submit(session.execute_linked, data, end.detach())
            for session, data, end in zip(sessions, inputs, ends, strict=True)
        ]
        wait(running[:1])
        wait(running, LEAVE_SECONDS)
        sessions[1].worker.end_test()
        return [each.result() for each in running]
