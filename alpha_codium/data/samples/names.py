"""Which problem an id means: the same one is `Mbpp/11`, `MBPP/11`, `11` or `mbpp_11_remove_Occ` in one file or another.

1. An id that is a problem's name means that problem.
2. Else an id is read as benchmark, split, number and what follows the number. The numbers must be the same; so must the
   benchmark, where the id gives one, and the split and what follows the number, where both give them.
3. What fits no problem, or several, means none: nothing is guessed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

ID = re.compile(
    r"(?:(?P<benchmark>[A-Za-z][A-Za-z+]*)(?:[/_ -](?P<split>train|test|valid|validation|prompt))?[/_ -])?"
    r"(?P<number>\d{1,9})(?:_(?P<rest>\w+))?"
)


@dataclass(frozen=True, slots=True)
class _Id:
    benchmark: str
    split: str
    number: int
    rest: str

    def fits(self, name: "_Id") -> bool:
        """Whether `name` may be what this id means."""
        same_benchmark = self.benchmark in ("", name.benchmark)
        same_split = not self.split or not name.split or self.split == name.split
        same_rest = not self.rest or not name.rest or self.rest == name.rest
        return self.number == name.number and same_benchmark and same_split and same_rest


@dataclass(frozen=True)
class TaskNames:
    """The names of the problems of a split, found by what files call them."""

    names: Sequence[str]
    _exact: frozenset[str] = field(init=False)
    _by_number: dict[int, list[tuple[_Id, str]]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_exact", frozenset(self.names))
        object.__setattr__(self, "_by_number", _by_number(self.names))

    def find(self, task: str | int) -> str | None:
        """The name of the problem that `task` means; None where it is none, or might be several."""
        text = str(task).strip()
        if text in self._exact:
            return text
        asked = _read(text)
        if asked is None:
            return None
        fitting = [name for known, name in self._by_number.get(asked.number, ()) if asked.fits(known)]
        return fitting[0] if len(fitting) == 1 else None


def _by_number(names: Iterable[str]) -> dict[int, list[tuple[_Id, str]]]:
    found: dict[int, list[tuple[_Id, str]]] = {}
    for name in names:
        # A name such as 1575_A has its number from a contest, not from the benchmark.
        if (read := _read(name)) and (read.benchmark or not read.rest):
            found.setdefault(read.number, []).append((read, name))
    return found


def _read(text: str) -> _Id | None:
    match = ID.fullmatch(text)
    if match is None:
        return None
    split = "valid" if match["split"] == "validation" else match["split"] or ""
    return _Id((match["benchmark"] or "").lower(), split, int(match["number"]), match["rest"] or "")
