"""The folder of a worker without namespaces: one of the host's, where its programs may write.

Who makes one locks it until it ends, however it ends: so one without a lock is stale, and is removed by the next one.
"""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.sandbox.engine.inside import trees

PREFIX = "gencode-walls-"


@dataclass(frozen=True, slots=True)
class Scratch:
    """A folder and the descriptor that holds its lock."""

    path: str
    lock: int

    def remove(self) -> None:
        """Remove the folder and all in it; what can't be removed now is left to `remove_stale`."""
        with contextlib.suppress(OSError):
            trees.empty(self.path)
            Path(self.path).rmdir()
        os.close(self.lock)


def make_scratch(user: int) -> Scratch:
    """A new folder that is `user`'s alone, or ours where that is 0; raises OSError."""
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


def remove_stale(is_ours: Callable[[int], bool]) -> None:
    """Remove the folders that ended hosts left (one killed with -9); `is_ours` tells of a user id whether we use it."""
    for path in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                # Anyone could have made a folder of that name for us to stumble over.
                if is_ours(os.fstat(lock).st_uid):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    trees.empty(str(path))
                    path.rmdir()
            finally:
                os.close(lock)
