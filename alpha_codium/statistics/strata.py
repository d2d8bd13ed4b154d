"""Splitting a split: the problems of each difficulty, of each source."""

from collections.abc import Sequence


def strata(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The places of each label, by label, in the order in which labels first stand; each place is in one stratum.

    A stratum is scored by the functions that score the whole, on its own problems. Strata are looked at side by
    side, so with twenty of them one interval in twenty at 95 % may miss.
    """
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    return {label: tuple(of_label) for label, of_label in places.items()}
