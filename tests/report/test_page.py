"""The page in a real browser: what it shows, its addresses, keys and filters, and that texts stay texts."""

import json
from pathlib import Path

import pytest

from alpha_codium.report import page as pages
from tests.gen.running import run_cli
from tests.report.conftest import HOSTILE, RIGHT, WRONG, report, score, solve


def test_a_page_opens_from_disk_and_asks_for_nothing_else(scored, page):
    page.open(scored)
    assert page.said == []
    assert [address.partition("#")[0] for address in page.asked] == [scored.as_uri()]


def test_the_headline_has_the_score_with_its_interval_and_what_it_is_worth(scored, page):
    page.open(scored)
    # (1/2 + 0 + 0) / 3: a problem without a sample counts as failed.
    assert "16.7%" in page.text(".headline").replace("\n", "")
    assert "95 % interval" in page.text(".headline")
    worth = page.text(".checks")
    assert "Judge error" in worth and "Near a limit" in worth and "1 problem without a sample" in worth


def test_behind_a_cell_are_the_difference_the_program_and_its_tests(scored, page):
    page.open(scored)
    page.page.locator("#grid .cell").first.click()
    assert page.fragment() == "#problem=p/1&sample=0"
    assert page.page.locator(".diff .gone").all_inner_texts() == ["- 2\n"]
    assert page.page.locator(".diff .new").all_inner_texts() == ["+ 0\n"]
    assert WRONG in page.text("#program")
    assert "limits: 4 s CPU" in page.text("#tests")
    assert page.page.locator("#tests .test").count() == 2


def test_stderr_and_the_class_of_an_error_are_shown(scored, page):
    page.open(scored, "problem=p/2&sample=0")
    assert "before" in page.text("#failure") and "exit status 1" in page.text("#failure")
    assert "ValueError: invalid literal" in page.text("main:not([hidden]) .verdict")


def test_a_sample_says_which_limit_was_near(home, tmp_path, page):
    del home
    busy = f"import time\nwhile time.process_time() < 0.5: pass\n{RIGHT}"
    path = score(tmp_path, "near", {"p/1": [busy]}, "-o", "code_tester.timeout=0.5")
    page.open(path, "problem=p/1&sample=0")
    assert "near the limit of cpu" in page.text("main:not([hidden]) .sub")
    assert "near the limit of cpu" in page.text("#test-1 .note")
    page.open(path)
    assert "1 verdict within 20 % of a limit" in page.text(".checks")


def test_an_address_opens_the_very_test(scored, page):
    page.open(scored, "problem=p/1&sample=0&test=2")
    page.page.wait_for_selector("#test-2[open] .part")
    assert "2" in page.text("#test-2 .text")
    page.page.locator("#test-1 summary").click()
    page.page.wait_for_selector("#test-1[open] .part")
    assert page.fragment() == "#problem=p/1&sample=0&test=1", "a copied link opens what was opened by hand"


def test_keys_move_between_problems_and_samples(scored, page):
    page.open(scored)
    page.press("j", "j", "Enter")
    assert page.fragment() == "#problem=p/2"
    page.press("l", "l")
    assert page.fragment() == "#problem=p/2&sample=1"
    page.press("h", "Escape", "Escape")
    assert page.fragment() == ""
    page.press("?")
    assert page.page.locator("#keys").is_visible()
    page.press("Escape", "/")
    assert page.page.evaluate("document.activeElement.id") == "f-q"


def test_filters_are_in_the_address_and_last_when_a_sample_is_opened(scored, page):
    page.open(scored)
    page.page.select_option("#f-error", "ValueError")
    assert page.page.locator("#grid .name").all_inner_texts() == ["p/2"]
    assert page.fragment() == "#error=ValueError"
    page.page.locator("#grid .cell").first.click()
    page.page.wait_for_selector("#failure")
    page.press("Escape", "Escape")
    assert page.fragment() == "#error=ValueError"
    page.open(scored, "solved=nobody")
    assert page.page.locator("#grid .row").count() == 2
    page.page.fill("#f-q", "p/3")
    assert page.text("#count") == "1 of 3"


