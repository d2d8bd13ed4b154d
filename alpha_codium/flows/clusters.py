"""Clusters of programs that behave alike, and inputs on which two clusters differ.

Agreement is evidence if programs were written independently: wrong ones are wrong in many ways (Li et al. 2022,
AlphaCode; Chen et al. 2022, CodeT).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alpha_codium.judge.behaviour import Behaviour


@dataclass(frozen=True, slots=True)
class Cluster:
    """Candidates, by number, that did the same on every input; the first is the earliest written."""

    members: tuple[int, ...]
    behaviour: tuple[Behaviour, ...] = ()

    @property
    def crashes(self) -> int:
        """The number of inputs on which they gave no output."""
        return sum(not each.ran for each in self.behaviour)


def valid_inputs(behaviours: Sequence[Sequence[Behaviour]]) -> list[int]:
    """Return the numbers of the inputs on which at least half of the programs ran; others are probably invalid."""
    return [
        place
        for place, on_input in enumerate(zip(*behaviours, strict=True))
        if 2 * sum(each.ran for each in on_input) >= len(on_input)
    ]


def clusters_of(behaviours: Mapping[int, Sequence[Behaviour]], votes: Mapping[int, Sequence[int]]) -> list[Cluster]:
    """Return the clusters, the best first: by size, then fewest crashes, then the earliest member.

    `behaviours` has the first of the candidates with the same text, `votes` all candidates with that text. A crash
    equals no other, so programs that crash agree only with their own text.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, behaviour in behaviours.items():
        key = tuple(each.key if each.ran else (place, number) for number, each in enumerate(behaviour))
        groups.setdefault(key, []).append(place)
    found = [
        Cluster(tuple(sorted(vote for place in group for vote in votes[place])), tuple(behaviours[group[0]]))
        for group in groups.values()
    ]
    return sorted(found, key=lambda cluster: (-len(cluster.members), cluster.crashes, cluster.members[0]))


def distinguishing_input(one: Cluster, other: Cluster, inputs: Sequence[str]) -> int | None:
    """Return the number of the shortest input on which two clusters gave different outputs; None if there is none."""
    differing = [
        (len(a.shown) + len(b.shown) + len(text), place)
        for place, (a, b, text) in enumerate(zip(one.behaviour, other.behaviour, inputs, strict=True))
        if a.ran and b.ran and a.key != b.key and a.shown.strip() != b.shown.strip()
    ]
    return min(differing)[1] if differing else None
