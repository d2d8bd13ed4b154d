"""What comes of published samples that are judged again: scores before and after, and each verdict that changed."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from alpha_codium.statistics import Interval, bootstrap_interval, problem_scores, wilson_interval
from alpha_codium.wording import counted

PASSED, FAILED = "passed", "failed"


@dataclass(frozen=True, slots=True)
class Flip:
    """A sample whose published verdict isn't ours.

    `published` is `passed` or `failed`, `here` our verdict, and `plain` says what python3 alone makes of it. `reason`
    is the last line of its error, the assertion that failed, or the limit that it reached.
    """

    run: str
    problem: str
    index: int
    published: str
    here: str
    plain: str
    reason: str
    program: str

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """What it has in common with others of its kind."""
        # The name of an exception, without what is particular to the program.
        error = self.reason.partition(":")[0] if "Error" in self.reason.partition(":")[0] else ""
        return self.published, self.here, self.plain, error


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """One run: for each of its problems, the published verdicts of the samples, and ours."""

    name: str
    dataset: str
    published: dict[str, tuple[bool, ...]]
    here: dict[str, tuple[bool, ...]]
    without: int = 0

    @property
    def samples(self) -> int:
        """The number of samples with a published verdict and one of ours."""
        return sum(map(len, self.published.values()))

    def score(self, which: dict[str, tuple[bool, ...]]) -> tuple[float, Interval]:
        """pass@1 over the problems of the run, with its interval."""
        scores = problem_scores([(len(each), sum(each)) for each in which.values()], 1)
        single = all(len(each) == 1 for each in which.values())
        interval = wilson_interval(int(sum(scores)), len(scores)) if single else bootstrap_interval(scores)
        return sum(scores) / len(scores), interval

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON."""
        values: dict[str, Any] = {"run": self.name, "dataset": self.dataset, "samples": self.samples}
        for name, which in (("published", self.published), ("here", self.here)):
            value, interval = self.score(which)
            values[name] = {"pass@1": value, "interval": interval.bounds, "method": interval.method}
        return values | {"without_verdict": self.without}


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """All runs, and the flips among their samples."""

    runs: tuple[PublishedRun, ...]
    flips: tuple[Flip, ...]

    @property
    def samples(self) -> int:
        """The number of samples that were compared."""
        return sum(run.samples for run in self.runs)

    def ranks(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield the datasets on which the order of runs changed, with the order before and after."""
        for dataset in dict.fromkeys(run.dataset for run in self.runs):
            runs = [run for run in self.runs if run.dataset == dataset]
            before = _ranked({run.name: run.score(run.published)[0] for run in runs})
            after = _ranked({run.name: run.score(run.here)[0] for run in runs})
            if before != after:
                yield dataset, before, after

    def kinds(self) -> list[list[Flip]]:
        """Return the flips by kind, the most frequent first."""
        kinds: dict[tuple[str, ...], list[Flip]] = {}
        for flip in self.flips:
            kinds.setdefault(flip.kind, []).append(flip)
        return sorted(kinds.values(), key=len, reverse=True)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "samples": self.samples,
            "runs": [run.to_json() for run in self.runs],
            "flips": [asdict(flip) for flip in self.flips],
            "ranks": [{"dataset": d, "published": before, "here": after} for d, before, after in self.ranks()],
        }

    def lines(self) -> Iterator[str]:
        """Yield the table of runs, changed ranks, and each kind of flip with a witness."""
        width = max((len(run.name) for run in self.runs), default=3)
        yield f"{'run':<{width}}  samples  published               here                    flips"
        for run in self.runs:
            flips = sum(flip.run == run.name for flip in self.flips)
            before, after = (_shown(*run.score(which)) for which in (run.published, run.here))
            yield f"{run.name:<{width}}  {run.samples:>7}  {before:<22}  {after:<22}  {flips:>5}"
        yield f"{counted(self.samples, 'sample')}, {counted(len(self.flips), 'flip')}"
        if without := sum(run.without for run in self.runs):
            yield f"left out: {counted(without, 'sample')} without a verdict, published or of ours"
        for dataset, before, after in self.ranks():
            yield f"the order on {dataset} changes:"
            moved = [name for name in after if after.index(name) != before.index(name)]
            yield from (f"  {name}: {before.index(name) + 1} -> {after.index(name) + 1}" for name in moved)
        for flips in self.kinds():
            yield from _kind_lines(flips)


def _ranked(scores: dict[str, float]) -> list[str]:
    """Return the names in the order of their scores; those with one score stay in their own order."""
    return sorted(scores, key=lambda name: -round(scores[name], 12))


def _shown(value: float, interval: Interval) -> str:
    return f"{value:.4f}" + (" [{:.3f}, {:.3f}]".format(*interval.bounds) if interval.bounds else "")


def _kind_lines(flips: Sequence[Flip]) -> Iterator[str]:
    """Yield a kind of flips, with the first as its witness."""
    first = flips[0]
    error = f", {first.kind[-1]}" if first.kind[-1] else ""
    yield f"{len(flips)} published as {first.published}, here {first.here}{error}; python3: {first.plain}"
    yield f"  such as {first.run}, {first.problem}, sample {first.index}: {first.reason}"
