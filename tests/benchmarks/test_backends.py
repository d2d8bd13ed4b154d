"""The table of backends: its probes can tell a jail from none, and the suite's results are read as they are."""

from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.sandbox import open_sandbox
from benchmarks.sandbox.backends import BACKENDS, Row, as_markdown, read_suite
from benchmarks.sandbox.probes import PROBES, lay_bait, probe
from tests.sandbox.backends import BACKENDS as IN_SUITE

JUNIT = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite>
<testcase name="test_a[local]"/><testcase name="test_a[local-unsafe]"/><testcase name="test_a[portable]"/>
<testcase name="test_b[local-more]"><skipped type="pytest.xfail" message="known"/></testcase>
<testcase name="test_b[local-unsafe-more]"><failure message="no"/></testcase>
<testcase name="test_b[portable-more]"><skipped type="pytest.skip" message="not here"/></testcase>
<testcase name="test_c"/>
</testsuite></testsuites>"""


async def test_without_walls_every_probe_gets_through() -> None:
    with lay_bait() as bait:
        async with open_sandbox("local", workers=1, isolation=False) as sandbox:
            assert await probe(sandbox, bait) == dict.fromkeys(PROBES, True)


async def test_in_the_jail_no_probe_gets_through() -> None:
    with lay_bait() as bait:
        async with open_sandbox("local", workers=1) as sandbox:
            assert await probe(sandbox, bait) == dict.fromkeys(PROBES, False)


@pytest.mark.thorough
async def test_what_one_backend_wrote_is_not_told_of_the_next() -> None:
    with lay_bait() as bait:
        async with open_sandbox("local", workers=1, isolation=False) as sandbox:
            await probe(sandbox, bait)
        async with open_sandbox("local", workers=1) as sandbox:
            assert (await probe(sandbox, bait))["writes the host's files"] is False


def test_nothing_is_left_of_the_bait() -> None:
    with lay_bait() as bait:
        assert Path(bait.folder, "canary").read_text() == bait.marker
    assert not Path(bait.folder).exists()


def test_the_suites_results_are_counted_by_backend(tmp_path: Path) -> None:
    (tmp_path / "suite.xml").write_text(JUNIT)
    assert read_suite(tmp_path / "suite.xml") == {
        "local": {"passed": 1, "known": 1},
        "local-unsafe": {"passed": 1, "failed": 1},
        "portable": {"passed": 1, "skipped": 1},
    }


def test_a_file_that_is_no_result_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "suite.xml").write_text("not xml")
    with pytest.raises(UserError, match="no result of pytest --junitxml"):
        read_suite(tmp_path / "suite.xml")


def test_every_backend_of_the_suite_has_a_row() -> None:
    names = {"local-unsafe" if name == "local, sandbox = false" else name for name in BACKENDS}
    assert set(IN_SUITE) <= names


def test_a_backend_that_this_machine_lacks_says_so() -> None:
    rows = [Row("gvisor", missing="there is no runsc"), Row("local", reached=dict.fromkeys(PROBES, False))]
    text = as_markdown(rows)
    assert "- gvisor: there is no runsc" in text
    assert "| local | - | no | no | no | no | no | - | - |" in text
