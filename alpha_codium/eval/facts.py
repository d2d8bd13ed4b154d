"""What a result says beside its scores, as JSON has it, and in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, TypedDict

from alpha_codium.data.subset import SubsetNote
from alpha_codium.eval.known import JudgeError
from alpha_codium.eval.rates import BrokenPrograms, Rates, rates_text
from alpha_codium.verdict import Identity
from alpha_codium.wording import counted

# How many problems with samples have a shape worth showing, and how many characters the bar of all of them has.
FEWEST_FOR_SHAPE, LONGEST_BAR = 10, 40


class SkippedPrograms(TypedDict):
    """How many programs in a language weren't run, and why."""

    language: str
    reason: str
    programs: int


class Facts(TypedDict, total=False):
    """What JSON has beside the scores, as far as it applies: what was judged, by which judge, and what is odd."""

    rates: Rates
    broken_programs: BrokenPrograms
    agreement: dict[str, int]
    skipped_solutions: int
    skipped_by_language: list[SkippedPrograms]
    shard: str
    subset: SubsetNote | None
    judge_error: Annotated[dict[str, Any], JudgeError]
    sandbox: Annotated[dict[str, Any], Identity]
    unsafe: str


def shape_lines(counts: Sequence[tuple[int, int]]) -> Iterator[str]:
    """How many problems have which share of samples that passed, with bars: what the mean hides."""
    shares = [passed / samples for samples, passed in counts if samples]
    if max((samples for samples, _ in counts), default=0) < 2 or len(shares) < FEWEST_FOR_SHAPE:
        return
    yield "problems by the share of their samples that passed"
    kinds = Counter(map(_kind_of_share, shares))
    for kind in ("none", "less than half", "half or more", "all"):
        yield f"  {kind:<24}{kinds[kind]:>7}  {'#' * round(LONGEST_BAR * kinds[kind] / len(shares))}".rstrip()


def _kind_of_share(share: float) -> str:
    if share in (0, 1):
        return "all" if share else "none"
    return "less than half" if share < 0.5 else "half or more"


def near_limit_lines(limits: Sequence[str], programs: int, rechecked: int) -> Iterator[str]:
    """How many verdicts were near which limits, and what can be done, or was."""
    if programs:
        which = f" ({', '.join(limits)})" if limits else ""
        how = f"{rechecked} of them judged again alone" if rechecked else "`recheck_near_limit` judges them again alone"
        yield f"{counted(programs, 'verdict')} within 20 % of a limit{which}, which the load may change: {how}"


def fact_lines(facts: Facts) -> Iterator[str]:
    """The facts in words: those that are there."""
    if unsafe := facts.get("unsafe"):
        yield f"UNSAFE       {unsafe}"
    if rates := facts.get("rates"):
        yield f"samples      {rates_text(rates)}"
        if missing := rates["problems_without_samples"]:
            yield f"{counted(missing, 'problem')} without a sample: counted as failed"
    yield f"judge error  {JudgeError(**facts['judge_error'])}"
    if agreed := facts.get("agreement"):
        yield f"correct solutions accepted    {agreed['correct_accepted']} of {agreed['correct_total']}"
        yield f"incorrect solutions rejected  {agreed['incorrect_rejected']} of {agreed['incorrect_total']}"
    for skipped in facts.get("skipped_by_language", ()):
        yield "not run                       {programs} in {language}: {reason}".format(**skipped)
