"""Extraction of the program from a model's answer.

1. First, thinking, end tokens and invisible characters at the start are removed.
2. Since a docstring may contain fences, a fenced block ends at the first closing fence before which the block parses;
   if there is none, at the first fence that can close it, else before prose or at the end of the answer. The fence's
   indentation is removed from the block; nothing else in the code is changed.
3. Of several blocks, programs tagged as the language are preferred, then untagged programs, then other blocks with that
   tag, then programs with other tags, and so on. Of equally good blocks the last is chosen that is at least half as
   long as the longest, since models correct themselves, but also add short examples and test data.
4. If a chosen program uses names that it doesn't define, such as a module that an earlier block imports, the earlier
   blocks that define them are put before it. Later blocks aren't added: they may be examples of its use.
5. Without fences, the program is the whole answer if it parses and does anything, else a field such as `code` in a YAML
   or JSON answer, else the longest part between prose that parses.

Refusals, prose and data contain no program.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alpha_codium.flows.fences import LINE, ZERO_WIDTH, Fence, clean, dedent, find_fences
from alpha_codium.flows.fields import Field
from alpha_codium.flows.repairs import readings
from alpha_codium.flows.yaml_text import FormatError, read
from alpha_codium.languages import MAX_PROGRAM, CodeKind, Language, Reader, language_named
from alpha_codium.program import PYTHON

# `{}` is replaced by the language's tag.
CODE_FIELDS = ("fixed_code", "code", "{}_code", "solution_code", "program", "solution", "{}", "answer")
MAX_CLOSINGS = 8
MAX_STARTS = 8
MAX_CUTS = 8
PROSE_LINE = re.compile(
    r"^(?![A-Za-z_][\w.\[\]]*[ \t]*(?:[-+*/%|&^]?=|[(\[]))"
    r"(?:[A-Z][\w'\u2019]*(?:[ ,:.!]|\r?$)|\*\*|#{2,6} |[-*] |\d+[.)] |>|\[/|</|<\||`{3}|~{3}|---)",
    re.MULTILINE,
)
GLUED_CLOSING = re.compile(r"(?<=[^\s`])`{3,}[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A program in an answer.

    `complete` means that a closing fence or other text follows it. `language` is the fence's tag, or "" if it has none;
    for all tags of the requested language it is the usual one.
    """

    code: str
    complete: bool = True
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    """The body of a fence, its kind as code, and the offset at which it ends."""

    code: str
    kind: CodeKind
    complete: bool
    end: int
    language: str

    def rank(self, language: Language) -> int:
        """Return a rank, which is higher for blocks that are more likely the program; 0 if it isn't code."""
        if self.kind is CodeKind.INERT or not self.code.strip():
            return 0
        if self.language == language.tag:
            return 6 if self.kind is CodeKind.PROGRAM else 4
        if self.kind is CodeKind.PROGRAM:
            return 3 if self.language else 5
        if self.language:
            return 0
        return 2 if self.kind is CodeKind.SNIPPET else int(bool(language.code_line.search(self.code)))


def extract_code(answer: str, language: str = PYTHON) -> Extracted | None:
    """Return the program in an answer; None if there is none."""
    text = clean(answer)
    reader = language_named(language).reader()
    return (
        _from_fences(text, reader) or _whole(text, reader) or _from_fields(text, reader) or _between_prose(text, reader)
    )


def fenced_texts(answer: str) -> list[Extracted]:
    """Return the content of all fenced blocks in an answer, in order."""
    blocks = _blocks(clean(answer), language_named(PYTHON).reader())
    return [Extracted(block.code, block.complete, block.language) for block in blocks]


def _from_fences(text: str, reader: Reader) -> Extracted | None:
    blocks = list(_blocks(text, reader))
    best = max((block.rank(reader.language) for block in blocks), default=0)
    if not best:
        return None
    equals = [block for block in blocks if block.rank(reader.language) == best]
    longest = max(len(block.code.strip()) for block in equals)
    block = next(block for block in reversed(equals) if 2 * len(block.code.strip()) >= longest)
    if block.kind is not CodeKind.PROGRAM:
        return Extracted(block.code, block.complete, block.language)
    alike = ("", block.language, reader.language.tag)
    earlier = [each.code for each in blocks if each.end < block.end and each.language in alike]
    return Extracted(reader.with_needed(block.code, earlier), block.complete, block.language)


def _blocks(text: str, reader: Reader) -> Iterator[_Block]:
    """Yield the fenced blocks of a text; an outer fence around a block tagged as the language is skipped."""
    fences, is_own = find_fences(text), reader.language.is_tag
    position = 0
    for number, opening in enumerate(fences):
        if opening.start < position:
            continue
        closings = _closings(fences, number, reader)
        if closings or is_own(opening.info) or not any(is_own(fence.info) for fence in fences[number + 1 :]):
            block = _block(text, opening, closings, reader)
            position = block.end
            yield block


