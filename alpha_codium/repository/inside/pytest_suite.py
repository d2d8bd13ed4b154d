"""The tests that pytest collects below `LABEL`, a folder or file of `FOLDER`, once in the zygote."""

from __future__ import annotations

import functools
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Report = Callable[[str, str, str], None]

OPTIONS = "-p no:cacheprovider -p no:terminal --capture=no --continue-on-collection-errors -o addopts=".split()
TESTS: dict[str, Any] = {}
LABEL = FOLDER = ""


def load() -> None:
    """Make the tests known, in pytest's order."""
    from _pytest.config import _prepareconfig  # pyrefly: ignore[missing-import] - from the repository's environment
    from _pytest.main import Session  # pyrefly: ignore[missing-import]

    os.chdir(FOLDER)
    # Plug-ins of the environment would make the results depend on it.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    config = _prepareconfig([*OPTIONS, LABEL])
    config._do_configure()
    session = Session.from_config(config)
    config.hook.pytest_sessionstart(session=session)
    session.perform_collect()
    TESTS.clear()
    TESTS.update((item.nodeid, item) for item in session.items)


def run(names: list[str], report: Report, fail_fast: bool) -> None:
    """Run these tests in this order and report each: its name, status, and message; or until the first that fails."""
    from _pytest.runner import runtestprotocol  # pyrefly: ignore[missing-import]

    items = [TESTS[name] for name in names if name in TESTS]
    for item, following in zip(items, [*items[1:], None]):  # noqa: B905 - `strict` needs Python 3.10
        reports = runtestprotocol(item, log=False, nextitem=following)
        status, message = outcome(reports)
        report(item.nodeid, status, message)
        if fail_fast and status in ("failed", "error"):
            return


def outcome(reports: list[Any]) -> tuple[str, str]:
    """Return the status and message of a test, from its reports of set-up, call and tear-down."""
    for each in reports:
        if each.failed:
            return "failed" if each.when == "call" else "error", each.longreprtext
    if any(each.skipped and not hasattr(each, "wasxfail") for each in reports):
        return "skipped", ""
    return "passed", ""


def namespaces(names: list[str]) -> list[Any]:
    """Return what the modules and classes of these tests define, which programs must not change."""
    items = [TESTS[name] for name in names if name in TESTS]
    owners = {owner for item in items for owner in (item.module, *getattr(item.cls, "__mro__", ()))}
    return [vars(owner) for owner in sorted(owners, key=id)]


def fail_at_end(name: str) -> None:
    """Have a test fail after it has passed."""
    item = TESTS[name]
    function = item.obj

    @functools.wraps(function)
    def failing(*arguments: Any, **named: Any) -> None:
        function(*arguments, **named)
        raise AssertionError("failed on purpose")

    item.obj = failing
