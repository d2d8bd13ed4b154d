"""The rows of a file of samples as rows of a Solutions dataset: the right problem, whole programs.

1. Every id must mean a problem of the split (`names`). A list in the problems' order must be of their number.
2. The program of a completion is the prompt and the completion, where the problem's description is the beginning of a
   function; else, as in MBPP, the completion is the program.
3. Problems without samples get no row; they count as failed, since a score is of the whole split.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from alpha_codium.data.load import ProblemSet
from alpha_codium.data.samples.names import TaskNames
from alpha_codium.data.samples.reading import CANDIDATES, COMPLETION, Row
from alpha_codium.data.solutions import DETAILS, OPTIONAL, ORIGIN, check_row
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.program import LANGUAGE_SUFFIXES, PYTHON

# What providers call an answer that was cut off.
CUT_OFF = ("length", "max_tokens", "max_output_tokens")


def solutions_of(rows: Sequence[Row], problems: ProblemSet) -> list[dict[str, Any]]:
    """One row a problem that has samples: `task_name`, `solution_candidates`, and what else is known of each.

    Raises DatasetError where a row's problem isn't in the split, or a list isn't as long as the split.
    """
    found: dict[str, list[Row]] = {}
    for row, name in zip(rows, problem_names(rows, problems), strict=True):
        found.setdefault(name, []).append(row)
    return [_solutions_row(name, group, problems) for name, group in found.items()]


def problem_names(rows: Sequence[Row], problems: ProblemSet) -> list[str]:
    """The name of each row's problem; raises DatasetError where it has none in the split."""
    if rows and rows[0].by_place:
        if len(rows) != len(problems):
            raise DatasetError(
                f"the file holds programs for {len(rows)} problems in their order, and {problems!r} are "
                f"{len(problems)}: name the split that they are of with --split_name"
            )
        return [problems.names[int(row.task)] for row in rows]
    if rows and rows[0].values is None:
        return _names_of_keys(rows, problems)
    return list(_names_of_tasks(rows, problems))


def _names_of_keys(rows: Sequence[Row], problems: ProblemSet) -> list[str]:
    """The problems that the keys of a JSON object mean: by name, or by place, where that is no other problem."""
    known = TaskNames(problems.names)
    names = [known.find(row.task) for row in rows]
    places = [_at_place(row.task, problems) for row in rows]
    by_name, by_place = None not in names, None not in places
    if by_name and by_place and names != places:
        row = next(r for r, name, at in zip(rows, names, places, strict=True) if name != at)
        raise DatasetError(
            f"{row.where} may be the problem {known.find(row.task)!r}, or that at this place, "
            f"{_at_place(row.task, problems)!r}: name problems in full"
        )
    if by_place and not by_name:
        return [name for name in places if name is not None]
    return list(_names_of_tasks(rows, problems))


def _at_place(key: str | int, problems: ProblemSet) -> str | None:
    text = str(key)
    return problems.names[int(text)] if text.isdecimal() and int(text) < len(problems) else None


def _names_of_tasks(rows: Iterable[Row], problems: ProblemSet) -> Iterator[str]:
    known = TaskNames(problems.names)
    rows = list(rows)
    names = [known.find(row.task) for row in rows]
    strangers = [row for row, name in zip(rows, names, strict=True) if name is None]
    if strangers:
        others = len({row.task for row in strangers}) - 1
        row = strangers[0]
        raise DatasetError(
            f"{row.where}: {row.task!r:.80} is no problem of {problems.dataset_name}[{problems.split_name}]"
            f"{nearest(str(row.task)[:80], problems.names)}{f', nor are {others} others' if others else ''}"
        )
    return (name for name in names if name is not None)


def _solutions_row(name: str, rows: Sequence[Row], problems: ProblemSet) -> dict[str, Any]:
    prompt = _prompt(name, problems) if any(row.form == COMPLETION for row in rows) else ""
    programs = [_program(text, row.form, prompt) for row in rows for text in row.texts]
    values: dict[str, Any] = {"task_name": name, CANDIDATES: programs}
    values |= _languages(rows) | _kept(name, rows)
    cut_off = [_cut_off(row) for row in rows]
    if all(each is not None for each in cut_off):
        values["truncated_answers"] = [int(cut) for each in cut_off if each is not None for cut in each]
    return values


def _languages(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The language of each program, where the rows name ones of the datasets; else all are in Python."""
    named = [str((row.values or {}).get("language")).lower() for row in rows]
    if not any(name in LANGUAGE_SUFFIXES for name in named):
        return {}
    languages = [name if name in LANGUAGE_SUFFIXES else PYTHON for name in named]
    return {"language": [name for name, row in zip(languages, rows, strict=True) for _ in row.texts]}


def _kept(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """What a Solutions dataset says beside a problem's candidates; raises DatasetError where two rows do."""
    if any(row.column != CANDIDATES for row in rows):
        return {}
    kept = [
        {key: own[key] for key in (*DETAILS, *OPTIONAL, *ORIGIN) if (own := row.values or {}).get(key) is not None}
        for row in rows
    ]
    if len(rows) > 1 and any(kept):
        raise DatasetError(f"{rows[1].where}: the solutions hold the problem {name!r} twice")
    check_row({CANDIDATES: rows[0].texts, **kept[0]}, rows[0].where)
    return kept[0]


def _program(text: str, form: str, prompt: str) -> str:
    """The whole program; of an empty completion none, so that it counts as empty."""
    return prompt + text if form == COMPLETION and text.strip() else text


def _prompt(name: str, problems: ProblemSet) -> str:
    description = problems.get(name).description
    return description if beginning_of(description) else ""


def _cut_off(row: Row) -> list[bool] | None:
    """Which texts of a row were cut off, as `finish_reason` says; None where it doesn't say so of each."""
    reason = (row.values or {}).get("finish_reason")
    if reason is None:
        return None
    reasons = reason if isinstance(reason, list) else [reason] * len(row.texts)
    if len(reasons) != len(row.texts) or not all(isinstance(each, str) for each in reasons):
        return None
    return [each in CUT_OFF for each in reasons]


def columns_of(rows: Iterable[Row]) -> Mapping[str, str]:
    """The columns that programs were read from, and as what: `{"completion": "completion"}`."""
    return {row.column: row.form for row in rows if row.column}
