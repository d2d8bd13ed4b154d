"""Writing files below a folder, and removing folders that a hostile program filled.

Such folders may be nested deeper than the longest path, unreadable, and hold links. They are removed by the host, and
by the zygote of a jail without namespaces; with namespaces a whole file system is unmounted.
"""

from __future__ import annotations

import os
import stat

from alpha_codium.sandbox.engine.inside import wire

FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def empty(folder: str) -> None:
    """Remove all that is in a folder; raises OSError."""
    base = os.open(folder, os.O_RDONLY | FOLDER)
    try:
        for entry in os.listdir(base):
            discard(entry, base)
    finally:
        os.close(base)


def discard(name: str, base: int) -> None:
    """Remove the file or folder `name` of the open folder `base`; raises OSError."""
    if is_folder(name, base):
        remove(name, base)
    else:
        os.unlink(name, dir_fd=base)


def remove(name: str, base: int) -> None:
    """Remove the folder `name` of the open folder `base`; raises OSError.

    Its subfolders are moved up into `base` first, so that no path is too long, and few folders are open at a time.
    """
    todo, moved = [name], 0
    while todo:
        each = todo.pop()
        fd = open_folder(each, base)
        try:
            for entry in os.listdir(fd):
                if is_folder(entry, fd):
                    # A folder that isn't writable can't be moved.
                    os.close(open_folder(entry, fd))
                    moved += 1
                    todo.append("moved-%d-%d" % (os.getpid(), moved))
                    os.rename(entry, todo[-1], src_dir_fd=fd, dst_dir_fd=base)
                else:
                    os.unlink(entry, dir_fd=fd)
        finally:
            os.close(fd)
        os.rmdir(each, dir_fd=base)


def is_folder(name: str, base: int) -> bool:
    """Whether that is a folder, and not a link to one."""
    return stat.S_ISDIR(os.lstat(name, dir_fd=base).st_mode)


def open_folder(name: str, base: int) -> int:
    """Make a folder readable for its owner, and return a descriptor to list it."""
    path = os.open(name, os.O_PATH | FOLDER, dir_fd=base)
    # Not by its name, since a link may have taken its place.
    os.chmod("/proc/self/fd/%d" % path, 0o700)
    os.close(path)
    return os.open(name, os.O_RDONLY | FOLDER, dir_fd=base)


def write(path: str, data: bytes, folder: int) -> None:
    """Write a file at a relative path below the open `folder`, and make the folders on the way to it."""
    *folders, _ = path.split("/")
    for count in range(len(folders)):
        try:
            os.mkdir("/".join(folders[: count + 1]), 0o755, dir_fd=folder)
        except FileExistsError:
            pass
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=folder)
    wire.write_all(fd, data)
    os.close(fd)
