"""Wordings by which a statement allows one of several answers."""

import pytest

from alpha_codium.audit.datasets.wording import several_answers


@pytest.mark.parametrize(
    "sentence",
    [
        "If there are several answers, print any of them.",
        "If there are multiple possible ways, you can output any.",
        "If the answer is not unique, output any.",
        "If there is more than one sequence, any of them will be accepted.",
        "Print any suitable arrangement.",
        "You may print the edges in any order.",
        "The numbers can be printed in arbitrary order.",
        "If there are many codes, any one will be accepted.",
        "When several plans exist,\nfind\nany of them.",
    ],
)
def test_wordings_that_allow_one_of_several_answers_are_quoted(sentence: str) -> None:
    quote = several_answers(f"You are given n numbers. {sentence} The time is short.")
    assert quote
    assert quote in " ".join(sentence.split())


@pytest.mark.parametrize(
    "sentence",
    [
        "You may make any number of moves.",
        "If there are several answers, print the smallest one.",
        "There is a path between any two cities.",
        "There are no multiple edges. Print the answer.",
        "The graph may have multiple edges and any vertex can be the first.",
        "If there are several planets, find whether you can reach any of them.",
        "If multiple test cases are given, print the answer for any valid input.",
        "If there are several answers, print the one that would be right for any valid input.",
        "",
    ],
)
def test_other_uses_of_the_same_words_are_none(sentence: str) -> None:
    assert several_answers(sentence) == ""
