"""Serving an ASGI application: addresses, tokens, sizes of requests, and an orderly end. Needs uvicorn.

Without a token a server listens on loopback only, so that no other machine can use it by accident.
"""

import asyncio
import hmac
import json
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import Any

from alpha_codium.errors import UserError

NEEDS = "a server needs packages: pip install fastapi prometheus-client uvicorn"
# Seconds for the work in progress to end after SIGTERM, and then for answers to be sent.
GRACE_SECONDS, SENDING_SECONDS = 20.0, 2
# Methods of requests that may bring work.
WORKING = ("POST", "PUT")
# An idle connection is kept longer than clients keep theirs: a request on one that is just being closed would be lost.
KEPT_SECONDS = 75
# After so many seconds in which a client takes nothing of an answer, or is gone, its connection is closed.
STALLED_SECONDS = 60
# A body must bring so many bytes in so many seconds, or come to its end: those that wait hold memory.
LEAST_BYTES, LEAST_SECONDS = 64 << 10, 15
# Bytes of the body of a request that is refused.
MOST_SKIPPED = 8 << 20
# Descriptors that aren't for connections.
OTHER_DESCRIPTORS, MOST_DESCRIPTORS = 400, 1 << 17
Message = MutableMapping[str, Any]
Application = Callable[..., Any]


class Refused(Exception):
    """A request isn't handled; the client is told the `status`, and to try again in `retry_after` seconds unless 0.

    `closes`: its connection is closed.
    """

    def __init__(self, status: int, reason: str, retry_after: int = 0, *, closes: bool = False) -> None:
        super().__init__(reason)
        self.status, self.retry_after, self.closes = status, retry_after, closes


class Stopping(Refused):
    """The server is about to stop, and accepts no more work."""

    def __init__(self, *, closes: bool = False) -> None:
        super().__init__(503, "the server is stopping: try another one", retry_after=1, closes=closes)


class Pace:
    """The time that a body has for its next bytes."""

    def __init__(self) -> None:
        self.end, self.size = time.monotonic() + LEAST_SECONDS, 0

    def left(self, size: int) -> float:
        """Return the seconds in which more must come, now that there are `size` bytes."""
        if size - self.size >= LEAST_BYTES:
            self.end, self.size = time.monotonic() + LEAST_SECONDS, size
        return max(0.0, self.end - time.monotonic())


