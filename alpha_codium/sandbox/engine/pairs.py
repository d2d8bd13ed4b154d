"""Two programs at once, each in a jail of its own, with a channel between them that nobody else has.

Both count as one run beside others: they wait for each other, so neither may have to wait for a turn of its own.
"""

import socket
from concurrent.futures import Future, ThreadPoolExecutor, wait

from alpha_codium.program import PairJob
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock, is_loaded
from alpha_codium.sandbox.engine.session import Session
from alpha_codium.sandbox.engine.turn import Turn
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, PairReport, Report, Status

# What the right side has to end by itself when the left one has ended: nobody will ask it anything more.
LEAVE_SECONDS = 0.5


def run_pair(workers: tuple[Worker, Worker], lock: ExclusiveLock, turn: Turn, job: PairJob) -> PairReport:
    """Compile both, then run both if both compiled; raises CalledOff.

    A pair is run again where a worker was lost, and alone where its time was a close call, as a single program is.
    """
    sides = (job.left, job.right)
    sessions = [Session(worker, lock, turn, side, job.limits) for worker, side in zip(workers, sides, strict=True)]
    inputs = [side.input.encode("utf-8", "replace") for side in sides]

    def interrupt() -> None:
        for worker in workers:
            worker.interrupt()

    executed: list[Execution] = []
    try:
        with turn.of(interrupt):
            compiled = [session.compile() for session in sessions]
            if all(compilation.status is Status.FINISHED for compilation in compiled):
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
    reports = [Report(each, tuple(executed[i : i + 1])) for i, each in enumerate(compiled)]
    return PairReport(*reports)


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
