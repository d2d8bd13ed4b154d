"""Clusters of programs that behave alike, and inputs on which two clusters differ.

If programs were written independently, their agreement is evidence that they are right, since wrong programs are wrong
in different ways (Li et al. 2022, AlphaCode; Chen et al. 2022, CodeT).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alpha_codium.judge.behaviour import Behaviour


@dataclass(frozen=True, slots=True)
class Cluster:
    """The numbers of candidates that behaved alike on every input, the earliest first."""

    members: tuple[int, ...]
    behaviour: tuple[Behaviour, ...] = ()


def valid_inputs(behaviours: Sequence[Sequence[Behaviour]]) -> list[int]:
    """Return the indices of the inputs on which at least half of the programs ran; others are probably invalid."""
    return [
        index
        for index, on_input in enumerate(zip(*behaviours, strict=True))
        if 2 * sum(each.ran for each in on_input) >= len(on_input)
    ]


def clusters_of(behaviours: Mapping[int, Sequence[Behaviour]], votes: Mapping[int, Sequence[int]]) -> list[Cluster]:
    """Return the clusters, the best first: by size, then fewest crashes, then the earliest member.

    `behaviours` has one candidate for each different program, the first; `votes` has all candidates with the same
    program. Crashes are never equal, so programs that crash agree only with their copies.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, behaviour in behaviours.items():
        key = tuple(each.key if each.ran else (index, number) for number, each in enumerate(behaviour))
        groups.setdefault(key, []).append(index)
    found = [
        Cluster(tuple(sorted(vote for index in group for vote in votes[index])), tuple(behaviours[group[0]]))
        for group in groups.values()
    ]
    return sorted(found, key=lambda c: (-len(c.members), sum(not each.ran for each in c.behaviour), c.members[0]))


def distinguishing_input(one: Cluster, other: Cluster, inputs: Sequence[str]) -> int | None:
    """Return the index of an input on which two clusters differ, with the least text to show, or None."""
    differing = [
        (len(a.shown) + len(b.shown) + len(text), index)
        for index, (a, b, text) in enumerate(zip(one.behaviour, other.behaviour, inputs, strict=True))
        if a.ran and b.ran and a.key != b.key and a.shown.strip() != b.shown.strip()
    ]
    return min(differing)[1] if differing else None
