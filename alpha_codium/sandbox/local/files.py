"""Files in memory that pass between host and jail: inputs in, outputs out."""

import os


def input_file(data: bytes) -> int:
    """A descriptor to read `data` from its beginning; whoever has it can't write."""
    fd = os.memfd_create("stdin")
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(fd)


def output_file(name: str) -> int:
    """A descriptor of an empty file."""
    return os.memfd_create(name)


def size_of(fd: int) -> int:
    """The file's size, which its writer may have made larger than what it holds."""
    return os.fstat(fd).st_size


def beginning(fd: int, size: int, most: int) -> bytes:
    """The first bytes of a file of that size, at most so many."""
    return os.pread(fd, min(size, most), 0) if size else b""


def end(fd: int, size: int, most: int) -> bytes:
    """The last bytes of a file of that size, at most so many."""
    return os.pread(fd, most, max(0, size - most)) if size else b""


def last_words(fd: int) -> str:
    """The end of what was said in a file, for people to read."""
    return end(fd, size_of(fd), 2000).decode("utf-8", "replace").strip()