def _closings(fences: Sequence[Fence], number: int, reader: Reader) -> list[Fence]:
    """Return the fences that may close fence `number`.

    A fence tagged as the language ends the search, unless fence `number` has that tag, too.
    """
    opening, is_own = fences[number], reader.language.is_tag
    found: list[Fence] = []
    for fence in fences[number + 1 :]:
        if len(found) == MAX_CLOSINGS or (is_own(fence.info) and not is_own(opening.info)):
            break
        if fence.can_close(opening):
            found.append(fence)
    return found


def _block(text: str, opening: Fence, closings: Sequence[Fence], reader: Reader) -> _Block:
    """Return the block that begins at a fence; see point 2 of the module's docstring."""
    is_own = reader.language.is_tag
    language = reader.language.tag if is_own(opening.info) else opening.tag
    for closing in closings:
        if closing.start - opening.end <= MAX_PROGRAM:
            code, kind = _read(text[opening.end : closing.start], opening.indent, reader)
            if kind is not CodeKind.BROKEN:
                # If the closing fence is missing, the fence that opens the next program closes this one.
                return _Block(code, kind, True, closing.start if is_own(closing.info) else closing.end, language)
    closing = next((fence for fence in closings if not fence.info), closings[0] if closings else None)
    rest = text[opening.end : closing.start if closing else len(text)]
    code, kind = _read(rest, opening.indent, reader)
    for cut in (_before_glued_closing, _before_prose):
        if kind is CodeKind.BROKEN and (shorter := cut(code, reader)):
            return _Block(shorter, reader.kind_of(shorter), True, opening.end + len(rest), language)
    end = opening.end + len(rest) if not closing or is_own(closing.info) else closing.end
    return _Block(code, kind, closing is not None, end, language)


def _read(body: str, indent: str, reader: Reader) -> tuple[str, CodeKind]:
    """Return a block without the indentation of its fence, and its kind.

    If some lines are indented less than the fence, nothing is removed if the block parses as it is; otherwise at most
    the fence's indentation is removed from each line.
    """
    code = dedent(body, indent).lstrip(ZERO_WIDTH)
    kind = reader.kind_of(code)
    if indent and kind is CodeKind.BROKEN:
        looser = re.sub(rf"^[ \t]{{1,{len(indent)}}}", "", body, flags=re.MULTILINE)
        if (looser_kind := reader.kind_of(looser)) is not CodeKind.BROKEN:
            return looser, looser_kind
    return code, kind


def _before_glued_closing(text: str, reader: Reader) -> str | None:
    """Return the code before a closing fence that is on the last line of code (`main()````), if it parses."""
    match = GLUED_CLOSING.search(text)
    code = text[: match.start()] if match else ""
    return code if code and reader.kind_of(code) > CodeKind.BROKEN else None


def _before_prose(text: str, reader: Reader) -> str | None:
    """Return the longest part of a text, from the start to a line of prose, that parses and does anything."""
    head = text[:MAX_PROGRAM]
    error = reader.line_of_error(head)
    if error is None:
        return None
    readable = sum(map(len, LINE.findall(head)[: error - 1]))
    starts = (match.start() for match in PROSE_LINE.finditer(head))
    cuts = list(itertools.takewhile(lambda start: start <= readable, starts))
    for cut in reversed(cuts[-MAX_CUTS:]):
        if reader.kind_of(head[:cut]) > CodeKind.BROKEN:
            return head[:cut]
    return None


def _whole(text: str, reader: Reader) -> Extracted | None:
    """Return the whole answer if it is code, without the leading white space of chat templates."""
    code = text.lstrip()
    return Extracted(code) if reader.kind_of(code) > CodeKind.BROKEN else None


def _from_fields(text: str, reader: Reader) -> Extracted | None:
    """Return the program in a field of a YAML or JSON answer, with or without a fence."""
    tag = reader.language.tag
    if not re.search(rf"(?:code|program|solution|{tag}|answer)\W{{0,3}}:", text, re.IGNORECASE):
        return None
    fields = [Field(name.format(tag)) for name in CODE_FIELDS]
    for reading in readings(text, fields):
        try:
            root = read(reading).value
        except FormatError:
            continue
        values = [root[field.name].value for field in fields if isinstance(root, dict) and field.name in root]
        for value in values:
            if isinstance(value, str) and (found := _from_fences(value, reader) or _whole(value, reader)):
                return Extracted(found.code, found.complete, tag)
    return None


def _between_prose(text: str, reader: Reader) -> Extracted | None:
    """Return the first program that begins at a line of code and ends at prose or the end, else the first snippet."""
    snippet = None
    for number, match in enumerate(reader.language.code_line.finditer(text)):
        if number == MAX_STARTS:
            break
        rest = text[match.start() :]
        code = rest if reader.kind_of(rest) > CodeKind.BROKEN else _before_prose(rest, reader)
        kind = reader.kind_of(code) if code else CodeKind.BROKEN
        if code and kind is CodeKind.PROGRAM:
            return Extracted(code)
        snippet = snippet or (Extracted(code) if code else None)
    return snippet
