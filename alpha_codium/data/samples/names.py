"""Matching of task ids with problems: `Mbpp/11`, `MBPP/11`, `11` and `mbpp_11_remove_Occ` are the same.

1. An id that is a problem's name matches that problem.
2. Otherwise an id is parsed as benchmark, split, number and the rest. The numbers must be equal; so must the benchmark,
   if the id has one, and the split and the rest, if both have them.
3. `Python/11` of HumanEval-X is `HumanEval/11`, whose tests are the same.
4. An ambiguous id matches no problem.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

ID = re.compile(
    r"(?:(?P<benchmark>[A-Za-z][A-Za-z+]*)(?:[/_ -](?P<split>train|test|valid|validation|prompt))?[/_ -])?"
    r"(?P<number>\d{1,9})(?:_(?P<rest>\w+))?"
)

# Another name of a benchmark in ids.
SAME = {"humaneval": "python", "python": "humaneval"}


class _Id(NamedTuple):
    benchmark: str
    split: str
    number: int
    rest: str

    def fits(self, name: "_Id") -> bool:
        """Return whether this id may refer to the problem `name`."""
        same_benchmark = self.benchmark in ("", name.benchmark, SAME.get(name.benchmark))
        same_split = not self.split or not name.split or self.split == name.split
        same_rest = not self.rest or not name.rest or self.rest == name.rest
        return self.number == name.number and same_benchmark and same_split and same_rest


class TaskNames:
    """The names of a split's problems, which can be found by the ids in files."""

    def __init__(self, names: Sequence[str]) -> None:
        self._exact = frozenset(names)
        self._by_number: dict[int, list[tuple[_Id, str]]] = {}
        for name in names:
            # The number in a name such as 1575_A is a contest's, not a problem's.
            if (read := _read(name)) and (read.benchmark or not read.rest):
                self._by_number.setdefault(read.number, []).append((read, name))

    def find(self, task: str | int) -> str | None:
        """Return the name of the problem that `task` refers to, or None if it matches none or several."""
        text = str(task).strip()
        if text in self._exact:
            return text
        asked = _read(text)
        fitting = [name for known, name in self._by_number.get(asked.number, ()) if asked.fits(known)] if asked else []
        return fitting[0] if len(fitting) == 1 else None


def _read(text: str) -> _Id | None:
    match = ID.fullmatch(text)
    if match is None:
        return None
    split = "valid" if match["split"] == "validation" else match["split"] or ""
    return _Id((match["benchmark"] or "").lower(), split, int(match["number"]), match["rest"] or "")
