"""Text of others on stdout: piped it goes through as it is, a terminal is shown its control characters."""

import os
import sys

import click

from alpha_codium.errors import UserError
from alpha_codium.log import visible


def say(text: str) -> None:
    """A line on stdout that may hold names and texts of problems and models."""
    click.echo(visible(text) if _is_terminal() else text)


def write_out(text: str) -> None:
    """Text of a model on stdout: piped byte for byte, in UTF-8, whatever the locale's encoding is.

    Raises UserError where stdout is closed, or its disk full.
    """
    if sys.stdout is None:
        raise UserError("stdout is closed: there is nowhere to write the answer")
    if _is_terminal():
        text = visible(text if text.endswith("\n") else f"{text}\n")
    if (raw := getattr(sys.stdout, "buffer", None)) is None:
        sys.stdout.write(text)
        return
    try:
        sys.stdout.flush()
        raw.write(text.encode("utf-8", "replace"))
        raw.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        forget_unwritten()
        raise UserError(f"the answer can't be written to stdout: {error.strerror}") from error


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def forget_unwritten() -> None:
    """Let what stdout holds and can't write go nowhere: else Python tries again at its end, and tells of that."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
