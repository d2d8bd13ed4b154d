"""What a dialect asks the server for."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from fastapi import Request

from alpha_codium.serve.executing import Executor
from alpha_codium.serve.requests import JudgeAnswer, JudgeRequest


@dataclass(frozen=True, slots=True)
class Server:
    """The server that a dialect translates for.

    `judge` judges a program within the server's load; the work is cancelled if the client leaves. `executor` executes
    programs without tests in the same way. `languages` are those that the server runs, with what is known of their
    versions. It runs `workers` programs at a time.
    """

    judge: Callable[[Request, JudgeRequest], Awaitable[JudgeAnswer]]
    executor: Executor
    languages: Mapping[str, str]
    workers: int = 1
