"""The Tab key in bash: the line of docs/install.md, in a real bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

SETUP = 'eval "$(_GENCODE_COMPLETE=bash_source gencode)"'
# What bash does when the Tab key is pressed behind the last word.
COMPLETE = """
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gencode_completion gencode; printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(*words: str) -> list[str]:
    """What bash offers for the last of the words of a command line."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--norc", "-c", SETUP + COMPLETE, "bash", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=os.environ | {"PATH": path}, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_commands_of_a_group_and_options_are_completed_in_bash() -> None:
    assert SETUP in (ROOT / "docs" / "install.md").read_text("utf-8")
    assert completed("gencode", "eval", "sc") == ["score"]
    assert completed("gencode", "eval", "score", "--bench") == ["--benchmark"]
