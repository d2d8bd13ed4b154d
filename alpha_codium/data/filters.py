"""Filters and sampling of problems and solutions for ETL."""

import datetime
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from alpha_codium.data.schema import DATE_COLUMNS, DIFFICULTY_NAMES, SOLUTION_COLUMNS, date_text
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.options import Option
from alpha_codium.problem import LANGUAGE_NAMES, SOURCE_NAMES
from alpha_codium.values import plain

# The accepted values of `is_valid_problem`; None means that the problem couldn't be judged.
VALIDITIES = {"valid": (True,), "not_invalid": (True, None)}


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of problems and solutions; an empty one keeps everything.

    `languages` selects solutions. The others select problems: by name, source, difficulty, tag (one must match), date
    of publication (inclusive), or the result of validation (`valid` or `not_invalid`). Languages, sources and
    difficulties may be written in upper case, too. Raises DatasetError for unknown ones.
    """

    languages: Annotated[tuple[str, ...], Option("Keep solutions in this language. Default: all.", "--language")] = ()
    sources: Annotated[
        tuple[str, ...], Option("Keep problems from this site, such as codeforces.", "--problem_source")
    ] = ()
    difficulties: Annotated[
        tuple[str, ...], Option("Keep problems of this difficulty, such as easy or B.", "--difficulty")
    ] = ()
    names: Annotated[tuple[str, ...], Option("Keep the problem of this name.", "--problem_name")] = ()
    tags: Annotated[tuple[str, ...], Option("Keep problems with this tag.", "--tag")] = ()
    date_from: Annotated[
        datetime.date | None,
        Option(
            "Keep problems published on this day or later.", metavar="YYYY-MM-DD", parse=datetime.date.fromisoformat
        ),
    ] = None
    date_to: Annotated[
        datetime.date | None,
        Option(
            "Keep problems published on this day or earlier.", metavar="YYYY-MM-DD", parse=datetime.date.fromisoformat
        ),
    ] = None
    validity: Annotated[str, Option("Keep problems that validate found `valid`, or `not_invalid`.", metavar="WHAT")] = (
        ""
    )

    def __post_init__(self) -> None:
        """Correct the case of names; raise DatasetError for unknown ones."""
        known = {"languages": LANGUAGE_NAMES, "sources": SOURCE_NAMES.values(), "difficulties": DIFFICULTY_NAMES}
        for field, names in known.items():
            object.__setattr__(self, field, tuple(_known(field, word, names) for word in getattr(self, field)))
        _known("validity", self.validity, ("", *VALIDITIES))

    @property
    def need_dates(self) -> bool:
        """Whether a filter needs dates."""
        return self.date_from is not None or self.date_to is not None

    def keeps_problem(self, stored: Mapping[str, Any]) -> bool:
        """Return whether a stored record passes the filters of problems."""
        if self.names and stored["name"] not in self.names:
            return False
        if self.sources and stored["source_name"] not in self.sources:
            return False
        if self.difficulties and stored["difficulty_name"] not in self.difficulties:
            return False
        if self.validity and stored["is_valid_problem"] not in VALIDITIES[self.validity]:
            return False
        tags = {tag.lower() for tag in self.tags}
        if tags and tags.isdisjoint(tag.lower() for tag in stored["cf_tags"]):
            return False
        return not self.need_dates or self._keeps_date(stored)

    def keep_solutions(self, stored: dict[str, Any]) -> dict[str, Any]:
        """Return the stored record with only the solutions in the chosen languages."""
        if not self.languages:
            return stored
        return stored | {column: self._in_languages(stored[column]) for column in SOLUTION_COLUMNS}

    def as_record(self) -> dict[str, Any]:
        """Return the filters that are set, as JSON."""
        return {key: plain(value) for key, value in asdict(self).items() if value}

    def _in_languages(self, programs: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        kept = [index for index, name in enumerate(programs["language_name"]) if name in self.languages]
        return {key: [values[index] for index in kept] for key, values in programs.items()}

    def _keeps_date(self, stored: Mapping[str, Any]) -> bool:
        texts = (date_text(stored, column) for column in DATE_COLUMNS if column in stored)
        text = next(filter(None, texts), None)
        if text is None:
            return False
        date = datetime.datetime.fromisoformat(text).date()
        return (self.date_from or date) <= date <= (self.date_to or date)


def in_sample(name: str, rate: float, seed: int) -> bool:
    """Return whether a problem is in a random sample of all problems, of which `rate` (0 to 1) is the share.

    The result depends only on the problem's name and the seed. A smaller rate selects a subset.
    """
    if rate >= 1:
        return True
    digest = hashlib.sha256(f"{seed}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < rate * 2**64


def check_rate(rate: float) -> None:
    """Raise DatasetError unless a sampling rate is above 0 and at most 1."""
    if not 0 < rate <= 1:
        raise DatasetError(f"a sample rate must be above 0 and at most 1, not {rate}")


def _known(field: str, word: str, known: Iterable[str]) -> str:
    """Return the known name that differs from `word` only in case; raises DatasetError if there is none."""
    names = {name.lower(): name for name in known}
    if word.lower() not in names:
        kind = {"languages": "language", "sources": "source", "difficulties": "difficulty"}.get(field, field)
        raise DatasetError(f"unknown {kind} {word!r}{nearest(word, names.values())}")
    return names[word.lower()]
