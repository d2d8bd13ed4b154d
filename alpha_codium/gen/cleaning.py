"""What people cut off a model's text by hand before they score it, as rules with names.

1. The rules are applied in the order of `RULES`, again until none changes anything: what is clean stays as it is. A
   text that is not done after `MOST_PASSES` is no program under fences and prose, but nothing but them.
2. A text that reads as Python (a completion: after its prompt) loses nothing to the rules about prose, fences and
   tokens, whatever its strings hold.
3. Every rule cuts, none adds or mends: a program that was cut off in the middle stays broken.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from alpha_codium.data.samples.reading import COMPLETION
from alpha_codium.flows.extraction import MOST_CUTS, MOST_STARTS, PROSE_LINE
from alpha_codium.flows.fences import fenced_texts, find_fences, strip_end_tokens, strip_thinking
from alpha_codium.languages import CodeKind, Reader, language_named
from alpha_codium.program import PYTHON

# Chen et al. 2021 (arXiv:2107.03374), section 2.1: where a completion of HumanEval ends.
STOP_WORDS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
END_TOKEN = re.compile(
    r"<\|(?:endoftext|end_of_text|im_end|eot_id|end|eom_id)\|>|</s>|<eos>|<EOT>|<end_of_turn>|\[/PYTHON\]"
    r"|(?P<done>^\[DONE\])",
    re.MULTILINE,
)
MOST_TOKENS = 8
MOST_PASSES = 16


@dataclass(frozen=True)
class Text:
    """A model's text, and what is known of its problem: `form` as in `data.samples`; empty what isn't known."""

    text: str
    form: str
    prompt: str = ""
    entry_point: str = ""
    stop_words: Sequence[str] = STOP_WORDS
    reader: Reader = field(default_factory=lambda: language_named(PYTHON).reader())

    @property
    def is_completion(self) -> bool:
        """Whether it goes on from the prompt."""
        return self.form == COMPLETION

    def reads(self, text: str) -> bool:
        """Whether `text` in its place is Python that does anything."""
        begins = (self.prompt or "def _():\n", "") if self.is_completion else ("",)
        return any(self.reader.kind_of(begin + text) > CodeKind.BROKEN for begin in begins)

    def defines(self, code: str) -> bool:
        """Whether `code` defines the entry point, or, where none is known, any function or class."""
        name = re.escape(self.entry_point) if self.entry_point else r"\w+"
        return bool(re.search(rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b", code, re.MULTILINE))


@dataclass(frozen=True, slots=True)
class CleaningRule:
    """A rule: its name, what it cuts, and the text that it leaves."""

    name: str
    what: str
    apply: Callable[[Text, str], str]


def thinking(known: Text, text: str) -> str:
    """The text without what the model thought."""
    return text if known.reads(text) else strip_thinking(text)


def end_tokens(known: Text, text: str) -> str:
    """The text up to the first token that ends an answer; beside fences, without those at its very end."""
    matches = list(islice(END_TOKEN.finditer(text), MOST_TOKENS))
    if matches and known.reads(text):
        # Alone among them `[DONE]` is Python, too: it ends what reads before it, and stands in a string elsewhere.
        matches = [match for match in matches if match["done"] and known.reads(text[: match.start()])]
    elif matches and find_fences(text, most=1):
        return strip_end_tokens(text)
    return text[: matches[0].start()] if matches else text


def fences(known: Text, text: str) -> str:
    """The one program in fences: the last that defines the entry point; else the last long one, Python first."""
    marks = [] if known.reads(text) else find_fences(text)
    if not marks:
        return text
    before = text[: marks[0].start]
    if not marks[0].info and before.strip() and known.reads(before):
        return before  # the prompt opened the fence that closes here
    blocks = [(fence, body) for fence, body, _ in fenced_texts(text) if body.strip()]
    defining = [(fence, body) for fence, body in blocks if known.defines(body)]
    chosen = defining or [(f, b) for f, b in blocks if known.reader.language.is_tag(f.info)] or blocks
    longest = max((len(body) for _, body in chosen), default=0)
    return next((body for _, body in reversed(chosen) if 2 * len(body) >= longest), text)


def prose(known: Text, text: str) -> str:
    """The program between what the model says before and after it."""
    if known.reads(text):
        return text
    for start in (0, *(match.start() for match in islice(known.reader.language.code_line.finditer(text), MOST_STARTS))):
        for end in _ends(text, start):
            piece = text[start:end]
            if known.reads(piece) and (start == 0 or known.reader.kind_of(piece) is CodeKind.PROGRAM):
                return piece
    return text


def indentation(known: Text, text: str) -> str:
    """A whole program without the indentation that all its lines have."""
    if known.is_completion or known.reads(text):
        return text
    dedented = textwrap.dedent(text)
    return dedented if known.reads(dedented) else text


def prompts(known: Text, text: str) -> str:
    """The completion without the prompt that it repeats."""
    prompt, begun = known.prompt.strip(), text.lstrip()
    return begun[len(prompt) :] if known.is_completion and prompt and begun.startswith(prompt) else text


def stop_words(known: Text, text: str) -> str:
    """The completion up to the first stop word, if it is the body of a function; a whole function begins with one."""
    if not known.is_completion or not text.strip() or not text.lstrip("\r\n")[:1].isspace():
        return text
    places = [place for word in known.stop_words if (place := text.find(word)) >= 0]
    return text[: min(places)] if places else text


RULES = (
    CleaningRule("thinking", "what a model thought, between tags", thinking),
    CleaningRule("end_tokens", "tokens that end an answer, such as <|endoftext|>, and what follows", end_tokens),
    CleaningRule("fences", "Markdown fences, and all but the block that defines the entry point", fences),
    CleaningRule("prose", "what is said before and after a program", prose),
    CleaningRule("indentation", "the indentation that all lines of a whole program have", indentation),
    CleaningRule("prompts", "the prompt, repeated before a completion", prompts),
    CleaningRule("stop_words", "what follows the function that a completion ends", stop_words),
)


def cleaned(known: Text, rules: Sequence[CleaningRule] = RULES) -> tuple[str, frozenset[str]]:
    """The text after all rules, and the names of those that changed it."""
    text, names = known.text, set[str]()
    for _ in range(MOST_PASSES):
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
    """Where a program that begins at `start` may end: at the end of the text, or before a line of prose, last first."""
    yield len(text)
    cuts = [match.start() for match in PROSE_LINE.finditer(text, start + 1)]
    yield from reversed(cuts[-MOST_CUTS:])
