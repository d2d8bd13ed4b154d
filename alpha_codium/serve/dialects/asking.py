"""What a dialect asks the server for."""

from collections.abc import Awaitable, Callable

from fastapi import Request

from alpha_codium.serve.requests import JudgeAnswer, JudgeRequest

# Judges a program within the server's load; the work is cancelled if the client leaves.
Ask = Callable[[Request, JudgeRequest], Awaitable[JudgeAnswer]]
