"""The problems of one level and split, each made when it is asked for: the tests of APPS take gigabytes."""

from collections.abc import Sequence
from typing import overload

from alpha_codium.data.benchmarks.apps import DIFFICULTIES, NAME, SPLITS
from alpha_codium.data.load import ProblemSet
from alpha_codium.errors import UserError, nearest
from alpha_codium.problem import Problem

ALL = "all"


class Selection(Sequence[Problem]):
    """Some problems of a set, by their places."""

    def __init__(self, problems: ProblemSet, places: Sequence[int]) -> None:
        self.problems, self.places = problems, places
        self.names = tuple(problems.names[place] for place in places)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Problem: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Problem, ...]: ...
    def __getitem__(self, index: int | slice) -> Problem | tuple[Problem, ...]:
        """The problem at a place, or those of a slice."""
        if isinstance(index, slice):
            return tuple(self.problems[place] for place in self.places[index])
        return self.problems[self.places[index]]


def select(problems: ProblemSet, level: str, split: str) -> Selection:
    """The problems of `level`; where names say which split they are of, those of `split`.

    Raises UserError where there is no such level, or a file of several splits lacks this one.
    """
    if level not in (*DIFFICULTIES, ALL):
        raise UserError(f"level {level!r} is unknown{nearest(str(level), [*DIFFICULTIES, ALL])}")
    places: Sequence[int] = range(len(problems))
    splits = [_split_of(name) for name in problems.names]
    if any(splits):
        if split not in splits:
            raise UserError(f"{problems!r} has no split {split!r}{nearest(split, {each for each in splits if each})}")
        places = [place for place in places if splits[place] == split]
    if level != ALL:
        places = [place for place in places if problems[place].difficulty == DIFFICULTIES[level]]
    return Selection(problems, places)


def _split_of(name: str) -> str:
    """`test` of `apps/test/4104`, and nothing of `apps/4104`."""
    benchmark, _, rest = name.partition("/")
    split = rest.partition("/")[0]
    return split if benchmark == NAME and split in SPLITS else ""
