"""The table of languages, and what is made of it."""

import pytest

from alpha_codium.language_table import ALIASES, LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.problem import LANGUAGE_NAMES

# Their numbers in datasets are their places here.
NUMBERED = "unknown python2 cpp python3 java c csharp go javascript kotlin pypy3 ruby rust typescript"


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_module_of_a_language_has_the_language_of_that_name(name: str) -> None:
    assert language_named(name).name == name


def test_the_numbers_of_languages_in_datasets_stay_as_they_are() -> None:
    assert " ".join(LANGUAGE_NAMES).startswith(NUMBERED)


def test_an_alias_stands_for_one_language() -> None:
    aliases = [alias for language in LANGUAGES.values() for alias in language.aliases]
    assert len({*aliases, *LANGUAGES}) == len(aliases) + len(LANGUAGES)
    assert {*ALIASES} == {*aliases}
