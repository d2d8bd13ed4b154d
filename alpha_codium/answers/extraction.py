"""Extraction of the program from a model's answer.

1. First, thinking, end tokens and invisible characters at the start are removed. An unknown tag around the beginning
   counts as thinking, too, if a program follows. A program in `<answer>` or the like is taken before others.
2. Since a docstring may contain fences, a fenced block ends at the first closing fence before which the block parses;
   if there is none, at the first fence that can close it, else before prose or at the end of the answer. The fence's
   indentation is removed from the block; nothing else in the code is changed. Code on the fence's line belongs to it.
3. Of several blocks, programs tagged as the language are preferred, then untagged programs, then other blocks with that
   tag, then programs with other tags, and so on. Of equally good blocks the last is chosen that is at least half as
   long as the longest, since models correct themselves, but also add short examples and test data.
4. If a chosen program uses names that it doesn't define, such as a module that an earlier block imports, the earlier
   blocks that define them are put before it. Later blocks aren't added: they may be examples of its use.
5. Without fences, the program is in HTML, or it is the whole answer if it parses and does anything, else a field such
   as `code` in a YAML or JSON answer or a tool's call, else the longest part between prose that parses. If there is
   none, quoted lines (`> `) are read without their marks.

Refusals, prose and data contain no program.
"""

import contextlib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.answers.fences import ZERO_WIDTH, Fence, clean, dedent, find_fences
from alpha_codium.answers.fields import Field
from alpha_codium.answers.repairs import readings
from alpha_codium.answers.unfenced import QUOTED, before_prose, between_prose, from_html, in_line, whole
from alpha_codium.answers.yaml_text import FormatError, read
from alpha_codium.languages import MAX_PROGRAM, CodeKind, Language, Reader, language_named
from alpha_codium.program import PYTHON

# `{}` is replaced by the language's tag.
CODE_FIELDS = ("fixed_code", "code", "{}_code", "solution_code", "program", "solution", "{}", "answer")
# The fields of a call of a tool that hold its arguments.
ARGUMENTS = ("arguments", "parameters", "input", "args")
MAX_CLOSINGS = 8
MAX_REGIONS = 4
GLUED_CLOSING = re.compile(r"(?<=[^\s`])`{3,}[ \t\r]*$", re.MULTILINE)
# The tags and tokens around an answer: prompts like that of DeepSeek-R1 ask for `<answer>`, the others are models' own.
ANSWER = re.compile(
    r"<(?P<tag>answer|final_answer|solution|response|output|final|result|program|implementation)"
    r"(?:[ \t][^<>\n]{0,200})?>",
    re.IGNORECASE,
)
ANSWER_TOKENS = re.compile(
    r"\A(?:\s*(?:<\|start\|>assistant|<\|channel\|>final<\|message\|>|<\|open\|>response<\|sep\|>"
    r"|<\|begin_of_solution\|>|<\|START_(?:RESPONSE|TEXT)\|>|<\|message_model\|>|<\|content_text\|>))+"
)
# A tag around the beginning of an answer; those of HTML and of languages aren't thinking.
UNKNOWN = re.compile(
    r"\s*(?:<(?P<tag>(?!(?:pre|code|p|div|span|html|body|ol|ul|table|[bi]|h\d|python|java|cpp|c)\b)[a-z][\w.:-]{0,40})"
    r"(?:[ \t][^<>\n]{0,200})?>|\[(?P<name>(?!PYTHON\b)[A-Z][A-Z_]{1,40})\])",
    re.IGNORECASE,
)
# Attributes of a fence, such as `title="main.py"`, and the lines of a session with an interpreter.
ATTRIBUTES = re.compile(r"(?:[\w-]++=(?:\"[^\"]*\"|'[^']*'|\{[^{}]*\}|[\w.,/-]++)[ \t]*+)+")
PROMPTED = re.compile(r"^(?:>>>|\.\.\.)(?: (?P<line>[^\n]*))?$", re.MULTILINE)


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
    reader = language_named(language).reader()
    text = ANSWER_TOKENS.sub("", clean(answer, lambda code: reader.kind_of(code) > CodeKind.BROKEN))
    return _after_unknown_tag(text, reader) or _anywhere(text, reader) or _anywhere(QUOTED.sub("", text), reader)


