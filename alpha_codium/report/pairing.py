"""Differences between runs on the problems that they have in common."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from alpha_codium.comparison.pairs import Pair, pairs_of
from alpha_codium.comparison.tables import sentence
from alpha_codium.errors import UserError
from alpha_codium.eval.scoring import Score, score
from alpha_codium.report.figures import RunFigures
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted


@dataclass(frozen=True, slots=True)
class Paired:
    """A difference between two runs, in words, with the problems that only one of them solves."""

    pair: Pair
    text: str
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """All differences between the runs; `nobody` and `everybody` are the problems that no run or every run solves."""

    pairs: tuple[Paired, ...]
    nobody: tuple[str, ...]
    everybody: tuple[str, ...]
    note: str = ""


def differences_of(runs: Sequence[RunFigures]) -> Differences:
    """Compare runs, the first with each other one and so on.

    Raises UserError if two runs have no problem in common, or the same name.
    """
    if len({run.name for run in runs}) < len(runs):
        raise UserError("a run is given twice, or two runs have the same name")
    of_run = [{problem.name for problem in run.score.problems} for run in runs]
    shared_by_all = set.intersection(*of_run)
    common = [problem.name for problem in runs[0].score.problems if problem.name in shared_by_all]
    if not common:
        raise UserError(f"the runs {', '.join(run.name for run in runs)} have no problem in common")
    left_out = len(set.union(*of_run)) - len(common)
    note = f"{counted(left_out, 'problem')} that not all runs have: left out of the differences" if left_out else ""
    shared = {run.name: _shared(run, common) for run in runs}
    solved = {name: _solved(scored) for name, scored in shared.items()}
    return Differences(
        tuple(_paired(pair, common, solved) for pair in pairs_of(shared, _ks(shared.values()))),
        tuple(name for name in common if not any(name in each for each in solved.values())),
        tuple(name for name in common if all(name in each for each in solved.values())),
        note,
    )


def _shared(run: RunFigures, common: Sequence[str]) -> Score:
    """Return the score of a run on the problems that all runs have."""
    problems = {each.name: each for each in run.score.problems}
    ks = [estimate.k for estimate in run.score.estimates]
    return score([problems[name] for name in common], ks)


def _ks(scores: Iterable[Score]) -> list[int]:
    """Return the k at which every run has a score: the smallest and the largest."""
    ks = set.intersection(*({estimate.k for estimate in scored.estimates} for scored in scores))
    return sorted({min(ks), max(ks)}) if ks else []


def _solved(scored: Score) -> set[str]:
    return {p.name for p in scored.problems if any(c.verdict is Verdict.ACCEPTED for c in p.candidates)}


def _paired(pair: Pair, names: Sequence[str], solved: dict[str, set[str]]) -> Paired:
    first, second = solved[pair.first], solved[pair.second]
    return Paired(
        pair,
        sentence(pair),
        tuple(name for name in names if name in first - second),
        tuple(name for name in names if name in second - first),
    )
