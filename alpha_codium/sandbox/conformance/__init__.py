"""The tests that every sandbox backend has to pass, shipped for backends in other packages.

    python -m pytest --pyargs alpha_codium.sandbox.conformance --backend NAME

This module is a pytest plugin (entry-point group `pytest11`), so pytest imports it in every project. It loads the real
plugin, which has the options and more dependencies, only for a run of this suite.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

NEEDED = {"pytest_asyncio": "pytest-asyncio", "pytest_timeout": "pytest-timeout"}


def pytest_load_initial_conftests(early_config: Any, args: list[str]) -> None:
    """Load the plugin of the suite if the command line asks for the suite."""
    if not any(_asks_for_suite(each) for before, each in zip(["", *args], args, strict=False) if before != "-p"):
        return
    import pytest

    missing = [name for module, name in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise pytest.UsageError(f"the conformance suite needs {' and '.join(missing)}: pip install {' '.join(missing)}")
    early_config.pluginmanager.import_plugin(f"{__name__}.plugin")


def _asks_for_suite(argument: str) -> bool:
    """Whether an argument of pytest is this package, or a module or test in it, by name or path."""
    target = argument.partition("::")[0]
    return target.startswith(__name__) or Path(__file__).parent in (path := Path(target).absolute(), *path.parents)
