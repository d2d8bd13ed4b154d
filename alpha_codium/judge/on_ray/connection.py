"""The connection of this process to a Ray cluster."""

import os
import socket
import threading
from concurrent.futures import Future
from typing import Any

from alpha_codium.errors import UserError


class Connection(threading.Thread):
    """The connection of this process to a cluster; `opened` has the error if there is none.

    A thread of its own, since the processes of a cluster that is started here end with the thread that started them.
    """

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True, name="gencode-ray")
        self.address = address or os.environ.get("RAY_ADDRESS", "") or "local"
        self.opened: Future[None] = Future()
        self._closing = threading.Event()
        self.start()

    def run(self) -> None:
        """Connect, and stay connected until it is closed."""
        try:
            import ray

            shared = ray.is_initialized()
            if not shared:
                self._connect()
        except ImportError:
            self.opened.set_exception(UserError("executor 'ray' needs Ray: pip install -e '.[ray]'"))
        except UserError as error:
            self.opened.set_exception(error)
        except Exception as error:  # noqa: BLE001 - Ray raises a plain Exception if a node starts too slowly
            here = "; start one yourself, and name it as `code_tester.ray_address`" if self.address == "local" else ""
            self.opened.set_exception(UserError(f"the Ray cluster at {self.address} can't be used: {error}{here}"))
        else:
            # Ray prints why workers are lost on stdout, where results go; the executor reports what was lost.
            ray._private.worker.print_to_stdstream = lambda *_what, **_more: None  # type: ignore[attr-defined]
            self.opened.set_result(None)
            self._closing.wait()
            if not shared:
                ray.shutdown()

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        self._closing.set()
        self.join()

    def _connect(self) -> None:
        import ray

        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address == "local":
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            ray.init("local", include_dashboard=False, **options)
        else:
            _refuse_silent(self.address)
            ray.init(self.address, **options)


def _refuse_silent(address: str) -> None:
    """Raise UserError if nothing listens at an address HOST:PORT, for which Ray would wait long and end the process."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise UserError(f"`code_tester.ray_address`, or RAY_ADDRESS, {address!r}: must be HOST:PORT of a head node")
    try:
        socket.create_connection((host, int(port)), 5).close()
    except OSError as error:
        raise UserError(f"the Ray cluster at {address} can't be reached: {error.strerror or error}") from error
