"""The scores of an evaluation while it runs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from alpha_codium.eval.results import CandidateResult
from alpha_codium.statistics import pass_at_k
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted


@dataclass
class ScoreProgress:
    """The numbers of a score so far, for its display: the accepted candidates, and pass@k of the problems judged.

    pass@k is a mean over the problems of which at least k samples are judged; there is none of human solutions that are
    right and others that are wrong together.
    """

    ks: Sequence[int] = (1,)
    # What else is shown, such as the machines that judge.
    beside: Callable[[], str] = str
    accepted: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    known: int = 0
    groups: set[str] = field(default_factory=set)
    # For each k, the sum of the problems' estimates, and their number.
    _sums: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    _problems: Counter[int] = field(default_factory=Counter)

    def add(self, result: CandidateResult, problem: str) -> None:
        """Count one result; programs of known verdict, which are judged beside the candidates, are counted apart."""
        if result.group.startswith("known_"):
            self.known += 1
        else:
            self.groups.add(result.group)
            self._take(problem, -1)
            self.judged[problem] += 1
            self.accepted[problem] += result.verdict is Verdict.ACCEPTED
            self._take(problem, 1)

    def _take(self, problem: str, sign: int) -> None:
        """Add a problem's estimates to the sums, or take them away."""
        n, c = self.judged[problem], self.accepted[problem]
        for k in set(self.ks):
            if k <= n:
                self._sums[k] += sign * pass_at_k(n, c, k)
                self._problems[k] += sign

    def status(self) -> str:
        """Return the text beside the progress bar."""
        # A sum of floats may end a little below 0.
        rates = [f"pass@{k} {abs(self._sums[k]) / self._problems[k]:.3f}" for k in self.ks if self._problems[k]]
        rates = rates if len(self.groups) == 1 else []
        so_far = f", so far {', '.join(rates)}" if rates else ""
        known = f", {counted(self.known, 'known solution')} to check the judge" if self.known else ""
        beside = f"; {text}" if (text := self.beside()) else ""
        return f"{self.accepted.total()} of {counted(self.judged.total(), 'sample')} accepted{so_far}{known}{beside}"
