"""The result of an audit: what was asked, and each answer that is wrong, with its witness."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from alpha_codium.audit.graders.asking import arguments_of
from alpha_codium.audit.kit.cases import Case, kit_version
from alpha_codium.errors import UserError
from alpha_codium.values import JsonValue, named
from alpha_codium.wording import counted

# The lists of an audit, and what they are called in the table.
FAULTS = {
    "false_rejects": "false rejects",
    "false_accepts": "false accepts",
    "hangs": "hangs",
    "crashes": "crashes",
    "races": "races",
    "load": "load",
}
CHOICES = "choices"
SHOWN_CHARACTERS = 2000
# What runs the witness, if it isn't called as the language is.
PLAIN = {"cpp": "g++"}


class Witness(TypedDict):
    """The arguments of the grader that show a fault, and what plain python3 makes of the program."""

    plain_python: str
    arguments: list[Any]


@dataclass(frozen=True, slots=True)
class Disagreement(JsonValue):
    """A wrong answer: its list, what the grader said, what is right, and what plain python3 says.

    A `known` one was accepted as a deviation.
    """

    in_json: ClassVar[Mapping[str, str]] = {
        **named(case="case.identity", form="case.form", idiom="case.name", note="case.note"),
        **named("witness", "seen", "right", "message"),
    }
    optional: ClassVar[Sequence[str]] = ("message",)

    kind: str
    case: Case
    seen: str
    right: str
    plain: str
    message: str = ""
    known: bool = False

    @property
    def witness(self) -> Witness:
        """What shows the fault: long texts are cut."""
        return {"plain_python": self.plain, "arguments": [_cut(each) for each in arguments_of(self.case)]}

    def line(self) -> str:
        """Return the answer in one line."""
        why = f" ({self.message})" if self.message else ""
        plain = f"{PLAIN.get(self.case.language, self.case.language)}: {self.plain}"
        return f"  {self.case.form}: {self.case.identity}: {self.seen}, not {self.right}{why}; {plain}"


class Lists(TypedDict):
    """The disagreements by what they are; choices aren't faults."""

    false_rejects: list[Disagreement]
    false_accepts: list[Disagreement]
    hangs: list[Disagreement]
    crashes: list[Disagreement]
    races: list[Disagreement]
    load: list[Disagreement]
    choices: list[Disagreement]


@dataclass(frozen=True, slots=True)
class Audit(JsonValue):
    """The result of an audit.

    `left_out` cases are attacks that would have run unprotected; `missing` are modules that the interpreter lacks.
    """

    in_json: ClassVar[Mapping[str, str]] = {
        **named("grader", "kit", "faultless", "lists", asked="asked_by_form", known="accepted"),
        **named(attacks_left_out="left_out", missing_modules="missing"),
    }
    beside: ClassVar[Sequence[str]] = ("lists",)

    grader: str
    forms: tuple[str, ...]
    asked: tuple[Case, ...]
    disagreements: tuple[Disagreement, ...]
    left_out: int = 0
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    kit: str = field(default_factory=kit_version)

    def of(self, kind: str) -> list[Disagreement]:
        """Return the disagreements of a list that aren't known deviations."""
        return [each for each in self.disagreements if each.kind == kind and not each.known]

    @property
    def faultless(self) -> bool:
        """Whether the grader was right on every case, but for choices of comparison and known deviations."""
        return not any(self.of(kind) for kind in FAULTS)

    @property
    def counts(self) -> list[tuple[str, int, list[int]]]:
        """Each form that was asked for, with the number of its cases, and those of its disagreements by their lists."""
        kinds, cases = (*FAULTS, CHOICES), self.asked_by_form
        of_form = {form: [sum(each.case.form == form for each in self.of(kind)) for kind in kinds] for form in cases}
        return [(form, cases[form], of_form[form]) for form in self.forms if form in cases]

    @property
    def asked_by_form(self) -> dict[str, int]:
        """The number of cases by form."""
        return dict(Counter(case.form for case in self.asked))

    @property
    def lists(self) -> Lists:
        """The disagreements of each list."""
        return Lists(**{kind: self.of(kind) for kind in (*FAULTS, CHOICES)})

    @property
    def accepted(self) -> list[str]:
        """The known deviations."""
        return [each.case.identity for each in self.disagreements if each.known]

    def with_known(self, names: Sequence[str]) -> "Audit":
        """Return the audit with the deviations on these cases marked as known."""
        marked = tuple(replace(each, known=each.case.identity in names) for each in self.disagreements)
        found = {each.case.identity for each in marked}
        return replace(self, disagreements=marked, unknown=tuple(name for name in names if name not in found))

    def lines(self) -> Iterator[str]:
        """Yield the table, what was left out, and each wrong answer."""
        yield f"{'form':<12}{'cases':>7}" + "".join(f"{name:>15}" for name in FAULTS.values()) + f"{CHOICES:>9}"
        for form, cases, counts in self.counts:
            yield f"{form:<12}{cases:>7}" + "".join(f"{n:>15}" for n in counts[:-1]) + f"{counts[-1]:>9}"
        if sections := Counter(each.case.section for kind in FAULTS for each in self.of(kind)):
            yield "by section: " + ", ".join(f"{name} {count}" for name, count in sections.most_common())
        if self.left_out:
            yield f"not asked: {counted(self.left_out, 'attack')}, since the grader can't be isolated here"
        if self.missing:
            yield f"not asked: cases that need {', '.join(self.missing)}, which the interpreter lacks"
        for kind, name in {**FAULTS, CHOICES: "choices of comparison, which aren't faults"}.items():
            if found := self.of(kind):
                yield f"{name}:"
                yield from (each.line() for each in found)
        if known := sum(each.known for each in self.disagreements):
            yield f"known deviations: {known}"
        for name in self.unknown:
            yield f"listed as known, but right, or not asked: {name}"


def _cut(value: Any) -> Any:
    """Return a value as it is, or, if it is long, the beginning of its JSON."""
    text = json.dumps(value)
    return value if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def known_names(path: Path) -> list[str]:
    """Return the cases that a file of known deviations names, one a line; raises UserError."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not a text in UTF-8") from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
