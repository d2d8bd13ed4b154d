"""The attackers of the shared folder as candidates: none passes, and an honest one after them does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT, shared_path

WORLD = ("unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
DRIVER = Path(__file__).parent / "compute_driver.py"
# Before the attack, so that it is there whatever comes of that; and wrong.
CANDIDATE = "def add(a, b): return a\n"
HONEST = "def add(a, b): return a + b\n"


@pytest.mark.thorough
def test_no_attacker_passes_and_an_honest_program_among_them_does() -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("attackers run in namespaces of their own, which takes root and unshare")
    folder = shared_path("hostile")
    attackers = [path.read_text() for path in sorted(folder.glob("*.py"))]
    programs = [HONEST, *(text if "coding:" in text[:200] else CANDIDATE + text for text in attackers), HONEST]
    arguments = {"predictions": [programs, [HONEST]], "references": ["assert add(2, 3) == 5"] * 2, "k": [1]}
    done = subprocess.run(
        [*WORLD, sys.executable, str(DRIVER)],
        input=json.dumps({**arguments, "timeout": 0.5, "num_workers": 2}),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"HF_ALLOW_CODE_EVAL": "1"},
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    told, after = json.loads(done.stdout.splitlines()[-1])
    assert (told[0], told[-1], after) == ("passed", "passed", ["passed"])
    assert len(attackers) > 30
    assert [text for text in told[1:-1] if text == "passed" or text.startswith("failed: internal")] == []
