"""In-memory files for inputs and outputs, shared between host and jail."""

import contextlib
import fcntl
import os
from collections.abc import Iterator

SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
# The most bytes of messages that are shown.
LAST_WORDS = 2000


def input_file(data: bytes) -> int:
    """Return a descriptor of a sealed file with `data`."""
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        done = os.pwrite(fd, data, 0) if data else 0
        while done < len(data):
            done += os.pwrite(fd, memoryview(data)[done:], done)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    except BaseException:
        os.close(fd)
        raise
    return fd


@contextlib.contextmanager
def closing(fds: list[int]) -> Iterator[list[int]]:
    """Close all descriptors in a list at the end."""
    try:
        yield fds
    finally:
        for fd in fds:
            os.close(fd)


def output_file(name: str) -> int:
    """Return a descriptor of an empty file."""
    return os.memfd_create(name)


def size_of(fd: int) -> int:
    """Return the file's size, which its writer may have made larger than its contents."""
    return os.fstat(fd).st_size


def beginning(fd: int, size: int, most: int) -> bytes:
    """Return the first bytes of a file of that size, at most `most`."""
    return os.pread(fd, min(size, most), 0) if size else b""


def end(fd: int, size: int, most: int) -> bytes:
    """Return the last bytes of a file of that size, at most `most`."""
    return os.pread(fd, most, max(0, size - most)) if size else b""


def last_words(fd: int) -> str:
    """Return the end of a file of messages, as text."""
    return text_of(end(fd, size_of(fd), LAST_WORDS))


def text_of(messages: bytes) -> str:
    """Return the end of messages, as text."""
    return messages[-LAST_WORDS:].decode("utf-8", "replace").strip()
