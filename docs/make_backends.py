"""Puts a new table into docs/backends.md: the conformance suite on every backend, then probes and timings.

`make backends` calls it; it takes some minutes.
"""

import datetime
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.sandbox.backends import as_markdown, compare_backends, read_suite
from benchmarks.sandbox.rounds import Plan
from benchmarks.sandbox.table import machine, machine_text

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "backends.md"
TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end of table -->)", re.DOTALL)


def main() -> None:
    """Run the suite, measure the backends and replace the table."""
    with tempfile.TemporaryDirectory() as folder:
        junit = Path(folder, "suite.xml")
        suite = [sys.executable, "-m", "pytest", "-q", "tests/sandbox/test_conformance.py", f"--junitxml={junit}"]
        subprocess.run(suite, cwd=ROOT, check=False)
        rows = compare_backends(Plan(tests=(10,)), read_suite(junit))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    table = f"\n{today}, {machine_text(machine())}\n\n{as_markdown(rows)}\n\n"
    PAGE.write_text(TABLE.sub(lambda _: table, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
