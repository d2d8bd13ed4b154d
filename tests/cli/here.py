"""`gencode` in the process of the tests: for what a command does and says. Its imports are made once for all of them.

What only a process of its own can show (an exit status, streams, signals, a first import) starts one: `tests.support`.
"""

from pathlib import Path

import pytest

from tests.gen.running import Done, run_cli


def gencode(*arguments: object, home: Path, env: dict[str, str] | None = None) -> Done:
    """Run the command line here, with GENCODE_HOME at `home` and these variables while it runs."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ({"GENCODE_HOME": str(home), "COLUMNS": "200"} | (env or {})).items():
            patch.setenv(name, value)
        return run_cli(*arguments)
