"""A metric loaded by `evaluate` as its users load it: in a process of its own, with caches of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CODE = """
import json, sys
import evaluate
folder, configuration, arguments = json.load(sys.stdin)
print(json.dumps(evaluate.load(folder, configuration).compute(**arguments)))
"""


def through_evaluate(folder: Path, home: Path, configuration: str | None = None, **arguments: Any) -> Any:
    """What the metric in `folder` gives for JSON arguments, as JSON; `home` holds what evaluate keeps."""
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        input=json.dumps([str(folder), configuration, arguments]),
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"HF_HOME": str(home)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