class Guarded:
    """An application behind checks: of the token, if there is one, of `admit`, and of the sizes of bodies.

    Requests to the paths in `public` need no token. `admit` gets the method of a request before its body is read, and
    may raise Refused. A body may have `largest` bytes, and those of all requests in progress together `most_held`. One
    that comes too slowly is refused, and its connection closed. After `end`, requests that bring work are refused.
    """

    def __init__(
        self,
        app: Application,
        *,
        token: str,
        largest: int,
        most_held: int = 0,
        public: Collection[str] = (),
        admit: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.app, self.token, self.public, self.admit = app, token, public, admit
        self.largest, self.most_held, self._held = largest, most_held or sys.maxsize, 0
        self._ending, self._running = False, set[asyncio.Task[Any]]()

    async def end(self, is_busy: Callable[[], bool]) -> None:
        """Wait for the requests in progress, and while other work is; after `GRACE_SECONDS` refuse what is left."""
        self._ending, last = True, time.monotonic() + GRACE_SECONDS
        while (self._running or is_busy()) and time.monotonic() < last:  # noqa: ASYNC110 - others count their own work
            await asyncio.sleep(0.05)
        for task in self._running:
            task.cancel()

    async def __call__(self, scope: Message, receive: Application, send: Application) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        given, expected = headers.get(b"authorization", b""), f"Bearer {self.token}".encode()
        if self.token and scope["path"] not in self.public and not hmac.compare_digest(given, expected):
            why = "has another token" if given else "needs the header 'Authorization: Bearer TOKEN'"
            refusal = Refused(401, f"this server {why}")
            await _refuse(scope, receive, send, refusal)
            return
        declared = headers.get(b"content-length", b"0")
        try:
            if self._ending and scope["method"] in WORKING:
                raise Stopping
            self.admit(scope["method"])
            if not declared.isdigit() or int(declared) > self.largest:
                raise self._too_large()
        except Refused as refusal:
            await _refuse(scope, receive, send, refusal)
        else:
            await self._limited(scope, receive, send)

    async def _limited(self, scope: Message, receive: Application, send: Application) -> None:
        size, unread, started = 0, True, False
        refusal: Refused | None = None
        pace, task = Pace(), asyncio.current_task()
        assert task is not None
        self._running.add(task)

        async def receive_limited() -> Message:
            nonlocal size, unread, refusal
            if not unread:
                return await receive()  # until the client leaves
            try:
                async with asyncio.timeout(pace.left(size)):
                    message = await receive()
            except TimeoutError:
                unread, refusal = False, Refused(408, "the body of the request comes too slowly", closes=True)
                raise refusal from None
            unread = message.get("more_body", False)
            added = len(message.get("body", b""))
            size, self._held = size + added, self._held + added
            if size > self.largest:
                refusal = self._too_large()
            elif added and size < self._held > self.most_held:
                refusal = Refused(429, "the server holds too many requests: try again in 1 s", retry_after=1)
            if refusal is not None:
                raise refusal
            return message

        async def send_noted(message: Message) -> None:
            nonlocal started
            # Frameworks answer exceptions themselves, with a status that blames the server.
            if started or refusal is None:
                started = True
                await send(message)

        try:
            with suppress(Refused):
                await self.app(scope, receive_limited, send_noted)
        except asyncio.CancelledError:
            if not self._ending:
                raise
            refusal = Stopping(closes=True)
        finally:
            self._held -= size
            self._running.discard(task)
        if refusal is not None and not started:
            await _refuse(scope, receive, send, refusal, unread=unread)

    def _too_large(self) -> Refused:
        return Refused(413, f"the request is larger than {self.largest} bytes")


async def _refuse(
    scope: Message, receive: Application, send: Application, refusal: Refused, *, unread: bool = True
) -> None:
    """Answer a request that is refused.

    What is unread of its body is read first, for many clients take no answer before they have sent all; if it is
    large, the connection is closed instead.
    """
    body = json.dumps({"detail": str(refusal)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.retry_after:
        headers.append((b"retry-after", str(refusal.retry_after).encode()))
    if refusal.closes or (unread and not await _skip_body(scope, receive)):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _skip_body(scope: Message, receive: Application) -> bool:
    """Read what is left of a body; return whether it came to its end."""
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    left = MOST_SKIPPED if declared.isdigit() and int(declared) <= MOST_SKIPPED else 0
    while left > 0:
        message = await receive()
        if not message.get("more_body"):
            return True
        left -= len(message.get("body", b""))
    return False


async def host_app(
    app: Guarded,
    host: str,
    port: int,
    *,
    on_start: Callable[[str], None],
    on_stop: Callable[[], None] = lambda: None,
    is_busy: Callable[[], bool] = lambda: False,
) -> None:
    """Serve an application until SIGTERM or SIGINT; `on_start` gets the address, `on_stop` is called at the signal.

    Requests in progress, and what else `is_busy`, have `GRACE_SECONDS` to end; a second signal ends them. Until then
    requests are answered, but no more work is accepted. Raises UserError if the address can't be used, or uvicorn is
    missing.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise UserError(NEEDS) from error

    class Server(uvicorn.Server):
        """Ends with exit status 0 after a signal, which uvicorn would raise again."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Stop at a signal."""
            ending: list[asyncio.Task[None]] = []

            async def end(number: int) -> None:
                try:
                    await app.end(is_busy)
                finally:
                    self.handle_exit(number, None)

            def stop(number: int) -> None:
                on_stop()
                if ending:
                    self.handle_exit(number, None)
                else:
                    ending.append(asyncio.ensure_future(end(number)))

            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
            yield

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=SENDING_SECONDS,
        timeout_keep_alive=KEPT_SECONDS,
        limit_concurrency=most_connections(),
    )
    with listener(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        on_start(f"http://{shown}:{listening.getsockname()[1]}")
        await Server(config).serve(sockets=[listening])


def listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises UserError if it can't."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UserError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    # Connections inherit these.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, STALLED_SECONDS)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * STALLED_SECONDS)
    # The head and the body of an answer are written apart: without this, the body waits for the client's delayed ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def most_connections() -> int:
    """Raise the limit of open files as far as allowed; return how many connections may have requests at a time.

    The rest of the descriptors is for the sandbox, which can't run programs without them. Beyond that number a request
    is answered with status 503.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, MOST_DESCRIPTORS) if hard != resource.RLIM_INFINITY else MOST_DESCRIPTORS
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(1, most - OTHER_DESCRIPTORS)


def require_token(host: str, token: str, remedy: str) -> None:
    """Raise UserError with the remedy if other machines can reach the address and there is no token."""
    try:
        is_reached = not ip_address(host).is_loopback
    except ValueError:
        is_reached = host != "localhost"
    if is_reached and not token:
        raise UserError(f"{host or 'every address'} can be reached by others: {remedy}")
