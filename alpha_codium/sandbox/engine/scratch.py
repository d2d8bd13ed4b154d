"""The folders in which programs may write: detection of changes, and folders on the host for jails without namespaces.

The process that makes a folder keeps it locked until it ends. A folder without a lock is stale, and is removed at the
next start. If gencode runs as root, each folder belongs to an otherwise unused user id.
"""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.sandbox.engine.inside import trees

PREFIX = "gencode-walls-"
# A range of user ids that aren't used otherwise.
FIRST_USER, USERS = 0x7000_0000, 0x0F00_0000


@dataclass(frozen=True, slots=True)
class Scratch:
    """A folder and the descriptor that holds its lock."""

    path: str
    lock: int

    def remove(self) -> None:
        """Remove the folder and its contents; what can't be removed now is left to `remove_stale`."""
        with contextlib.suppress(OSError):
            trees.empty(self.path)
            Path(self.path).rmdir()
        os.close(self.lock)


def make_scratch(user: int) -> Scratch:
    """Make a folder that belongs to `user`, or to us if that is 0; raises OSError."""
    path = tempfile.mkdtemp(prefix=PREFIX)
    scratch = Scratch(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY))
    try:
        fcntl.flock(scratch.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if user:
            os.chown(path, user, user)
    except OSError:
        scratch.remove()
        raise
    return scratch


def remove_stale() -> None:
    """Remove the folders of processes that were killed."""
    for path in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                # Another user may have made a folder of that name.
                if _is_ours(os.fstat(lock).st_uid):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    trees.empty(str(path))
                    path.rmdir()
            finally:
                os.close(lock)


def _is_ours(user: int) -> bool:
    return user == os.geteuid() or (os.geteuid() == 0 and FIRST_USER <= user < FIRST_USER + USERS)


def unused_user(number: int) -> int:
    """Return a user id for worker `number`; 0 if we can't change to one: not root, or in a user namespace."""
    if os.geteuid() != 0:
        return 0
    user = FIRST_USER + (os.getpid() * 64 + number % 64) % USERS
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= user < first + count:
            return user
    return 0


class ScratchState:
    """The state of the folders that a jail's programs can write to, by descriptors of their paths (O_PATH).

    It is read on the host, since in the jail it would cost copied pages after each fork. `own_file_system`: nothing
    else is in the folders' file system, so its free space depends on them alone.
    """

    def __init__(self, fds: Sequence[int], *, own_file_system: bool) -> None:
        self._fds = tuple(fds)
        self._own_file_system = own_file_system
        self._new = self._state()

    @property
    def touched(self) -> bool:
        """Whether anything was created, removed, renamed or changed in attributes; true if that can't be determined."""
        return not self._fds or self._state() != self._new

    def close(self) -> None:
        """Close the descriptors."""
        fds, self._fds = self._fds, ()
        for fd in fds:
            os.close(fd)

    def _state(self) -> list[int]:
        state = []
        for fd in self._fds:
            each = os.fstat(fd)
            state += (each.st_mode, each.st_nlink, each.st_mtime_ns, each.st_ctime_ns, each.st_atime_ns)
        if self._own_file_system and self._fds:
            space = os.statvfs(self._fds[0])
            state += (space.f_bfree, space.f_ffree)
        return state
