"""What a model thinks before or within its answer, in the forms that models write it.

1. `NAMES` are tags such as `<think>...</think>`, perhaps with attributes; `TOKENS` are marks of other forms. Each has
   its source.
2. Thinking that isn't closed goes on to the end: the answer was cut off. A closing mark without an opening one ends
   thinking that began before the text, since many chat templates put the opening mark into the prompt.
3. Marks in fenced code don't count, since a program may print `<think>`. A closing mark does count if a fence within
   the thinking was left open.
4. Tags are recognized at the start of a line, or at its end if they are closed. An indented tag that isn't closed
   counts only at the beginning, since a long value may be wrapped before it.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# Regular expressions for names of tags, and where they are used.
NAMES: Mapping[str, str] = {
    "think": "DeepSeek-R1, Qwen3, QwQ, GLM-4.5, Phi-4-reasoning, Nemotron, MiniMax-M2, Hunyuan, ERNIE 4.5, InternLM, "
    "EXAONE 4, Granite 3.3, Kimi-K2, OLMo 3, RWKV: `start_token` of vLLM's reasoning parsers",
    "thinking": "Claude without extended thinking, Reflection-70B; Open WebUI's default tags",
    "thoughts?": "EXAONE Deep (its model card), Gemini through some gateways; Open WebUI's default tags",
    "reasoning": "prompts of open-r1; Open WebUI's default tags",
    "reason": "Open WebUI's default tags",
    "seed:think": "Seed-OSS (vLLM's reasoning parser)",
    "mm:think": "MiniMax-M3 (its chat template)",
    "longcat_think": "LongCat (vLLM's reasoning parser)",
    "analysis": "Anthropic's guide to prompts, and flows that follow it",
    "scratchpad": "Anthropic's guide to prompts",
    "reflection": "Reflection-70B (its system prompt)",
    "inner_monologue": "MemGPT's prompts",
    r"details[ \t]+type=\"reasoning\"": "Open WebUI's stored answers",
    "[a-z0-9_.-]{0,40}[:_-](?:think|thinking|thoughts?|reasoning)": "tags of other models, named after these",
}
# Opening and closing marks as regular expressions, and where they are used.
TOKENS: tuple[tuple[str, str, str], ...] = (
    (r"\[THINK\]", r"\[/THINK\]", "Magistral (mistral-common)"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7", "Kimi-VL (its chat template)"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>", "OpenThinker, Sky-T1 (their system prompt)"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>", "Command A Reasoning (its chat template)"),
    (r"<\|think:start\|>", r"<\|think:end\|>", "Solar Open 2 (vLLM's reasoning parser)"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>", "Apertus (vLLM's reasoning parser)"),
    (r"<\|channel>thought\b", r"<channel\|>", "Gemma 4 (vLLM's reasoning parser)"),
    (r"<\|open\|>think<\|sep\|>", r"<\|close\|>think<\|sep\|>", "Kimi K3 (llama.cpp's parser)"),
    (r"<\|content_thinking\|>", r"<\|end_message\|>|<\|content_text\|>", "Inkling (llama.cpp's parser)"),
    (r"\[unused16\]", r"\[unused17\]", "openPangu (vLLM's reasoning parser)"),
    (
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)\b[^\n<]{0,80}<\|message\|>",
        r"<\|end\|>|<\|channel\|>final<\|message\|>",
        "gpt-oss: the analysis channel of OpenAI's harmony format",
    ),
    (r"\A\s*analysis(?=[A-Z])", "assistantfinal", "gpt-oss where a server left out the special tokens"),
    (r"(?:<\|start\|>assistant)? to=self<\|message\|>", r"<\|eom\|>", "Muse Glimmer (llama.cpp's parser)"),
    (r"\A\s*/think\n", r"<\|im_end\|>\s*<\|im_start\|>assistant", "HyperCLOVA X SEED Think 14B (vLLM's parser)"),
    (
        r"\A\s*Here(?:'s| is) my thought process:",
        r"Here(?:'s| is) my response:",
        "Granite 3.2 (vLLM's reasoning parser)",
    ),
)
FENCE_LINE = r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n<]*)"
OPENING = rf"<(?:{'|'.join(NAMES)})(?:[ \t][^<>\n]{{0,200}})?>"
# Names of the tags that chat templates put into the prompt.
CLOSING = r"</(?:[a-z0-9_.-]{0,40}[:_-])?(?:think|thinking|thoughts?|reasoning)[ \t]*>"
UNQUOTED = r"(?<!['\"`])(?:{})(?!['\"`])"
OPENED = UNQUOTED.format("|".join(f"(?-i:{opening})" for opening, _, _ in TOKENS))
CLOSED = UNQUOTED.format("|".join([CLOSING, *(f"(?-i:{closing})" for _, closing, _ in TOKENS)]))
SCAN = re.compile(
    rf"^(?:{FENCE_LINE}|(?P<lead>[ \t]*)(?P<first>{OPENING}))|(?P<token>{OPENED})|(?P<closing>{CLOSED})"
    rf"|(?P<inner>{OPENING})(?P<last>[ \t\r]*$)?",
    re.MULTILINE | re.IGNORECASE,
)
BARE_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t\r]*$", re.MULTILINE)
NAME = re.compile(r"<([\w.:-]+)")
# How many fences are looked at to find the one that closes another.
MAX_CLOSERS = 8


def split_thinking(text: str, reads: Callable[[str], bool] = bool) -> tuple[str, str]:
    """Return a text without the thinking in it, and the thinking.

    `reads` says whether a fenced text is code, in which a closing mark is a part of the program.
    """
    return _Splitter(text, reads).split()


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open fence: its line, and the offsets at which its content begins and ends (None: it isn't closed)."""

    mark: str
    start: int
    end: int | None


