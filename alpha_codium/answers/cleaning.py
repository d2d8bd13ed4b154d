"""Cleaning of models' texts before they are scored, by named rules.

1. The rules are applied in the order of `RULES`, and repeated until none changes anything, at most `MAX_PASSES` times.
   So a clean text isn't changed by cleaning it again.
2. The rules for prose, fences and tokens don't change valid Python (for a completion: together with its prompt), so
   that the contents of strings are safe.
3. Rules only remove text. A truncated program stays broken.
"""

import json
import pickle
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from alpha_codium.answers.fences import fenced_texts, find_fences, strip_end_tokens
from alpha_codium.answers.unfenced import MAX_CUTS, MAX_STARTS
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.samples.programs import problem_names
from alpha_codium.data.samples.reading import COMPLETION, PICKLES, Row
from alpha_codium.errors import DatasetError
from alpha_codium.languages import CodeKind, Reader, language_named
from alpha_codium.languages.prose import PROSE_LINE
from alpha_codium.problem import Problem
from alpha_codium.program import PYTHON
from alpha_codium.runs.folder import write_atomically
from alpha_codium.thinking import split_thinking
from alpha_codium.values import JsonValue, named

# The ends of HumanEval completions: Chen et al. 2021 (arXiv:2107.03374), section 2.1.
STOP_WORDS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
END_TOKEN = re.compile(
    r"<\|(?:endoftext|end_of_text|im_end|eot_id|end|eom_id)\|>|</s>|<eos>|<EOT>|<end_of_turn>|\[/PYTHON\]"
    r"|(?P<done>^\[DONE\])",
    re.MULTILINE,
)
# At the beginning of an answer, or on a line of its own after prose.
BEGIN_TOKEN = re.compile(r"^[ \t]*\[PYTHON\](?:[ \t]*\r?\n|[ \t]*)", re.MULTILINE)
MAX_TOKENS = 8
MAX_PASSES = 16


