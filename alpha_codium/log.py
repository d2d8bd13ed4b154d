"""Logs: to stderr, short, and without secrets."""

import os
import re
import sys
from collections.abc import Iterable

SECRET_NAME = re.compile(r"(API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
HIDDEN = "[secret]"
LEVELS = {-2: "ERROR", -1: "WARNING", 0: "INFO", 1: "DEBUG", 2: "TRACE"}


def secrets_of(environment: Iterable[tuple[str, str]] | None = None) -> list[str]:
    """The values of environment variables that bear a secret's name, longest first."""
    pairs = os.environ.items() if environment is None else environment
    return sorted({v for k, v in pairs if SECRET_NAME.search(k) and len(v) >= 8}, key=len, reverse=True)


def redact(text: str) -> str:
    """The text without the secrets of the environment and without bearer tokens."""
    for secret in secrets_of():
        text = text.replace(secret, HIDDEN)
    return re.sub(r"(?i)\b(bearer\s+)\S+", rf"\1{HIDDEN}", text)


def setup_logging(verbosity: int = 0, short: bool = False) -> None:
    """Send log lines to stderr; `verbosity` from -2 (errors only) to 2 (all); `short` leaves out time and place."""
    from loguru import logger

    level = LEVELS[max(-2, min(2, verbosity))]
    where = "" if short else "<dim>{time:HH:mm:ss} {name}</dim> "
    logger.remove()
    form = where + "<level>{message}</level>"
    # `diagnose` would show the values of variables in tracebacks, keys among them.
    logger.add(_write, level=level, format=form, colorize=sys.stderr.isatty(), diagnose=False)


def _write(line: str) -> None:
    # Looked up for each line: a progress display takes stderr over later.
    sys.stderr.write(redact(line))
