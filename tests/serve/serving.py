"""A server in a process of its own."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

START = "import sys; from alpha_codium.cli.main import main; main(sys.argv[1:])"


@contextlib.contextmanager
def started(
    *options: str, prefix: Sequence[str] = (), **environment: str
) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Start `gencode serve` on a free port; yield its address and the process, which is ended at the end.

    `prefix` is a command that starts another one in place of itself.
    """
    command = [*prefix, sys.executable, "-c", START, "serve", "--port", "0", "--workers", "2", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"listening at (\S+),", line)
        assert found is not None, line
        yield found[1], process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
