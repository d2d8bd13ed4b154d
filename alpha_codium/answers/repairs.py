"""Repairs of structured answers, which are tried in this order until one is readable.

1. The unchanged answer.
2. Without thinking, prose and fences: the text of each fence that isn't code (the last closed one first), then JSON
   objects in prose, then the text from the first line that begins with a bracket to the last bracket, then the whole
   text. To broken JSON only repair 6 is applied in addition.
3. Only the lines from the first field to the last line that can belong to a field, without Markdown around the names of
   fields (`**name**:`).
4. Unreadable values (`a: b: c`, a leading backtick, `*`, `@` or `%`, an extra quote, a block that isn't indented) as
   YAML blocks.
5. Tabs in the indentation replaced by spaces, followed by repair 4.
6. Only for truncated answers: without the last, incomplete item of a list.
"""

import re
import textwrap
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.answers.fences import LINE, clean, fenced_texts
from alpha_codium.answers.fields import Field, FieldKind
from alpha_codium.answers.yaml_text import MAX_CHARACTERS, FormatError, json_objects, read_yaml

MAX_FENCES = 4
MAX_CUTS = 4
BLOCK_HEADER = re.compile(r"\s*[|>][-+0-9]{0,2}\s*(?:#.*)?$")
ITEM = re.compile(r"(?P<lead>[ \t]*)(?P<bullet>[-*+•]|\d{1,3}[.)])[ \t]+(?P<rest>\S[^\n]*)\n?")
CONTINUATION = re.compile(r"[ \t]|\r?\n|-(?:\s|$)|[\]}]|[\w \-]{1,40}:(?:\s|$)|#")
JSON_BRACKET = re.compile(r'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
JSON_START = re.compile(r'^[ \t]*(?:\{|\[[ \t\r]*(?:$|[{"\[\d]))', re.MULTILINE)
ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\", "\\/": "/"}


def readings(answer: str, fields: Sequence[Field], truncated: bool = False) -> Iterator[str]:
    """Yield repaired versions of an answer, the least changed first, without duplicates and too long texts."""
    seen: set[str] = set()
    for text in _readings(answer, fields, truncated):
        if text not in seen and len(text) <= MAX_CHARACTERS:
            seen.add(text)
            yield text


def _readings(answer: str, fields: Sequence[Field], truncated: bool) -> Iterator[str]:
    yield answer
    stripped = [text for text in without_prose(answer, fields) if len(text) <= MAX_CHARACTERS]
    yield from stripped
    texts = [from_first_field(text, fields) or text for text in stripped if not _is_json(text, fields)]
    yield from texts
    quoted = [quote_values(text, fields) for text in texts]
    yield from quoted
    spaced = [quote_values(spaces_for_tabs(text), fields) for text in texts]
    yield from spaced
    if truncated:
        for text in [*stripped, *spaced]:
            yield from without_last_items(text)


def without_prose(answer: str, fields: Sequence[Field]) -> Iterator[str]:
    """Yield the texts in an answer's fences, its JSON objects, and the answer without thinking and end tokens."""
    text = clean(answer)
    fenced = [(closed, body) for fence, body, closed in fenced_texts(text) if not fence.is_code]
    last_first = [body for wanted in (True, False) for closed, body in reversed(fenced) if closed is wanted]
    yield from last_first[:MAX_FENCES]
    if len(text) > MAX_CHARACTERS:
        return
    yield from json_objects(text)
    if (opening := JSON_START.search(text)) and _is_json(text, fields):
        yield text[opening.start() : max(text.rfind("}"), text.rfind("]")) + 1]
    yield text


def _is_json(text: str, fields: Sequence[Field]) -> bool:
    """Return whether a text looks like JSON: a bracket precedes the first field, or that field ends in a comma."""
    pattern = re.compile(f"^{_key_line(all_names(fields)).pattern}", re.MULTILINE | re.IGNORECASE)
    bracket, key = JSON_START.search(text), pattern.search(text)
    if not key or (bracket and bracket.start() < key.start()):
        return bool(bracket)
    return key["mark"] == '"' and key["rest"].rstrip().endswith((",", "{", "["))


def _key_line(names: Collection[str]) -> re.Pattern[str]:
    """Return a pattern for lines that begin with one of the names as a key, perhaps in Markdown or quotes."""
    any_name = "|".join(re.escape(name).replace("_", "[ _-]") for name in sorted(names, key=len, reverse=True))
    return re.compile(
        rf"(?P<lead>[ \t]*(?:-[ \t]+)*)(?:\#{{1,6}}[ \t]+)?(?P<mark>\*\*|__|[`\"']|)(?P<key>{any_name})"
        r"(?:(?P=mark))?[ \t]*:(?:\*\*|__)?(?P<rest>[^\n]*)\n?",
        re.IGNORECASE,
    )


def all_names(fields: Sequence[Field]) -> set[str]:
    """Return the names of fields, including those of records."""
    return {field.name for field in fields} | {inner.name for field in fields for inner in field.fields}


def from_first_field(text: str, fields: Sequence[Field]) -> str | None:
    """Return the text from the first field's line to the last line that can belong to a field, or None."""
    pattern = _key_line({field.name for field in fields})
    lines = LINE.findall(text)
    start = next((number for number, line in enumerate(lines) if pattern.match(line)), None)
    if start is None:
        return None
    rest = LINE.findall(textwrap.dedent("".join(lines[start:])))
    return "".join(_without_marks(line, pattern) for line in rest[: _end_of_fields(rest, fields)])


def _end_of_fields(lines: Sequence[str], fields: Sequence[Field]) -> int:
    """Return the index of the first line, after the last key, that can't belong to a field: a fence or prose."""
    pattern = _key_line(all_names(fields))
    keys = [(number, match) for number, line in enumerate(lines) if (match := pattern.match(line))]
    last, match = keys[-1]
    end = last + 1
    if not match["rest"].strip() or BLOCK_HEADER.match(match["rest"]):
        # The lines after a key without a value on its line are its value, even if they aren't indented.
        while end < len(lines) and lines[end].strip() and not lines[end].startswith(("```", "~~~")):
            end += 1
    while end < len(lines) and CONTINUATION.match(lines[end]):
        end += 1
    return end


def _without_marks(line: str, pattern: re.Pattern[str]) -> str:
    match = pattern.match(line)
    if not match or match["mark"] not in ("**", "__", "`") or "-" in match["lead"]:
        return line
    return f"{match['lead']}{match['key']}:{match['rest']}\n"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A key or list item, the rest of its line, and the following lines of its value."""

    lead: str
    key: str
    rest: str
    following: tuple[str, ...]
    written: str

    @property
    def column(self) -> int:
        """The column that the value's indentation is relative to."""
        return len(self.lead) - (0 if self.key else len("- "))


def quote_values(text: str, fields: Sequence[Field]) -> str:
    """Return the text with the unreadable values of known fields as YAML blocks."""
    return "".join(part if isinstance(part, str) else _quoted(part) for part in _entries(text, fields))


def _entries(text: str, fields: Sequence[Field]) -> Iterator["str | _Entry"]:
    """Yield the entries of known fields, and the lines outside them."""
    pattern = _key_line(all_names(fields))
    kinds = {field.name: field.kind for outer in fields for field in (outer, *outer.fields)}
    lines = LINE.findall(text)
    number, kind = 0, FieldKind.TEXT
    while number < len(lines):
        match = pattern.match(lines[number])
        item = ITEM.match(lines[number]) if kind is FieldKind.LIST and not match else None
        if match:
            kind = kinds.get(re.sub(r"[ -]", "_", match["key"].lower()), FieldKind.TEXT)
        if not (found := match or item) or (match and kind is not FieldKind.TEXT and not match["rest"].strip()):
            yield lines[number]
            number += 1
            continue
        lead = found["lead"] if match else item["lead"] + "- " if item else ""
        end = _end_of_value(lines, number, len(lead) - 2 * bool(item), found["rest"], pattern, kind)
        following = tuple(lines[number + 1 : end])
        # The only bullet in YAML is `-`.
        own_line = lines[number] if match else f"{lead}{found['rest']}\n"
        yield _Entry(lead, match["key"] if match else "", found["rest"], following, own_line + "".join(following))
        number = end


def _end_of_value(
    lines: list[str], number: int, column: int, rest: str, pattern: re.Pattern[str], kind: FieldKind
) -> int:
    """Return the index of the first line after a value: the end of an indented block, or the next key or item."""
    end = number + 1
    if BLOCK_HEADER.match(rest):
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * (column + 1))):
            end += 1
        if "".join(lines[number + 1 : end]).strip():
            return end
    while (
        end < len(lines) and not pattern.match(lines[end]) and not (kind is FieldKind.LIST and ITEM.match(lines[end]))
    ):
        end += 1
    return end


