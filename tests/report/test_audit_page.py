"""The page on an audit, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from alpha_codium.audit.graders.asking import cases_to_ask
from alpha_codium.audit.graders.report import Audit, Disagreement
from alpha_codium.report.audit_page import write_audit_page
from tests.report.conftest import HOSTILE

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def audit_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page on a grader with a hostile name, which rejects two right programs and hangs on a third."""
    cases = [case for case in cases_to_ask() if case.form == "stdin" and "spoilt" not in case.name][:4]
    kinds = ("false_rejects", "false_rejects", "hangs")
    found = [
        Disagreement(kind, case, "rejected", "accepted", "accepted", HOSTILE)
        for kind, case in zip(kinds, cases, strict=False)
    ]
    path = tmp_path_factory.mktemp("audit") / "audit.html"
    write_audit_page(Audit(f"{Path.cwd()}/grader.py {HOSTILE}", ("stdin",), tuple(cases), tuple(found)), path)
    return path


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_an_audit_is_shown_with_its_programs_and_no_text_becomes_markup(
    audit_page: Path, browser: Any, width: int, scheme: str
) -> None:
    said: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(audit_page.as_uri())
    assert page.locator("h2").all_inner_texts()[1:] == [
        "Right programs that it rejects (2)",
        "Cases on which it hangs (1)",
    ]
    assert page.locator("tbody tr").first.inner_text().split() == ["stdin", "4", "2", "0", "1", "0", "0", "0", "0"]
    page.locator("summary").first.click()
    shown = page.locator("details[open]").inner_text()
    assert HOSTILE[:30] in shown and "Expected" in shown
    assert page.evaluate("typeof owned") == "undefined" and said == []
    assert str(Path.cwd()) not in audit_page.read_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_everybody_can_use_the_page_on_an_audit(audit_page: Path, browser: Any, axe: str) -> None:
    page = browser.new_page()
    page.goto(audit_page.as_uri())
    page.locator("summary").first.click()
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    page.close()
    assert [each["id"] for each in found] == []
