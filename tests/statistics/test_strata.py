"""Strata are a partition."""

from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.statistics import strata


@given(st.lists(st.sampled_from(["easy", "hard", "A"])))
def test_every_place_is_in_its_labels_stratum_and_in_no_other(labels: list[str]) -> None:
    parts = strata(labels)
    assert sorted(place for places in parts.values() for place in places) == list(range(len(labels)))
    assert all(labels[place] == label for label, places in parts.items() for place in places)


def test_labels_keep_the_order_in_which_they_first_stand() -> None:
    assert strata(["b", "a", "b"]) == {"b": (0, 2), "a": (1,)}
    assert list(strata(["b", "a", "b"])) == ["b", "a"]