def fenced_texts(answer: str) -> list[Extracted]:
    """Return the content of all fenced blocks in an answer, in order."""
    blocks = _blocks(clean(answer), language_named(PYTHON).reader())
    return [Extracted(block.code, block.complete, block.language) for block in blocks]


def _after_unknown_tag(text: str, reader: Reader) -> Extracted | None:
    """Return the program that follows a tag around the beginning of an answer: what is in the tag is thinking."""
    match = UNKNOWN.match(text)
    if match is None or ANSWER.match(match[0].strip()):
        return None
    mark = f"</{match['tag']}>" if match["tag"] else f"[/{match['name']}]"
    closing = re.compile(re.escape(mark), re.IGNORECASE).search(text, match.end())
    return _anywhere(text[closing.end() :], reader) if closing else None


def _anywhere(text: str, reader: Reader) -> Extracted | None:
    """Return the program in a text without thinking."""
    # Fences in a text that is Python as it stands are in its docstrings. Other languages aren't read as strictly.
    if "```" in text and reader.language.name == PYTHON and reader.kind_of(text.lstrip()) is CodeKind.PROGRAM:
        return Extracted(text.lstrip())
    found = _from_answers(text, reader) or _from_fences(text, reader)
    if found is None and (code := from_html(text, reader) or whole(text, reader)):
        return Extracted(code)
    found = found or _from_fields(text, reader)
    if found is None and (code := between_prose(text, reader) or in_line(text, reader)):
        return Extracted(code)
    return found


def _from_answers(text: str, reader: Reader) -> Extracted | None:
    """Return the program in the last tag for an answer, such as `<answer>`, that has one."""
    for match in reversed(list(itertools.islice(ANSWER.finditer(text), MAX_REGIONS))):
        if _is_fenced(text, match.start()):
            continue
        closing = re.compile(f"</{match['tag']}>", re.IGNORECASE).search(text, match.end())
        inner = text[match.end() : closing.start() if closing else len(text)]
        found = _from_fences(inner, reader)
        if found is None and (code := from_html(inner, reader) or whole(inner, reader)):
            found = Extracted(code, closing is not None)
        if found is not None and reader.kind_of(found.code) is CodeKind.PROGRAM:
            return found
    return None


def _is_fenced(text: str, offset: int) -> bool:
    """Return whether an offset is within a fenced block."""
    opening: Fence | None = None
    for fence in find_fences(text[:offset]):
        if opening is None:
            opening = fence
        elif fence.can_close(opening) and not fence.info:
            opening = None
    return opening is not None


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
    """Yield the fenced blocks of a text; an outer fence around a block tagged as the language is skipped.

    After a block that isn't closed and doesn't parse, each fence may open one; of these, only code is taken.
    """
    fences, is_own = find_fences(text), reader.language.is_tag
    position, lost = 0, False
    for number, opening in enumerate(fences):
        if opening.start < position:
            continue
        closings = _closings(fences, number, reader)
        if closings or is_own(opening.info) or not any(is_own(fence.info) for fence in fences[number + 1 :]):
            block = _block(text, opening, closings, reader)
            if lost and block.kind <= CodeKind.BROKEN:
                continue
            lost = not closings and block.kind is CodeKind.BROKEN
            position = opening.end if lost else block.end
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
            code, kind = _read(text[opening.end : closing.start], opening, reader)
            if kind is not CodeKind.BROKEN:
                # If the closing fence is missing, the fence that opens the next program closes this one.
                return _Block(code, kind, True, closing.start if is_own(closing.info) else closing.end, language)
    closing = next((fence for fence in closings if not fence.info), closings[0] if closings else None)
    rest = text[opening.end : closing.start if closing else len(text)]
    code, kind = _read(rest, opening, reader)
    for cut in (_before_glued_closing, before_prose):
        if kind is CodeKind.BROKEN and (shorter := cut(code, reader)):
            return _Block(shorter, reader.kind_of(shorter), True, opening.end + len(rest), language)
    end = opening.end + len(rest) if not closing or is_own(closing.info) else closing.end
    return _Block(code, kind, closing is not None, end, language)


