"""The folders in which an agent runs programs: private ones if this machine allows it."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from typing import Any

Config = dict[str, Any]


class Rooms:
    """The folders that gencode made for programs: every program of its user can change them."""

    # Whether the kernel counts our user's processes in this namespace only, so that they can be limited.
    limits_processes = False

    def __init__(self, config: Config) -> None:
        self.folder, self.program_folder = config["folders"]
        self.environment = config["variables"]

    def renew(self, more_bytes: int) -> None:
        """Empty the folders, which have room for `more_bytes` more than usual; raises OSError."""
        for folder in (self.folder, self.program_folder):
            remove(folder)
            os.makedirs(folder, 0o700)

    def leave(self) -> None:
        """Remove what the last program has written; raises OSError."""
        self.renew(0)

    def score(self, *, first: bool) -> None:
        """Choose whether processes started next are killed first, or last, if a control group runs out of memory."""


class PrivateRooms(Rooms):
    """Private folders, in our own mount namespace."""

    def __init__(self, config: Config) -> None:
        """Make everything read-only, and give up rights; raises OSError."""
        from alpha_codium.sandbox.portable.inside import private

        super().__init__(config)
        self.limits_processes = counts_only_ours()
        self.scores = private.open_score(os.path.dirname(self.folder))
        self.folders = private.PrivateFolders(config["interpreter"])
        private.give_programs_no_rights()

    def renew(self, more_bytes: int) -> None:
        """See `Rooms`."""
        self.folders.renew((self.folder, self.program_folder), more_bytes)

    def leave(self) -> None:
        """See `Rooms`; nobody else can see it."""

    def score(self, *, first: bool) -> None:
        """See `Rooms`."""
        os.write(self.scores, b"1000" if first else b"0")


def rooms_of(config: Config) -> Rooms:
    """Return private folders or others, as `private` says; if that is None, a child process tries whether they work.

    Raises OSError.
    """
    if config["private"] is False:
        return Rooms(config)
    if os.getpid() != 1:
        raise OSError("what would be mounted isn't in namespaces of our own")
    return PrivateRooms(config) if config["private"] or works(config) else Rooms(config)


def works(config: Config) -> bool:
    """Whether an interpreter can be started in private folders; says on stderr why it can't."""
    pid = os.fork()
    if pid == 0:
        try:
            from alpha_codium.sandbox.engine.inside import kernel

            kernel.unshare(kernel.CLONE_NEWNS)
            PrivateRooms(config).renew(0)
            os.execv(config["interpreter"], [config["interpreter"], "-I", "-S", "-c", ""])  # noqa: S606 - no shell
        except BaseException as error:
            os.write(2, str(error).encode())
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def counts_only_ours() -> bool:
    """Whether the kernel counts our user's processes in this namespace only (Linux 5.14), so that we can limit them."""
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (4, before[1]))
    try:
        pid = os.fork()
    except BlockingIOError:
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, before)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def remove(folder: str) -> None:
    """Remove a folder, even if a program made folders in it that are nested too deep for `shutil`."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except (OSError, RecursionError):
        subprocess.run(["rm", "-rf", "--", folder], capture_output=True, check=False)
