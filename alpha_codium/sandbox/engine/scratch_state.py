"""Whether programs left anything behind in the folders that they can write to.

Seen from the host: what a process must look at after it forked, it pays for in copied pages.
"""

import os
from collections.abc import Sequence


class ScratchState:
    """The state of a jail's scratch folders, by descriptors of their paths (O_PATH), which it closes in the end.

    `own_file_system`: they are all there is in theirs, so that its free space tells of them alone.
    """

    def __init__(self, grips: Sequence[int], *, own_file_system: bool) -> None:
        self._grips = tuple(grips)
        self._own_file_system = own_file_system
        self._new = self._state()

    @property
    def touched(self) -> bool:
        """Whether anything was made, removed, renamed or given other attributes; yes where nothing can be seen."""
        return not self._grips or self._state() != self._new

    def close(self) -> None:
        """Let go of the folders."""
        grips, self._grips = self._grips, ()
        for grip in grips:
            os.close(grip)

    def _state(self) -> list[int]:
        state = []
        for grip in self._grips:
            each = os.fstat(grip)
            state += (each.st_mode, each.st_nlink, each.st_mtime_ns, each.st_ctime_ns, each.st_atime_ns)
        if self._own_file_system and self._grips:
            space = os.statvfs(self._grips[0])
            state += (space.f_bfree, space.f_ffree)
        return state
