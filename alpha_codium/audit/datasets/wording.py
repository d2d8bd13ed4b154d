"""Detection of statements that allow several answers, as supporting evidence, never as a finding by itself."""

import re

_IF = r"(?:if|when|where|in case)"
_MANY = r"(?:multiple|several|many|more than one|various|different)"
_PRINT = r"(?:print|output|display|report|write|return)"
_TAKE = rf"(?:{_PRINT}|find|give|choose|accept\w*|allowed|happy|satisfied|can be any|suits?)"
_ANSWER = (
    r"(?:answer|solution|output|way|path|set|sequence|arrangement|permutation|partition|matrix|string|array|graph|tree|"
    r"representation|construction|colou?ring|plan|code|choice|option|strateg(?:y|ie)|combination|assignment|schedule|"
    r"ordering|subset|subsequence|substring|route|cycle|configuration|expression|"
    r"(?:optimal|suitable|valid|possible|correct|such) \w+)s?"
)
_SEVERAL_ANSWERS = rf"(?:{_MANY} (?:\w+ ){{0,3}}?(?:{_ANSWER}|of (?:them|these|those))|not unique)"
_ANY = r"any\b(?! (?:\w+ )?(?:inputs?|tests?|numbers?|cases?)\b)"
_ANY_ONE = r"any (?:of (?:them|these|those)|will|is|one)"
# Each must leave no doubt that one of several answers will do: "any number" and "the smallest of several" don't match.
_PATTERNS = (
    rf"\b{_IF}\b[^.;]{{0,80}}?\b{_SEVERAL_ANSWERS}\b[^.;]{{0,160}}?\b{_TAKE}\b[^.;]{{0,40}}?\b{_ANY}",
    rf"\b{_IF}\b[^.;]{{0,80}}?\b{_SEVERAL_ANSWERS}\b[^.;]{{0,80}}?\b{_ANY_ONE}\b",
    rf"\b{_PRINT} any (?:one )?(?:of (?:them|these|those)|{_ANSWER})\b",
    rf"\b{_PRINT} any\s*(?:\.|$)",
    r"\bany (?:of (?:them|these|those)|(?:such |valid |correct |possible |suitable )?(?:answer|solution|output)s?)\b"
    r"[^.;]{0,80}?\b(?:accepted|correct|allowed|suits?|will do|is (?:fine|ok))",
    rf"\b{_PRINT}\b[^.;]{{0,160}}?\bin (?:any|arbitrary) order\b",
    r"\bcan be (?:printed|output|given|listed) in (?:any|arbitrary) order\b",
    rf"\bthere (?:may|might|can) be {_MANY} (?:accepted|correct|valid|possible|optimal) {_ANSWER}",
)
_SEVERAL = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
# The characters of the words found that are shown in a sentence.
LONGEST_QUOTE = 160


def several_answers(statement: str) -> str:
    """Return the words with which a statement allows any of several answers; empty if none are known."""
    found = _SEVERAL.search(" ".join(statement.split()))
    return found.group() if found else ""
