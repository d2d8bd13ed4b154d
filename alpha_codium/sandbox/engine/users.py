"""User ids for workers: as root each takes one that nobody has."""

import os
from pathlib import Path

# No user has an id in here.
FIRST_USER, USERS = 0x7000_0000, 0x0F00_0000


def is_ours(user: int) -> bool:
    """Whether a jail of ours may have that user id."""
    return user == os.geteuid() or (os.geteuid() == 0 and FIRST_USER <= user < FIRST_USER + USERS)


def unused_user(number: int) -> int:
    """A user id for a worker; 0 where ours isn't the machine's own root, who alone could take one."""
    user = FIRST_USER + (os.getpid() * 64 + number % 64) % USERS
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= user < first + count:
            return user
    return 0