def _quoted(entry: _Entry) -> str:
    if _is_readable(entry):
        return entry.written
    has_header = BLOCK_HEADER.match(entry.rest)
    first = [] if has_header else [_unquoted(entry.rest.strip())]
    following = textwrap.dedent("".join(entry.following)).split("\n")
    content = "\n".join([*first, *following]).rstrip()
    block = textwrap.indent(content, " " * (entry.column + 2), lambda _line: True)
    key = f"{entry.key}: " if entry.key else ""
    return f"{entry.lead}{key}{'|2' if has_header else '|2-'}\n{block}\n"


def _is_readable(entry: _Entry) -> bool:
    try:
        read_yaml(entry.written)
    except FormatError:
        return False
    return True


def _unquoted(value: str) -> str:
    """Return a value without its quotes, with common escapes replaced."""
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'":
        return value
    if value[0] == "'":
        return value[1:-1].replace("''", "'")
    return re.sub(r'\\[nt"\\/]', lambda match: ESCAPES[match[0]], value[1:-1])


def spaces_for_tabs(text: str) -> str:
    """Return the text with two spaces for every tab in the indentation of a line."""
    return re.sub(r"^[ \t]+", lambda match: match[0].replace("\t", "  "), text, flags=re.MULTILINE)


def without_last_items(text: str) -> Iterator[str]:
    """Yield the text of a truncated answer without its last item, then without the last two, and so on."""
    if json := JSON_START.search(text):
        yield from _closed_json(text[json.start() :])
        return
    starts = [match.start() for match in re.finditer(r"^ *- +\S", text, re.MULTILINE)]
    for start in reversed(starts[-MAX_CUTS:]):
        yield text[:start]


def _closed_json(text: str) -> Iterator[str]:
    """Yield a JSON text cut after one of its last complete objects, with the open brackets closed."""
    # The open brackets: a pair of the innermost one's closing sign and of those around it.
    open_brackets: Any = ()
    cuts: deque[tuple[int, Any]] = deque(maxlen=MAX_CUTS)
    for match in JSON_BRACKET.finditer(text):
        sign = match[0]
        if sign in ("{", "["):
            open_brackets = ("}" if sign == "{" else "]", open_brackets)
        elif sign in ("}", "]") and open_brackets:
            open_brackets = open_brackets[1]
            cuts.append((match.end(), open_brackets))
    for end, still_open in reversed(cuts):
        yield text[:end] + "".join(_linked(still_open))


def _linked(items: Any) -> Iterator[str]:
    """Yield the items of nested pairs `(first, rest)`."""
    while items:
        first, items = items
        yield first