def test_texts_of_a_model_a_program_and_a_dataset_never_become_markup(home, tmp_path, page):
    del home
    program = f"import sys\nprint({HOSTILE!r})\nsys.exit({HOSTILE!r})  # {HOSTILE}"
    tests = {"input": [f"{HOSTILE}\n"], "output": [f"{HOSTILE} {HOSTILE}\n"]}
    fields = {"description": HOSTILE, "cf_tags": [HOSTILE], "private_tests": tests}
    path = score(tmp_path, "hostile", {f"p/{HOSTILE}": [program]}, **fields)
    page.open(path)
    assert page.page.locator("#grid .name").first.text_content() == f"p/{HOSTILE}{HOSTILE}"
    page.page.locator("#grid .cell").first.click()
    page.page.wait_for_selector("#program")
    assert page.page.locator("#program code").inner_text().startswith(program[:200])
    page.page.locator("#test-1 summary").click()
    page.page.wait_for_timeout(300)
    assert page.page.evaluate("window.owned") is None
    assert page.page.locator("img, main style, main script").count() == 0
    assert page.page.locator("#failure").is_visible()
    assert page.said == []
    assert {address.partition("#")[0] for address in page.asked} == {path.as_uri()}


def test_the_policy_of_the_page_stops_markup_that_is_made_of_text(scored, page):
    page.open(scored)
    with pytest.raises(Exception, match="TrustedHTML"):
        page.page.evaluate("document.body.innerHTML = '<b>text</b>'")


def test_two_runs_are_compared_problem_by_problem(scored, tmp_path, page):
    del scored
    score(tmp_path, "two", {"p/1": [RIGHT, RIGHT], "p/2": [RIGHT, RIGHT], "p/3": []}, cf_tags=["maths"])
    page.open(report("one", "two"))
    differences = page.text("section:has(#differences)")
    assert "may be chance" in differences and "two minus one" in differences
    assert "Only two solves 1\np/2" in differences
    assert "No run solves 1" in differences
    page.page.select_option("#f-solved", "only two")
    assert page.page.locator("#grid .name").all_inner_texts() == ["p/2"]
    page.page.locator("#grid .cell").last.click()
    assert page.fragment() == "#solved=only two&problem=p/2&run=two&sample=1"


def test_the_second_repair_has_an_address_and_shows_what_the_model_saw(home, tmp_path, page):
    del home
    problems = solve(tmp_path, [WRONG, "print(1)", RIGHT])
    arguments = ("--solution_dataset", tmp_path / "answers", "--dataset_name", problems, "--k", 1)
    assert run_cli("eval", "eval_gen_solutions", *arguments, "--run", "judged").returncode == 0
    path = report("made")
    page.open(path, "problem=p/1&sample=0&stage=fix_public_tests.2")
    page.page.wait_for_selector("#stage-fix_public_tests[open] .event")
    second = page.text("[id='stage-fix_public_tests.2']")
    assert "Call 2: fix" in second and "print(1)" in second and "Reply to" in second
    page.open(path)
    assert "pass@1" in page.text(".headline"), "the verdicts are those of the evaluation"
    assert "fix_public_tests" in page.text(".stages")
    page.open(report("judged"), "problem=p/1&sample=0")
    assert "fix_public_tests" in page.text("#stages"), "the evaluation has the prompts of the run that it judged"


def test_a_run_that_nothing_judged_says_that_it_has_no_score(home, tmp_path, page):
    del home
    solve(tmp_path, [WRONG])
    page.open(report("made"))
    assert "Public tests only" in page.text(".checks")
    assert "pass the public tests" in page.text(".headline")
    page.open(report("made"), "problem=p/1&sample=0")
    assert page.page.locator(".diff .gone").all_inner_texts() == ["- 6\n"]


def test_long_texts_are_scripts_beside_the_page(scored, page, monkeypatch):
    monkeypatch.setattr(pages, "MOST_INLINE", 0)
    path = report("one")
    assert sorted(each.name for each in Path(f"{path}.bodies").iterdir()) == ["0.js", "1.js", "2.js"]
    page.open(path, "problem=p/2&sample=1")
    assert WRONG in page.text("#program")
    assert page.said == []
    Path(f"{path}.bodies", "0.js").unlink()
    page.open(path, "problem=p/1&sample=0")
    page.page.wait_for_selector("main .bad:has-text('0.js is missing: keep the folder beside the page')")


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("fragment", ["", "problem=p/2", "problem=p/2&sample=0&test=1"])
def test_everybody_can_use_it_on_any_screen(scored, browser, axe, width, scheme, fragment):
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.goto(f"{scored.as_uri()}#{fragment}")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    page.close()
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert not serious, json.dumps(serious, indent=1)[:2000]
