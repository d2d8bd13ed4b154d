"""Numbers in messages: `1 problem`, not `1 problems`; sums of money."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import alpha_codium
from alpha_codium.wording import counted, in_dollars, money

PACKAGE = Path(alpha_codium.__file__).parent
NOUNS = (
    "argument|answer|call|candidate|character|difference|example|file|line|name|prediction|problem|program|reference"
)
NOUNS += "|core|request|resample|run|sample|solution|stage|submission|test|token|value|verdict"
# A value without a format, in an f-string or a text of the log, before a plural.
BARE_COUNT = re.compile(rf"\{{([^{{}}:]*)\}} (?:(?!without)[a-z-]+ )?(?:{NOUNS})s\b(?! at)")
SPLIT_TEXT = re.compile(r'" *\n *f?"')
# Texts before a plural or a verb; the numbers of characters that long texts lack; values above 1.
NO_COUNTS = {"' or '.join(LANGUAGES)", "program.language", "self._engine.kind", "self._model.name", "where", "at"}
NO_COUNTS |= {"title_of(language)", "language", "title", "problem.name!r", "job.program.language"}
LARGE = {"most", "compared", "start", "left_out", "len(text) - start - KEPT", "len(fitting)", "len(self.names)"}
LARGE |= {"len(text) - SHOWN_CHARACTERS", "len(text) - SHORT", "len(files)", "first"}


def bare_counts(source: str) -> set[str]:
    """Return the values of which a text in the source says how many there are, without `counted`."""
    found = {match[1] for match in BARE_COUNT.finditer(SPLIT_TEXT.sub("", source))}
    return {value for value in found - NO_COUNTS - LARGE if not value.rpartition(".")[2].isupper()}


@pytest.mark.parametrize("source", ["f'{n} problems'", 'f"a {n} "\n    f"failed samples."', "f'of {n} problems'"])
def test_a_number_before_a_plural_is_found(source):
    assert bare_counts(source) == {"n"}


def test_no_message_says_1_problems():
    found = {str(path): bare_counts(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    assert {path: counts for path, counts in found.items() if counts} == {}


def test_a_number_and_its_noun_agree():
    assert [counted(number, "problem") for number in (0, 1, 2)] == ["0 problems", "1 problem", "2 problems"]


@given(st.floats(1e-12, 1e6))
def test_dollars_have_at_least_two_significant_digits(dollars: float) -> None:
    assert float(money(dollars)) == pytest.approx(dollars, rel=0.05)


@pytest.mark.parametrize(
    ("dollars", "told"), [(None, "unknown"), (0.0, "$0.0000"), (1.3e-5, "$0.000013"), (2.5, "$2.5000")]
)
def test_dollars_in_text_have_a_sign(dollars, told):
    assert in_dollars(dollars) == told
