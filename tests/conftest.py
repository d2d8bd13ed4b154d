"""What holds for all tests."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings
from loguru import logger

# Machines are shared: no test of a property fails because an example took long.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


def pytest_configure() -> None:
    """Take Ctrl-C as a program does that is started by hand: the background jobs of a shell ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """The warnings of the test, as they come."""
    said: list[str] = []
    number = logger.add(lambda line: said.append(str(line)), level="WARNING", format="{message}")
    yield said
    logger.remove(number)