class _Splitter:
    """Goes through a text once; `kept` and `thoughts` are what was found before `start`."""

    def __init__(self, text: str, reads: Callable[[str], bool]) -> None:
        self.text, self.reads = text, reads
        self.kept, self.thoughts = list[str](), list[str]()
        self.start = 0
        self.fence: _Fence | None = None
        self.unclosed, self.inner = set[str](), set[str]()
        self.bare: list[tuple[int, str]] | None = None

    def split(self) -> tuple[str, str]:
        position = 0
        while match := SCAN.search(self.text, position):
            position = match.end()
            if match["mark"]:
                self._pass_fence(match)
            elif match["closing"]:
                if self._closes(match):
                    self._end_what_began_before(match)
            elif self.fence is None:
                position = self._open(match) or position
        rest = self.text[self.start :]
        return "".join([*self.kept, rest]), "\n".join(filter(None, self.thoughts))

    def _pass_fence(self, match: re.Match[str]) -> None:
        if self.fence is None:
            self.fence = _Fence(match["mark"], match.end(), self._end_of_fence(match["mark"], match.end()))
        elif self.fence.end is not None and match.start() >= self.fence.end:
            self.fence = None

    def _end_of_fence(self, mark: str, start: int) -> int | None:
        """Return where a fence is closed, or None."""
        if self.bare is None:
            self.bare = [(found.start(), found["mark"]) for found in BARE_FENCE.finditer(self.text)]
        first = bisect_left(self.bare, (start, ""))
        after = self.bare[first : first + MAX_CLOSERS]
        return next((place for place, sign in after if sign.startswith(mark)), None)

    def _closes(self, match: re.Match[str]) -> bool:
        """Return whether a closing mark ends thinking that began before the text."""
        name = match["closing"].lower().replace("/", "", 1)
        if name in self.inner:
            self.inner.discard(name)
            return False
        fence = self.fence
        return fence is None or fence.end is None or not self.reads(self.text[fence.start : fence.end])

    def _end_what_began_before(self, match: re.Match[str]) -> None:
        self.thoughts.append("".join([*self.kept, self.text[self.start : match.start()]]).strip())
        self.kept, self.start, self.fence = [], match.end(), None

    def _open(self, match: re.Match[str]) -> int | None:
        """Take the thinking out that a mark opens, and return its end; None if the mark opens none."""
        opening = match["first"] or match["token"] or match["inner"]
        if match["inner"] and match["last"] is None:
            self.inner.add(opening.lower())
            return None
        closing = self._closing_after(opening, match)
        if closing is None and not self._may_be_cut_off(match):
            return None
        end = closing.start() if closing else len(self.text)
        self.thoughts.append(self.text[match.end() : end].strip())
        self.kept.append(self.text[self.start : match.start()])
        self.start = closing.end() if closing else end
        return self.start

    def _closing_after(self, opening: str, match: re.Match[str]) -> re.Match[str] | None:
        pattern = _closing_of(opening)
        if pattern in self.unclosed:
            return None
        found = re.compile(pattern, re.IGNORECASE).search(self.text, match.end())
        if found is None:
            self.unclosed.add(pattern)
        return found

    def _may_be_cut_off(self, match: re.Match[str]) -> bool:
        """Return whether a mark that is never closed opens thinking."""
        if match["token"]:
            return True
        if match["first"] and not match["lead"]:
            return True
        before = self.text[: match.start()] if match.start() < 400 else "\n\n"
        return not before.strip() or bool(match["last"] is not None and "\n" not in before.strip())


def _closing_of(opening: str) -> str:
    """Return the regular expression of the mark that closes this one."""
    for start, end, _ in TOKENS:
        if re.fullmatch(start.replace(r"(?=[A-Z])", ""), opening):
            return end
    name = NAME.match(opening)
    assert name is not None, "each opening mark is a token or a tag"
    return rf"</{re.escape(name[1])}[ \t]*>"
