"""The simplest way: a new `python3 program.py` for each test."""

import subprocess
import sys
import tempfile
from pathlib import Path


def run(programs: "list[str]", inputs: "list[str]", outputs: "list[str]") -> int:
    """Run each program on each input."""
    right = 0
    with tempfile.TemporaryDirectory(prefix="gencode-bench-") as folder:
        path = Path(folder, "program.py")
        for program in programs:
            path.write_text(program, "utf-8")
            for text, output in zip(inputs, outputs, strict=True):
                command = [sys.executable, str(path)]
                done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
                right += done.stdout == output
    return right
