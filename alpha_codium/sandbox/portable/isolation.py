"""What keeps a program of the portable backend from the rest of the machine.

Each program gets network, process and ipc namespaces of its own through util-linux's `unshare`: no network, no other
process to see or to signal, and nothing of it survives its end. The file system is NOT isolated. A trial run, not
a version number, decides whether the machine gives this.
"""

import functools
import os
import shutil
import subprocess

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.protocol import Isolation

NAMESPACES = ("--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
HOW = "run as root or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"


def isolating_command(isolation: Isolation) -> tuple[str, ...]:
    """What stands before a program's own command line.

    True asks for the namespaces above; "strict" for a complete jail, which this backend can't give; False for
    nothing, and says so each time. Raises SandboxError where the machine can't give it.
    """
    if isolation == "strict":
        raise SandboxError(
            'sandbox = "strict" asks for a complete jail, and the local backend doesn\'t isolate files yet: '
            "use -o code_tester.sandbox=true"
        )
    if not isolation:
        logger.warning("UNSAFE: sandbox = false runs untrusted programs with all your rights")
        return ()
    command = namespaces_command()
    if not command:
        raise SandboxError(
            f"this machine gives no namespaces to run untrusted programs in: {HOW}, "
            "or accept the danger with -o code_tester.sandbox=false"
        )
    return command


@functools.cache
def namespaces_command() -> tuple[str, ...]:
    """The `unshare` command that works here, or nothing."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    as_user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    command = (unshare, *as_user, *NAMESPACES)
    trial = subprocess.run([*command, "true"], capture_output=True, check=False, timeout=10)
    return command if trial.returncode == 0 else ()
