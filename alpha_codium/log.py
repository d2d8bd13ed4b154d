"""Logging to stderr: short lines without secrets and without control characters."""

import os
import re
import sys
from collections.abc import Callable

SECRET_NAME = re.compile(r"(API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
HIDDEN = "[secret]"
# Control characters except line ends and tabs, those that change the text direction, and lone surrogates.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# The colours that loguru writes.
COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
LEVELS = {-2: "ERROR", -1: "WARNING", 0: "INFO", 1: "DEBUG", 2: "TRACE"}


def redact(text: str) -> str:
    """Return the text without the values of environment variables named like secrets, and without bearer tokens."""
    secrets = {value for name, value in os.environ.items() if SECRET_NAME.search(name) and len(value) >= 8}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return re.sub(r"(?i)\b(bearer\s+)\S+", rf"\1{HIDDEN}", text)


def visible(text: str) -> str:
    r"""Return untrusted text with control characters as escapes, such as `\x1b`, except line ends and tabs."""
    return CONTROLS.sub(lambda found: _escape(ord(found[0])), text)


def one_line(text: str) -> str:
    r"""Return untrusted text as `visible` does, with line ends as `\n`: a name can't make a line of its own."""
    return visible(text).replace("\n", "\\n")


def _escape(number: int) -> str:
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def setup_logging(verbosity: int = 0, short: bool = False, said: Callable[[str], str] = str) -> None:
    """Log to stderr; `verbosity` is from -2 (errors only) to 2 (everything); `short` omits time and module.

    `said` turns messages into what is shown.
    """
    from loguru import logger

    level = LEVELS[max(-2, min(2, verbosity))]
    where = "" if short else "<dim>{time:HH:mm:ss} {name}</dim> "
    logger.remove()
    logger.configure(patcher=lambda record: record.update(message=one_line(said(record["message"]))))
    form = where + "<level>{message}</level>"
    # `diagnose` would show the values of variables in tracebacks, keys among them.
    colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    logger.add(_write, level=level, format=form, colorize=colours, diagnose=False)


def _write(line: str) -> None:
    # Tracebacks come after the message; the colours are loguru's own.
    pieces = COLOURS.split(redact(line)) if sys.stderr.isatty() else [redact(line)]
    # stderr is looked up for each line, since a progress display may replace it later.
    sys.stderr.write("".join(piece if place % 2 else visible(piece) for place, piece in enumerate(pieces)))
