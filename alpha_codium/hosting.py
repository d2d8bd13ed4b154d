"""Serving an ASGI application: addresses, tokens, sizes of requests, and an orderly end. Needs uvicorn.

Without a token a server listens on loopback only, so that no other machine can use it by accident.
"""

import asyncio
import hmac
import json
import signal
import socket
from collections.abc import Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import Any

from alpha_codium.errors import UserError

NEEDS = "a server needs packages: pip install fastapi prometheus-client uvicorn"
# Seconds for the requests in progress to end after SIGTERM.
GRACE_SECONDS = 20
Message = MutableMapping[str, Any]
Application = Callable[..., Any]


class TooLarge(Exception):
    """A request's body is larger than the server takes."""


class Guarded:
    """An application behind two checks: of the token, if there is one, and of the size of the body.

    Requests to the paths in `public` need no token.
    """

    def __init__(self, app: Application, *, token: str, largest: int, public: Collection[str] = ()) -> None:
        self.app, self.token, self.largest, self.public = app, token, largest, public

    async def __call__(self, scope: Message, receive: Application, send: Application) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        given, expected = headers.get(b"authorization", b""), f"Bearer {self.token}".encode()
        if self.token and scope["path"] not in self.public and not hmac.compare_digest(given, expected):
            await _refuse(send, 401, "this server needs the header 'Authorization: Bearer TOKEN'")
            return
        await self._limited(scope, headers.get(b"content-length", b"0"), receive, send)

    async def _limited(self, scope: Message, declared: bytes, receive: Application, send: Application) -> None:
        too_large = f"the request is larger than {self.largest} bytes"
        if not declared.isdigit() or int(declared) > self.largest:
            await _refuse(send, 413, too_large)
            return
        size, started = 0, False

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.largest:
                raise TooLarge
            return message

        async def send_noted(message: Message) -> None:
            nonlocal started
            # Frameworks answer exceptions themselves, with a status that blames the server.
            if started or size <= self.largest:
                started = True
                await send(message)

        with suppress(TooLarge):
            await self.app(scope, receive_limited, send_noted)
        if size > self.largest and not started:
            await _refuse(send, 413, too_large)


async def _refuse(send: Application, status: int, reason: str) -> None:
    body = json.dumps({"detail": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def host_app(
    app: Application,
    host: str,
    port: int,
    *,
    on_start: Callable[[str], None],
    on_stop: Callable[[], None] = lambda: None,
    grace_seconds: int = GRACE_SECONDS,
) -> None:
    """Serve an application until SIGTERM or SIGINT; `on_start` gets the address, `on_stop` is called at the signal.

    Requests in progress have `grace_seconds` to end. Raises UserError if the address can't be used, or uvicorn is
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

            def stop(number: int) -> None:
                on_stop()
                self.handle_exit(number, None)

            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
            yield

    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=grace_seconds)
    with listener(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        on_start(f"http://{shown}:{listening.getsockname()[1]}")
        await Server(config).serve(sockets=[listening])


def listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises UserError if it can't."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise UserError(f"cannot listen on {host}, port {port}: {error.strerror}") from error


def require_token(host: str, token: str, remedy: str) -> None:
    """Raise UserError with the remedy if other machines can reach the address and there is no token."""
    if not token and not is_loopback(host):
        raise UserError(f"{host} can be reached by others: {remedy}")


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
