"""Conversion of a file of samples to rows of a Solutions dataset, with the names of problems and whole programs.

1. Every id must match a problem of the split (see `names`). A list in the problems' order must have an item for each.
2. The program of a completion is the prompt and the completion, if the problem's description is the beginning of a
   function; otherwise, as in MBPP, the completion is the program. Where more texts are Python only after
   the prompt than by themselves, these are completions, whatever their column is called (`with_completions_found`).
3. Problems without samples get no row; they count as failed, since a score is over the whole split.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from alpha_codium.data.files import WHOLE, FileSource
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.samples.names import TaskNames
from alpha_codium.data.samples.reading import COMPLETION, SOLUTION, Row
from alpha_codium.data.solutions import CANDIDATES, DETAILS, OPTIONAL, ORIGIN, SUBSET, check_row
from alpha_codium.data.sources import find_source
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.language_table import LANGUAGES, canonical
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.languages.python.syntax import UNPARSABLE, parse
from alpha_codium.program import PYTHON
from alpha_codium.wording import counted

# Providers' finish reasons for an answer that was cut off.
CUT_OFF = ("length", "max_tokens", "max_output_tokens")


def solutions_of(rows: Sequence[Row], problems: ProblemSet, language: str = "") -> list[dict[str, Any]]:
    """Return one row for each problem with samples: `task_name`, `solution_candidates`, and details of each.

    `language` is that of programs whose row names none that is known; by default it is the language of the problem's
    assertions, which is Python unless the benchmark is in another one. Raises DatasetError if a row's problem isn't in
    the split, or a list isn't as long as the split.
    """
    found: dict[str, list[Row]] = {}
    for row, name in zip(rows, problem_names(rows, problems), strict=True):
        found.setdefault(name, []).append(row)
    return [_solutions_row(name, group, problems, language) for name, group in found.items()]


def problems_for(rows: Sequence[Row], dataset: str, split: str | None) -> ProblemSet:
    """Return the problems that samples are scored over.

    Raises DatasetError if `split` is None and all samples belong to one of several splits: the problems of the other
    splits would all count as failed.
    """
    problems = load_problems(dataset, split)
    source = find_source(dataset)
    if split is not None or not isinstance(source, FileSource) or len(source.parts()) == 1:
        return problems
    named = set(problem_names(rows, problems))
    for part in source.parts():
        if named.issubset(load_problems(dataset, part).names):
            raise DatasetError(
                f"all samples are of the split {part!r} of {dataset}: score them over that with `split` {part}, "
                f"or over all splits ({counted(len(problems), 'problem')}) with `split` {WHOLE}"
            )
    return problems


def with_completions_found(rows: Sequence[Row], problems: ProblemSet) -> tuple[list[Row], int]:
    """Return the rows with whole programs in place of texts that only continue the prompt, and the number of these.

    A row that has no other texts becomes one of completions. If there are no fewer whole programs, the rows stay as
    they are: a model that was asked for programs, and answers with a body, has failed, as published scores have it.
    """
    names = problem_names(rows, problems)
    found = [_continuing(row, name, problems) for row, name in zip(rows, names, strict=True)]
    count = sum(map(sum, found))
    if not count or count <= sum(map(_whole_programs, rows)):
        return list(rows), 0
    parts = zip(rows, names, found, strict=True)
    return [_with_completions(row, name, problems, which) for row, name, which in parts], count


def _continuing(row: Row, name: str, problems: ProblemSet) -> list[bool]:
    """Whether each text of a row only continues the prompt."""
    prompt = _prompt(name, problems) if row.form == SOLUTION else ""
    return [bool(prompt) and _only_continues(text, prompt) for text in row.texts]


def _whole_programs(row: Row) -> int:
    """The number of a row's texts that are Python by themselves; those that are none in any form don't count."""
    return sum(bool(text.strip()) and _is_python(text) for text in row.texts) if row.form == SOLUTION else 0


def _with_completions(row: Row, name: str, problems: ProblemSet, continues: Sequence[bool]) -> Row:
    if not any(continues):
        return row
    texts = list(zip(row.texts, continues, strict=True))
    if all(is_so or not text.strip() for text, is_so in texts):
        return replace(row, form=COMPLETION)
    prompt = _prompt(name, problems)
    return replace(row, texts=tuple(prompt + text if is_so else text for text, is_so in texts))


def _only_continues(text: str, prompt: str) -> bool:
    """Whether a text isn't Python, but the prompt with it is."""
    # What isn't indented can't continue a function.
    return text.lstrip("\r\n")[:1] in (" ", "\t") and not _is_python(text) and _is_python(prompt + text)


def _is_python(text: str) -> bool:
    try:
        parse(text)
    except UNPARSABLE:
        return False
    return True


