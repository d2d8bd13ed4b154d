"""The choice of a part of a split's problems, as it is recorded with runs, candidates and scores."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypedDict

from alpha_codium.data.filters import check_rate, in_sample
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.samples.names import TaskNames
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.wording import counted

# Names of problems that a text lists.
SHOWN = 5


class SubsetNote(TypedDict):
    """The part of a split that was scored: of how many problems it is, and how it was chosen."""

    of: int
    by: str


@dataclass(frozen=True, slots=True)
class Subset:
    """A random share of the problems, those with certain names, the first `limit` of these; by default, all problems.

    Raises DatasetError if `sample_rate` isn't above 0 and at most 1, or `limit` isn't above 0.
    """

    sample_rate: float = 1.0
    seed: int = 0
    limit: int | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""
        check_rate(self.sample_rate)
        if self.limit is not None and self.limit < 1:
            raise DatasetError(f"a limit of problems must be above 0, not {self.limit}")

    @classmethod
    def of(cls, values: Mapping[str, Any], seed: int = 0) -> Self:
        """Return the subset in a record of `as_record`, or in a `run.toml`, which may lack the seed."""
        rate = float(values.get("sample_rate") or 1.0)
        seed = values.get("seed", seed) if rate < 1 else 0
        return cls(rate, seed, values.get("limit"), tuple(values.get("names") or ()))

    @property
    def is_whole(self) -> bool:
        """Whether all problems are chosen."""
        return self.sample_rate == 1 and self.limit is None and not self.names

    def as_record(self) -> dict[str, Any]:
        """Return what restricts the choice; an empty dict if nothing does."""
        share = {"sample_rate": self.sample_rate, "seed": self.seed} if self.sample_rate < 1 else {}
        limit = {} if self.limit is None else {"limit": self.limit}
        return share | limit | ({"names": list(self.names)} if self.names else {})

    def as_text(self) -> str:
        """Return the record as JSON for a column of a dataset; "" if all problems are chosen."""
        return "" if self.is_whole else json.dumps(self.as_record(), ensure_ascii=False)

    def with_full_names(self, known: Sequence[str]) -> Self:
        """Return a copy with full names; an entry may also be an id such as `11`, or several names and ids with commas.

        Raises DatasetError for a name that no problem has, and if texts without a name were given.
        """
        found = TaskNames(known)
        names: list[str] = []
        for text in self.names:
            # A name may contain commas itself.
            for name in [text] if found.find(text) else filter(None, map(str.strip, text.split(","))):
                full = found.find(name)
                if full is None:
                    raise DatasetError(f"there is no problem {name!r} in the split{nearest(name, known)}")
                names.append(full)
        if self.names and not names:
            raise DatasetError("no problem is named: `names` is empty")
        return replace(self, names=tuple(dict.fromkeys(names)))

    def positions(self, known: Sequence[str]) -> list[int]:
        """Return the indices of the chosen problems, by full names; raises DatasetError if there are none."""
        named = frozenset(self.names)
        chosen = [
            place
            for place, name in enumerate(known)
            if (not named or name in named) and in_sample(name, self.sample_rate, self.seed)
        ]
        if known and not chosen:
            hint = ": use a higher `sample_rate`, or `limit` for a number" if self.sample_rate < 1 else ""
            raise DatasetError(f"{self} chose none of {counted(len(known), 'problem')}{hint}")
        return chosen[: self.limit]

    def choose(self, problems: ProblemSet) -> ProblemSet:
        """Return the chosen problems; the fingerprint is the whole split's."""
        if self.is_whole:
            return problems
        return problems.select(self.with_full_names(problems.names).positions(problems.names))

    def note(self, problems: Sequence[Any]) -> SubsetNote | None:
        """Return what a score of a part of `problems` says about it."""
        return None if self.is_whole else part_of(len(problems), str(self))

    def __str__(self) -> str:
        share = [f"sample_rate {self.sample_rate:g}, seed {self.seed}"] if self.sample_rate < 1 else []
        more = f", ... ({len(self.names)} names)" * (len(self.names) > SHOWN)
        names = [f"names {', '.join(self.names[:SHOWN])}{more}"] if self.names else []
        return "; ".join(share + names + ([] if self.limit is None else [f"limit {self.limit}"]))


def part_of(total: int, *ways: str) -> SubsetNote:
    """Return the note on a part of `total` problems: how many they were, and how it was chosen."""
    return {"of": total, "by": "; ".join(ways)}
