"""What holds for all tests."""

import os
import secrets
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings
from loguru import logger

# Everybody gets the same examples, so that a first run and CI don't fail by chance; `make test-slow` draws random ones.
# Machines are shared: no test of a property fails because an example took long.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("same")
# This file takes longest: it begins first, so that no process is left alone with it in the end.
LONGEST = "test_traffic.py"


def pytest_configure() -> None:
    """Take Ctrl-C as a program does that is started by hand, and make clusters of Ray ask for a token."""
    # The background jobs of a shell ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Ray listens on all addresses, and reads these when it is imported.
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest file first; the order within a file stays."""
    items.sort(key=lambda item: item.path.name != LONGEST)


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """The warnings of the test, as they come."""
    said: list[str] = []
    number = logger.add(lambda line: said.append(str(line)), level="WARNING", format="{message}")
    yield said
    logger.remove(number)
