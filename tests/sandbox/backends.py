"""Every sandbox backend that this machine gives: what the conformance suite runs on.

1. A new backend joins by an entry in `BACKENDS`. `isolated` says that it keeps programs from network and processes.
2. `prepare` gets what it needs and says with which options it is opened; where the machine doesn't give it, it skips
   the test with the reason. It is called when a test first opens the backend, not when tests are collected.
3. Which tests a backend is known to fail, and which can't be asked of it, stands in
   `alpha_codium.sandbox.conformance.differences`. What is `slow` runs with the slow tests.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.differences import DEAR, PROCESSES, SIGNALS, Differences
from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.sandbox.code_contests.environment import installed
from tests.sandbox.gvisor import environment as gvisor
from tests.sandbox.oci import environment as oci


@dataclass(frozen=True)
class OwnBackend(Backend):
    """A backend of ours."""

    isolated: bool = True
    slow: bool = False


def in_namespaces() -> dict[str, Any]:
    """The options of what isolates with namespaces."""
    if not namespaces_command():
        pytest.skip("this machine gives no namespaces: run as root or allow user namespaces")
    return {"isolation": True}


def unsafe() -> dict[str, Any]:
    """The options of what isolates nothing."""
    return {"isolation": False}


BACKENDS = {
    "local": OwnBackend("local", in_namespaces),
    "portable": OwnBackend("portable", in_namespaces),
    "local-unsafe": OwnBackend("local", unsafe, isolated=False),
    "code_contests": OwnBackend("code_contests", installed),
    "gvisor": OwnBackend("gvisor", gvisor.installed),
    "oci": OwnBackend("oci", oci.installed, slow=True),
}
ISOLATED = [name for name, backend in BACKENDS.items() if backend.isolated]

# What they are known to fail of the tests beside the suite, and what can't be asked of them: as in `differences`.
ATTACK = "test_an_attack_on_the_judge_ends_as_it_should"
FAILS: Differences = {
    "code_contests": {
        f"{ATTACK}[13_daemon_late_output.py]": PROCESSES,
        f"{ATTACK}[26_fd_leak.py]": (
            "descriptor 1023 stays open: sandbox2's own channel; what is written to it changes no result (test_backend)"
        ),
        f"{ATTACK}[53_zombie_army.py]": PROCESSES,
        f"{ATTACK}[61_atexit_hang.py]": "no thread can be started: sandbox_violation",
        "test_the_attack_that_stops_itself_ends_at_the_wall_limit": SIGNALS,
    }
}
SKIPPED: Differences = {name: {f"{ATTACK}[53_zombie_army.py]": DEAR} for name in ("gvisor", "oci")}
