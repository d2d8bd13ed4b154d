"""The hostile programs that run on our own backends: those of the shared folder, and those of the conformance suite."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from alpha_codium.sandbox.conformance.hostile import (
    ATTACKERS,
    LANGUAGES,
    Attacker,
    Expected,
    attacker_paths,
    speaks_this_machine,
)
from tests.support import ROOT, shared_path

SHARED = Path(os.environ.get("GENCODE_SHARED") or ROOT.parent / "shared") / "hostile"
# 22 and 23 look for this one.
KNOWN_OUTPUTS = {"22": "EXPECTED_OUTPUT_CANARY_1337", "23": "EXPECTED_OUTPUT_CANARY_1337"}
# What else may come of a program of the shared folder, and why.
AND_ALSO = {
    # These catch the error and say that they were blocked; where the machine is busy, after their time.
    "07": {"finished", "time_limit_exceeded"},
    "08": {"finished"},
    "13": {"runtime_error"},  # where it may not fork
    "35": {"runtime_error"},  # python itself ends with status 120 where it can't write what was printed
    "46": {"finished"},  # the limit of a file's size refuses the sparse file, and it goes on
}
# These burn CPU time in one process until their limit ends them, whatever it is.
BURNERS = {"32_swallow_timeout.py", "34_bigint_bomb.py", "long_system_calls.py", "words_that_never_end.py"}
LATE_WRITERS = {"13_daemon_late_output.py"}


def names() -> list[str]:
    """The files of both folders."""
    shared = [path.name for path in sorted(SHARED.glob("*.py"))] or ["README.md"]
    return [*shared, *(path.name for path in sorted(ATTACKERS.iterdir()) if path.suffix in LANGUAGES)]


def path_of(name: str) -> Path:
    """Where that program is; skips the test where it can't be run."""
    path = ATTACKERS / name
    if not path.exists():
        return shared_path(f"hostile/{name}")
    if not speaks_this_machine(path):
        pytest.skip("written for the system calls of x86-64")
    return path


def attackers() -> list[Attacker]:
    """The programs of both folders that are written for this machine."""
    return [read(path) for path in sorted([*SHARED.glob("*.py"), *attacker_paths()])]


def read(path: Path) -> Attacker:
    """The program in that file, with what else may come of it."""
    if path.parent == ATTACKERS:
        return Attacker.read(path)
    attacker = Attacker.read(path, make_it_prove=True)
    statuses = attacker.expected.statuses | AND_ALSO.get(path.name[:2], set())
    return replace(attacker, expected=Expected(frozenset(statuses)), writes_late=path.name in LATE_WRITERS)
