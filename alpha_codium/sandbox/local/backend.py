"""The `local` backend: jails of namespaces, or of Landlock and seccomp where there are none."""

from dataclasses import replace

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.layers import NEEDS, Layer, layers_of
from alpha_codium.sandbox.engine.pool import JailPool
from alpha_codium.sandbox.engine.turn import Turn, WorkerLost
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Status

# What no program may succeed in where Landlock and seccomp stand alone.
ATTEMPTS = """
import os
for attempt in (
    os.fork,
    lambda: os.listdir("/"),
    lambda: open("/proc/self/status"),
    lambda: os.kill(os.getppid(), 0),
    lambda: os.chmod(".", 0o777),
):
    try:
        attempt()
    except OSError:
        continue
    raise SystemExit("not held")
"""


class LocalSandbox(JailPool):
    """Runs programs in jails on this machine; see the module."""

    name = "local"

    @property
    def layers(self) -> list[Layer]:
        """See `JailPool`."""
        return layers_of(self._slots[0].plain)

    def start_first(self, turn: Turn, jail: Jail) -> None:
        """Make the places of all workers, and the first one's jail; raises SandboxError where there is none."""
        try:
            self._try_out(turn, jail)
        except WorkerLost as error:
            reason = str(error).splitlines()[-1]
            if self.isolation == "strict":
                raise no_jail(reason) from error
            try:
                self._try_out(turn, replace(jail, walls=True))
            except WorkerLost as other:
                raise no_jail(f"{reason}; without namespaces: {str(other).splitlines()[-1]}") from other
            logger.warning(f"this machine gives a weaker jail only ({reason}): see `gencode sandbox check`")

    def _try_out(self, turn: Turn, jail: Jail) -> None:
        """Make a jail of that kind; raises WorkerLost where it can't be made, or has a hole."""
        self.start(jail, Worker)
        if jail.walls:
            end = self.attempt(turn, ATTEMPTS)
            if end.status is not Status.FINISHED:
                self._slots[0].plain.discard()
                raise WorkerLost(f"the walls don't hold: {end}")


def no_jail(reason: str) -> SandboxError:
    """What is said where there is no jail at all."""
    return SandboxError(
        f"this machine gives no jail to run untrusted programs in ({reason}): {NEEDS}, "
        "or accept the danger with -o code_tester.sandbox=false"
    )
