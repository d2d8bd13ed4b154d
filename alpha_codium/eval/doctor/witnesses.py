"""What only the host knows while the kit runs: whoever prints it has broken out.

The answer is new for each run. It stands in a file of the host's, behind a port on loopback, in the environment, and
in the memory of this process, which holds the tests. None of that may be reached from within a sandbox.
"""

import contextlib
import os
import secrets
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

ANSWER = "gencode-doctor-"
VARIABLE = "GENCODE_DOCTOR_ANSWER"
SHARED_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp")  # noqa: S108 - what programs left there is removed


@contextlib.contextmanager
def witnesses() -> Iterator[dict[str, str]]:
    """The secrets by name, `answer, file, port, pid, token`, while all that bears witness is there.

    To be entered before the sandbox is opened: its processes must not inherit the environment.
    """
    answer, token = ANSWER + secrets.token_hex(16), f".doctor-{secrets.token_hex(8)}"
    with tempfile.NamedTemporaryFile("w", prefix="doctor-") as file, _answering(answer) as port:
        file.write(answer)
        file.flush()
        os.environ[VARIABLE] = answer
        try:
            yield {"answer": answer, "file": file.name, "port": str(port), "pid": str(os.getpid()), "token": token}
        finally:
            os.environ.pop(VARIABLE, None)
            for folder in SHARED_FOLDERS:
                Path(folder, token).unlink(missing_ok=True)


@contextlib.contextmanager
def _answering(answer: str) -> Iterator[int]:
    """The port of a server that tells the answer to whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_tell_all, args=(server, answer.encode()), daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            # Wakes the thread from its accept.
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _tell_all(server: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.sendall(answer)
