"""A split as big as the real one, and an ETL of it in a process of its own that tells its peak memory."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

# VmHWM is of this process alone; ru_maxrss begins with what the process that started it held.
ETL = """
import re, sys
from pathlib import Path
from alpha_codium.data.etl import run_etl
report = run_etl(sys.argv[1], sys.argv[2], ["train"], sample_rate=float(sys.argv[3]))
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(report.splits[0].problems_out, int(peak) * 1024)
"""


def write_big_split(path: Path, problems: int) -> int:
    """Write `problems` records of about 230 KB each as gzipped JSON lines; gives their size in bytes, unpacked."""
    base = json.dumps(_record(), ensure_ascii=False)
    size = 0
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        for number in range(problems):
            size += file.write(base.replace("<number>", str(number)) + "\n")
    return size


def _record() -> dict:
    programs = ["n = int(input())\n# <number>\n" + f"print(n + {index})\n" * 60 for index in range(140)]
    tests = [f"{index}\n" + "1 2 3 4 5 6 7 8 9\n" * 25 for index in range(200)]
    pair = {"input": tests, "output": ["<number> " * 12] * len(tests)}
    return {
        "name": "<number>_A. A Big Problem",
        "description": "Find the number <number>.",
        "public_tests": {"input": ["1\n"], "output": ["1\n"]},
        "generated_tests": pair,
        "solutions": {"language": [3] * len(programs), "solution": programs},
    }


def etl_in_process(source: Path, output: Path, home: Path, sample_rate: float = 1.0) -> tuple[int, int]:
    """Run an ETL in a process of its own; gives the number of problems stored and the peak memory in bytes."""
    command = [sys.executable, "-c", ETL, str(source), str(output), str(sample_rate)]
    env = os.environ | {"GENCODE_HOME": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    problems, peak = done.stdout.split()
    return int(problems), int(peak)
