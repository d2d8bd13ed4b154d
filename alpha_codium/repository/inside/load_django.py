"""Django's own tests, as its `tests/runtests.py` loads them; executed with the names of `unittest_suite`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from alpha_codium.repository.inside.unittest_suite import remember

LABEL = ""
FOLDER = ""


def load() -> None:
    """Set Django up for the tests of `LABEL`, with their databases in memory, and load these tests."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "test_sqlite"
    os.chdir(FOLDER + "/tests")
    import runtests  # pyrefly: ignore[missing-import] - from the repository
    from django.test.runner import DiscoverRunner  # pyrefly: ignore[missing-import]
    from django.test.utils import NullTimeKeeper  # pyrefly: ignore[missing-import]

    runtests.setup_run_tests(0, None, None, [LABEL])
    runner = DiscoverRunner(verbosity=0, interactive=False, parallel=1)
    runner.time_keeper = NullTimeKeeper()
    runner.setup_test_environment()
    suite = runner.build_suite([LABEL])
    databases = runner.get_databases(suite)
    serialized = {alias for alias, needs_serialization in databases.items() if needs_serialization}
    suite.serialized_aliases = serialized
    runner.setup_databases(aliases=databases, serialized_aliases=serialized)
    remember(suite)