@dataclass(frozen=True)
class GeneratedText:
    """A model's text, and its problem's prompt and entry point ("" if unknown); `form` is as in `data.samples`."""

    text: str
    form: str
    prompt: str = ""
    entry_point: str = ""
    stop_words: Sequence[str] = STOP_WORDS
    reader: Reader = field(default_factory=lambda: language_named(PYTHON).reader())

    @property
    def is_completion(self) -> bool:
        """Whether the text continues the prompt."""
        return self.form == COMPLETION

    def reads(self, text: str) -> bool:
        """Return whether `text`, for a completion after its prompt or alone, parses and does anything."""
        prefixes = (self.prompt or "def _():\n", "") if self.is_completion else ("",)
        return any(self.reader.kind_of(prefix + text) > CodeKind.BROKEN for prefix in prefixes)

    def defines(self, code: str) -> bool:
        """Return whether `code` defines the entry point or, if that is unknown, any function or class."""
        name = re.escape(self.entry_point) if self.entry_point else r"\w+"
        return bool(re.search(rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b", code, re.MULTILINE))


@dataclass(frozen=True, slots=True)
class CleaningRule:
    """A rule: its name, a description of what it cuts, and the function that cuts it."""

    name: str
    what: str
    apply: Callable[[GeneratedText, str], str]


def cut_thinking(known: GeneratedText, text: str) -> str:
    """Cut the model's thinking."""
    return text if known.reads(text) else split_thinking(text, known.reads)[0]


def cut_end_tokens(known: GeneratedText, text: str) -> str:
    """Cut everything up to a `[PYTHON]`, and everything from the first end token on.

    In a text with fences, only end tokens at the very end are cut.
    """
    text = _without_begin_token(known, text)
    matches = list(islice(END_TOKEN.finditer(text), MAX_TOKENS))
    if matches and known.reads(text):
        # In valid Python only `[DONE]` can be an end token, if the text before it is valid, too.
        matches = [match for match in matches if match["done"] and known.reads(text[: match.start()])]
    elif matches and find_fences(text, most=1):
        return strip_end_tokens(text)
    return text[: matches[0].start()] if matches else text


def _without_begin_token(known: GeneratedText, text: str) -> str:
    """Cut a `[PYTHON]` at the beginning, which is valid Python but never part of a program, or after prose."""
    match = BEGIN_TOKEN.search(text)
    before = text[: match.start()] if match else ""
    if match is None or (before.strip() and (known.reads(text) or known.reads(before))):
        return text
    return text[match.end() :]


def cut_fences(known: GeneratedText, text: str) -> str:
    """Keep one fenced block: one that defines the entry point, else one tagged as Python, else any.

    Of several, the last that is at least half as long as the longest is kept.
    """
    marks = [] if known.reads(text) else find_fences(text)
    if not marks:
        return text
    before = text[: marks[0].start]
    if not marks[0].info and before.strip() and known.reads(before):
        return before  # the prompt opened this fence
    blocks = [(fence, body) for fence, body, _ in fenced_texts(text) if body.strip()]
    defining = [(fence, body) for fence, body in blocks if known.defines(body)]
    chosen = defining or [(f, b) for f, b in blocks if known.reader.language.is_tag(f.info)] or blocks
    longest = max((len(body) for _, body in chosen), default=0)
    return next((body for _, body in reversed(chosen) if 2 * len(body) >= longest), text)


def cut_prose(known: GeneratedText, text: str) -> str:
    """Cut prose before and after a program."""
    if known.reads(text):
        return text
    for start in (0, *(match.start() for match in islice(known.reader.language.code_line.finditer(text), MAX_STARTS))):
        for end in _ends(text, start):
            piece = text[start:end]
            if known.reads(piece) and (start == 0 or known.reader.kind_of(piece) is CodeKind.PROGRAM):
                return piece
    return text


def cut_indentation(known: GeneratedText, text: str) -> str:
    """Cut the common indentation of a whole program."""
    if known.is_completion or known.reads(text):
        return text
    dedented = textwrap.dedent(text)
    return dedented if known.reads(dedented) else text


def cut_prompts(known: GeneratedText, text: str) -> str:
    """Cut the prompt if a completion repeats it."""
    prompt, stripped = known.prompt.strip(), text.lstrip()
    return stripped[len(prompt) :] if known.is_completion and prompt and stripped.startswith(prompt) else text


def cut_stop_words(known: GeneratedText, text: str) -> str:
    """Cut a completion at the first stop word, unless it is a whole function, which may begin with one."""
    if not known.is_completion or not text.strip() or not text.lstrip("\r\n")[:1].isspace():
        return text
    offsets = [offset for word in known.stop_words if (offset := text.find(word)) >= 0]
    return text[: min(offsets)] if offsets else text


RULES = (
    CleaningRule("thinking", "what a model thought, between tags", cut_thinking),
    CleaningRule("end_tokens", "tokens around an answer, such as [PYTHON] and <|endoftext|>", cut_end_tokens),
    CleaningRule("fences", "Markdown fences, and all but the block that defines the entry point", cut_fences),
    CleaningRule("prose", "prose before and after a program", cut_prose),
    CleaningRule("indentation", "the indentation that all lines of a whole program have", cut_indentation),
    CleaningRule("prompts", "the prompt, repeated before a completion", cut_prompts),
    CleaningRule("stop_words", "what follows the function that a completion ends", cut_stop_words),
)


def cleaned(known: GeneratedText, rules: Sequence[CleaningRule] = RULES) -> tuple[str, frozenset[str]]:
    """Return the text after all rules, and the names of the rules that changed it."""
    text, names = known.text, set[str]()
    for _ in range(MAX_PASSES):
        before = text
        for rule in rules:
            shorter = rule.apply(known, text)
            if len(shorter) < len(text):
                text = shorter
                names.add(rule.name)
        if text == before:
            break
    return text, frozenset(names)


def _ends(text: str, start: int) -> Iterator[int]:
    """Yield possible ends of a program that begins at `start`: the end of the text, then lines of prose, last first."""
    yield len(text)
    cuts = [match.start() for match in PROSE_LINE.finditer(text, start + 1)]
    yield from reversed(cuts[-MAX_CUTS:])


@dataclass
class Cleaning(JsonValue):
    """What is cut, and counts of samples: all, changed, emptied, and changed by each rule."""

    in_json: ClassVar[Mapping[str, str]] = named("samples", "changed", "emptied", rules="rules_used")

    rules: Sequence[CleaningRule] = RULES
    stop_words: Sequence[str] = STOP_WORDS
    samples: int = 0
    changed: int = 0
    emptied: int = 0
    changed_by: Counter[str] = field(default_factory=Counter)

    def texts(self, row: Row, problem: Problem) -> tuple[str, ...]:
        """Return a row's clean texts, and count them."""
        entry_point = problem.execution.entry_point
        return tuple(
            self._text(GeneratedText(text, row.form, problem.description, entry_point, self.stop_words))
            for text in row.texts
        )

    def _text(self, known: GeneratedText) -> str:
        after, names = cleaned(known, self.rules)
        self.samples += 1
        self.changed += known.text != after
        self.emptied += bool(known.text.strip()) and not after.strip()
        self.changed_by.update(names)
        return after

    @property
    def rules_used(self) -> dict[str, int | None]:
        """The number of samples that each rule changed; None for a rule that wasn't used."""
        return {rule.name: self.changed_by[rule.name] if rule in self.rules else None for rule in RULES}


def clean_rows(rows: Sequence[Row], problems: ProblemSet | None, cleaning: Cleaning) -> Iterator[dict[str, Any]]:
    """Yield the rows with clean texts, as JSON objects.

    Without `problems`, prompts and entry points are unknown. Raises DatasetError if rows name other problems, or if
    they don't name any and `problems` is None.
    """
    # In a file without columns, a key that is a number may be a problem's index.
    if problems is None and any(row.by_place or (row.values is None and str(row.task).isdecimal()) for row in rows):
        raise DatasetError(
            "the file doesn't name its problems: give the `benchmark` or `dataset` whose order it follows"
        )
    names = problem_names(rows, problems) if problems is not None else [str(row.task) for row in rows]
    for row, name in zip(rows, names, strict=True):
        problem = problems.get(name) if problems is not None else Problem(name)
        yield _with_texts(row, name, cleaning.texts(row, problem))


def clean_samples(rows: Sequence[Row], problems: ProblemSet, cleaning: Cleaning) -> list[Row]:
    """Return the rows with clean texts; raises DatasetError if rows name other problems."""
    pairs = zip(rows, problem_names(rows, problems), strict=True)
    return [replace(row, texts=cleaning.texts(row, problems.get(name))) for row, name in pairs]


def _with_texts(row: Row, name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return the row with other texts; a row without columns becomes an object that names its problem."""
    if row.values is None or row.by_place or not row.column:
        return {"task_id": name, row.form: [*texts]}
    is_list = isinstance(row.values[row.column], list | tuple)
    return {**row.values, row.column: [*texts] if is_list else texts[0]}


def write_rows(path: Path, cleaned_rows: Iterable[dict[str, Any]], rows: Sequence[Row]) -> None:
    """Write clean rows atomically: as JSON lines, or as a pickle if `path` ends in `.pkl` or `.pickle`.

    A pickle is a dict or a list of programs like the file that `rows` were read from, or a list of objects. Raises
    DatasetError if the file can't be written.
    """
    name = path.name.lower()
    if path.is_dir() or not name.endswith((".jsonl", *PICKLES)):
        raise DatasetError(f"`output` {path} must be a file that ends in .jsonl, or in .pkl for a pickle")
    lines = [json.dumps(row, default=str) + "\n" for row in cleaned_rows]
    content: str | bytes = "".join(lines)
    if name.endswith(PICKLES):
        content = pickle.dumps(_as_in_file([json.loads(line) for line in lines], rows))
    try:
        write_atomically(path, content)
    except OSError as error:
        raise DatasetError(f"{path} can't be written: {error.strerror}") from error


def _as_in_file(cleaned_rows: list[dict[str, Any]], rows: Sequence[Row]) -> list[Any] | dict[Any, Any]:
    """Return the rows as programs by problem, or in the problems' order, if `rows` are from such a file."""
    if any(row.values is not None for row in rows):
        return cleaned_rows
    programs = [
        clean[row.form] if row.form != COMPLETION else {row.form: clean[row.form]}
        for clean, row in zip(cleaned_rows, rows, strict=True)
    ]
    return programs if rows[0].by_place else dict(zip((row.task for row in rows), programs, strict=True))