def _read(body: str, fence: Fence, reader: Reader) -> tuple[str, CodeKind]:
    """Return a block without the indentation of its fence, with code on the fence's own line, and its kind.

    If some lines are indented less than the fence, nothing is removed if the block parses as it is; otherwise at most
    the fence's indentation is removed from each line. Of a session with an interpreter, what was typed is kept.
    """
    code = dedent(body, fence.indent).lstrip(ZERO_WIDTH)
    readings = [code]
    if first := _code_of_fence(fence, reader):
        readings.insert(0, f"{first}\n{code}")
    kind = reader.kind_of(code)
    if fence.indent and kind is CodeKind.BROKEN:
        readings.append(re.sub(rf"^[ \t]{{1,{len(fence.indent)}}}", "", body, flags=re.MULTILINE))
    if kind is CodeKind.BROKEN and PROMPTED.search(code):
        readings.append("\n".join(match["line"] or "" for match in PROMPTED.finditer(code)) + "\n")
    return next(((text, kind) for text in readings if (kind := reader.kind_of(text)) > CodeKind.BROKEN), (code, kind))


def _code_of_fence(fence: Fence, reader: Reader) -> str:
    """Return the code on a fence's own line, after the tag or in its place; "" if there is none."""
    tag, _, rest = fence.info.partition(" ")
    is_tag = reader.language.is_tag(tag) and tag.replace("+", "").replace(".", "").replace("#", "").isalnum()
    code = rest.strip() if is_tag else fence.info
    if not reader.language.code_line.match(code) or ATTRIBUTES.fullmatch(code):
        return ""
    return code


def _before_glued_closing(text: str, reader: Reader) -> str | None:
    """Return the code before a closing fence that is on the last line of code (`main()````), if it parses."""
    match = GLUED_CLOSING.search(text)
    code = text[: match.start()] if match else ""
    return code if code and reader.kind_of(code) > CodeKind.BROKEN else None


def _from_fields(text: str, reader: Reader) -> Extracted | None:
    """Return the program in a field of a YAML or JSON answer, with or without a fence."""
    tag = reader.language.tag
    if not re.search(rf"(?:code|program|solution|{re.escape(tag)}|answer)\W{{0,3}}:", text, re.IGNORECASE):
        return None
    fields = [Field(name.format(tag)) for name in CODE_FIELDS]
    for reading in readings(text, fields):
        try:
            root = read(reading).value
        except FormatError:
            continue
        for value in _values_of(root, [field.name for field in fields]):
            found = _from_fences(value, reader)
            if code := found.code if found else whole(value, reader):
                return Extracted(code, found.complete if found else True, tag)
    return None


def _values_of(root: Any, names: Sequence[str]) -> Iterator[str]:
    """Yield the texts in fields of these names, also in the arguments of a call of a tool, which may be JSON."""
    if not isinstance(root, dict):
        return
    values = (root[name].value for name in names if name in root)
    yield from (value for value in values if isinstance(value, str))
    for inner in (root[name].value for name in ARGUMENTS if name in root):
        if isinstance(inner, dict):
            yield from (value for name in names if name in inner and isinstance(value := inner[name].value, str))
        elif isinstance(inner, str):
            with contextlib.suppress(FormatError):
                yield from _values_of(read(inner).value, names)
