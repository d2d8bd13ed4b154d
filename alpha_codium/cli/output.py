"""Writing untrusted text to stdout: unchanged into a pipe, with visible control characters on a terminal."""

import os
import re
import shutil
import sys
from collections.abc import Sequence

import click

from alpha_codium.errors import UserError
from alpha_codium.log import visible

# The colours of verdicts, each at the beginning of an indented line. None leaves the choice to click.
VERDICT = re.compile(r"^  (accepted|[a-z]+_(?:answer|error|exceeded|violation))\b", re.MULTILINE)
COLOR = False if os.environ.get("NO_COLOR") else None
# Between the columns of a table; and how narrow a column may become to make the table fit the terminal.
SPACE, LEAST_WIDTH = "  ", 8


def say(text: str) -> None:
    """Write a line of untrusted text to stdout; on a terminal, verdicts are in colour."""
    if _is_terminal():
        text = VERDICT.sub(lambda found: click.style(found[0], "green" if "acc" in found[0] else "red"), visible(text))
    click.echo(text, color=COLOR)


def say_error(message: str) -> None:
    """Write the line of an error to stderr."""
    click.echo(click.style("error:", "red", bold=True) + visible(f" {message}"), err=True, color=COLOR)


def write_out(text: str) -> None:
    """Write a model's text to stdout: into a pipe byte for byte, in UTF-8, whatever the locale is.

    Raises UserError where stdout is closed, or its disk full.
    """
    if sys.stdout is None:
        raise UserError("cannot write the answer: stdout is closed")
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
        raise UserError(f"cannot write the answer to stdout: {error.strerror}") from error


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def forget_unwritten() -> None:
    """Discard what stdout has buffered and can't write, or Python would try again when it exits, and report that."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows: separated by tabs into a pipe, whole; in columns on a terminal, cut off to fit its width."""
    if not sys.stdout.isatty():
        lines = ["\t".join(row) for row in rows]
    else:
        rows = [[visible(cell) for cell in row] for row in rows]
        widths = _widths(rows, shutil.get_terminal_size().columns)
        lines = [SPACE.join(map(_cell, row, widths)).rstrip() for row in rows]
    for line in lines:
        click.echo(line)


def _widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the widths of columns; the widest are made narrower, down to a few characters, until all fit the room."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    while sum(widths) + len(SPACE) * (len(widths) - 1) > room and max(widths) > LEAST_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else f"{text[: width - 1]}…"
