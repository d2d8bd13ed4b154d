"""Puts a new table into docs/backends.md: the conformance suite on every backend, then `gencode bench backends`.

`make backends` calls it; it takes some minutes.
"""

import datetime
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "backends.md"
TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end of table -->)", re.DOTALL)


def main() -> int:
    """Run both and put in the table; the exit status is that of what failed."""
    with tempfile.TemporaryDirectory() as folder:
        junit = Path(folder, "suite.xml")
        suite = [sys.executable, "-m", "pytest", "-q", "tests/sandbox/test_conformance.py", f"--junitxml={junit}"]
        subprocess.run(suite, cwd=ROOT, check=False)
        bench = [sys.executable, "-m", "alpha_codium", "bench", "backends", "--conformance", str(junit)]
        done = subprocess.run(bench, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        today = datetime.datetime.now(tz=datetime.UTC).date()
        PAGE.write_text(TABLE.sub(lambda _: f"\n{today}, {done.stdout}\n", PAGE.read_text("utf-8")), "utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