def problem_names(rows: Sequence[Row], problems: ProblemSet) -> list[str]:
    """Return the name of each row's problem; raises DatasetError if a problem isn't in the split."""
    if rows and rows[0].by_place:
        if len(rows) != len(problems):
            raise DatasetError(
                f"the file holds programs for {counted(len(rows), 'problem')} in their order, but {problems.label} has "
                f"{len(problems)}: name the split that they are of as `split`"
            )
        return [problems.names[int(row.task)] for row in rows]
    known = TaskNames(problems.names)
    by_prompt = {}
    if any(row.by_prompt for row in rows):
        by_prompt = {problem.description.strip(): problem.name for problem in problems}
    names = [by_prompt.get(str(row.task).strip()) if row.by_prompt else known.find(row.task) for row in rows]
    if rows and rows[0].values is None:
        names = _by_name_or_place(rows, names, problems)
    if strangers := [row for row, name in zip(rows, names, strict=True) if name is None]:
        others = len({row.task for row in strangers}) - 1
        row = strangers[0]
        more = f"; other unknown ids: {others}" if others else ""
        raise DatasetError(
            f"{row.where}: {row.task!r:.80} isn't a problem of {problems.dataset_name}[{problems.split_name}]"
            f"{nearest(str(row.task)[:80], problems.names)}{more}"
        )
    return [name for name in names if name is not None]


def _by_name_or_place(rows: Sequence[Row], names: list[str | None], problems: ProblemSet) -> list[str | None]:
    """Return the problems that the keys of a JSON object refer to: by `names`, or else by index.

    Raises DatasetError if both are possible and differ.
    """
    keys = [str(row.task) for row in rows]
    places = [problems.names[int(key)] if key.isdecimal() and int(key) < len(problems) else None for key in keys]
    if None in places:
        return names
    if None in names:
        return places
    for row, name, at in zip(rows, names, places, strict=True):
        if name != at:
            raise DatasetError(
                f"{row.where} may be the problem {name!r} or the problem at that index, {at!r}: use full names"
            )
    return names


def _solutions_row(name: str, rows: Sequence[Row], problems: ProblemSet, language: str) -> dict[str, Any]:
    prompt = _prompt(name, problems) if any(row.form == COMPLETION for row in rows) else ""
    language = language or problems.get(name).execution.language
    # An empty completion stays empty.
    programs = [
        prompt + text if row.form == COMPLETION and text.strip() else text for row in rows for text in row.texts
    ]
    values: dict[str, Any] = {"task_name": name, CANDIDATES: programs}
    values |= _languages(rows, language) | _kept(name, rows)
    cut_off = [_cut_off(row) for row in rows]
    if all(each is not None for each in cut_off):
        values["truncated_answers"] = [int(cut) for each in cut_off if each is not None for cut in each]
    return values


def _languages(rows: Sequence[Row], language: str) -> dict[str, list[str]]:
    """Return the language of each program: that of its row, or else `language`; nothing if all are in Python."""
    named = [canonical(str((row.values or {}).get("language"))) for row in rows]
    languages = [name if name in LANGUAGES else language for name in named]
    if set(languages) == {PYTHON}:
        return {}
    return {"language": [name for name, row in zip(languages, rows, strict=True) for _ in row.texts]}


def _kept(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the details of a problem's candidates from a Solutions dataset; raises DatasetError for repeated rows."""
    if any(row.column != CANDIDATES for row in rows):
        return {}
    keys = (*DETAILS, *OPTIONAL, *ORIGIN, SUBSET)
    kept = [{key: value for key in keys if (value := (row.values or {}).get(key)) is not None} for row in rows]
    if len(rows) > 1 and any(kept):
        raise DatasetError(f"{rows[1].where}: the problem {name!r} is repeated")
    check_row({CANDIDATES: rows[0].texts, **kept[0]}, rows[0].where)
    return kept[0]


def _prompt(name: str, problems: ProblemSet) -> str:
    problem = problems.get(name)
    return problem.description if problem.execution.language != PYTHON or beginning_of(problem.description) else ""


def _cut_off(row: Row) -> list[bool] | None:
    """Return whether each text of a row was cut off, by `finish_reason`; None unless it is given for each."""
    reason = (row.values or {}).get("finish_reason")
    if reason is None:
        return None
    reasons = reason if isinstance(reason, list) else [reason] * len(row.texts)
    if len(reasons) != len(row.texts) or not all(isinstance(each, str) for each in reasons):
        return None
    return [each in CUT_OFF for each in reasons]


def columns_of(rows: Iterable[Row]) -> Mapping[str, str]:
    """Return the columns that programs were read from, and the form of each, such as `{"completion": "completion"}`."""
    return {row.column: row.form for row in rows if row.column}
