"""The isolation of the portable backend: namespaces.

Programs get their own network, process and ipc namespaces from util-linux's `unshare`: no network, no other process to
see or to signal, and no process that survives its program. A trial run decides whether namespaces work on this machine;
the agent finds out whether programs can have private folders (see `inside/private`). Files that gencode's user can read
are NOT hidden from programs.
"""

import functools
import os
import shutil
import subprocess

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.protocol import Isolation

NAMESPACES = ("--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
REMEDY = "run as root or allow user namespaces (sysctl user.max_user_namespaces above 0)"


def isolating_command(isolation: Isolation) -> tuple[str, ...]:
    """Return the command that starts another one with this isolation.

    True asks for namespaces, "strict" for a complete jail, which this backend can't provide, and False for nothing,
    with a warning. Raises SandboxError if the isolation isn't available.
    """
    if isolation == "strict":
        raise SandboxError(
            'sandbox = "strict" requires complete isolation, but the portable backend lets programs read files: '
            "use `ac.open_sandbox(isolation=True)`, or `ac.open_sandbox('local')`"
        )
    if not isolation:
        # An error, so that -qq doesn't hide it.
        logger.error("UNSAFE: sandbox = false runs untrusted programs with all your rights")
        return ()
    command = namespaces_command()
    if not command:
        raise SandboxError(
            f"this machine has no namespaces to isolate untrusted programs: {REMEDY}, "
            "or disable isolation at your own risk with `ac.open_sandbox(isolation=False)`"
        )
    return command


@functools.cache
def namespaces_command() -> tuple[str, ...]:
    """Return the `unshare` command that works on this machine, or nothing."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    as_user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    command = (unshare, *as_user, *NAMESPACES)
    trial = subprocess.run([*command, "true"], capture_output=True, check=False, timeout=10)
    return command if trial.returncode == 0 else ()
