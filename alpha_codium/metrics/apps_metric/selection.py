"""The problems of one level and split, each made when it is asked for: the tests of APPS take gigabytes."""

from collections.abc import Sequence

from alpha_codium.data.benchmarks.apps import DIFFICULTIES, NAME, SPLITS
from alpha_codium.data.load import ProblemSet
from alpha_codium.errors import UserError, nearest

ALL = "all"


def select(problems: ProblemSet, level: str, split: str) -> ProblemSet:
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
    return problems.select(places)


def _split_of(name: str) -> str:
    """`test` of `apps/test/4104`, and nothing of `apps/4104`."""
    benchmark, _, rest = name.partition("/")
    split = rest.partition("/")[0]
    return split if benchmark == NAME and split in SPLITS else ""
