"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """Take Ctrl-C as a program does that is started by hand: the background jobs of a shell ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
