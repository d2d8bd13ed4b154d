"""What comes of published samples that are judged again: scores before and after, and each verdict that changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypedDict

from alpha_codium.statistics import bootstrap_interval, problem_scores, wilson_interval
from alpha_codium.values import JsonValue, named
from alpha_codium.wording import counted

PASSED, FAILED = "passed", "failed"


@dataclass(frozen=True, slots=True)
class Flip(JsonValue):
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
        error = self.reason.partition(":")[0]
        return self.published, self.here, self.plain, error if "Error" in error else ""


# pass@1 isn't a name of Python.
PublishedScore = TypedDict("PublishedScore", {"pass@1": float, "interval": tuple[float, float] | None, "method": str})


@dataclass(frozen=True, slots=True)
class PublishedRun(JsonValue):
    """One run: for each of its problems, the published verdicts of the samples, and ours."""

    in_json: ClassVar[Mapping[str, str]] = {
        **named("dataset", "samples", run="name", published="score_published", here="score_here"),
        **named(without_verdict="without"),
    }

    name: str
    dataset: str
    published: dict[str, tuple[bool, ...]]
    here: dict[str, tuple[bool, ...]]
    without: int = 0

    @property
    def samples(self) -> int:
        """The number of samples with a published verdict and one of ours."""
        return sum(map(len, self.published.values()))

    def score(self, which: dict[str, tuple[bool, ...]]) -> PublishedScore:
        """pass@1 over the problems of the run, with its interval."""
        scores = problem_scores([(len(each), sum(each)) for each in which.values()], 1)
        single = all(len(each) == 1 for each in which.values())
        interval = wilson_interval(int(sum(scores)), len(scores)) if single else bootstrap_interval(scores)
        return {"pass@1": sum(scores) / len(scores), "interval": interval.bounds, "method": interval.method}

    @property
    def score_published(self) -> PublishedScore:
        """The score by the published verdicts."""
        return self.score(self.published)

    @property
    def score_here(self) -> PublishedScore:
        """The score by our verdicts."""
        return self.score(self.here)


class Order(TypedDict):
    """The names of the runs on a dataset by their score, by the published verdicts and by ours."""

    dataset: str
    published: list[str]
    here: list[str]


@dataclass(frozen=True, slots=True)
class Rejudgement(JsonValue):
    """All runs, and the flips among their samples."""

    in_json: ClassVar[Mapping[str, str]] = named("samples", "runs", "flips", "ranks")

    runs: tuple[PublishedRun, ...]
    flips: tuple[Flip, ...]

    @property
    def samples(self) -> int:
        """The number of samples that were compared."""
        return sum(run.samples for run in self.runs)

    @property
    def ranks(self) -> list[Order]:
        """The datasets on which the order of runs changed, with the order before and after."""
        found: list[Order] = []
        for dataset in dict.fromkeys(run.dataset for run in self.runs):
            runs = [run for run in self.runs if run.dataset == dataset]
            before = _ranked({run.name: run.score_published["pass@1"] for run in runs})
            after = _ranked({run.name: run.score_here["pass@1"] for run in runs})
            if before != after:
                found.append({"dataset": dataset, "published": before, "here": after})
        return found

    def kinds(self) -> list[list[Flip]]:
        """Return the flips by kind, the most frequent first."""
        kinds: dict[tuple[str, ...], list[Flip]] = {}
        for flip in self.flips:
            kinds.setdefault(flip.kind, []).append(flip)
        return sorted(kinds.values(), key=len, reverse=True)

    def lines(self) -> Iterator[str]:
        """Yield the table of runs, changed ranks, and each kind of flip with a witness."""
        width = max((len(run.name) for run in self.runs), default=3)
        yield f"{'run':<{width}}  samples  published               here                    flips"
        for run in self.runs:
            flips = sum(flip.run == run.name for flip in self.flips)
            before, after = (_shown(score) for score in (run.score_published, run.score_here))
            yield f"{run.name:<{width}}  {run.samples:>7}  {before:<22}  {after:<22}  {flips:>5}"
        yield f"{counted(self.samples, 'sample')}, {counted(len(self.flips), 'flip')}"
        if without := sum(run.without for run in self.runs):
            yield f"left out: {counted(without, 'sample')} without a verdict, published or of ours"
        for order in self.ranks:
            before, after = order["published"], order["here"]
            yield f"the order on {order['dataset']} changes:"
            moved = [name for name in after if after.index(name) != before.index(name)]
            yield from (f"  {name}: {before.index(name) + 1} -> {after.index(name) + 1}" for name in moved)
        for flips in self.kinds():
            yield from _kind_lines(flips)


def _ranked(scores: dict[str, float]) -> list[str]:
    """Return the names in the order of their scores; those with one score stay in their own order."""
    return sorted(scores, key=lambda name: -round(scores[name], 12))


def _shown(score: PublishedScore) -> str:
    return f"{score['pass@1']:.4f}" + (" [{:.3f}, {:.3f}]".format(*score["interval"]) if score["interval"] else "")


def _kind_lines(flips: Sequence[Flip]) -> Iterator[str]:
    """Yield a kind of flips, with the first as its witness."""
    first = flips[0]
    error = f", {first.kind[-1]}" if first.kind[-1] else ""
    yield f"{len(flips)} published as {first.published}, here {first.here}{error}; python3: {first.plain}"
    yield f"  such as {first.run}, {first.problem}, sample {first.index}: {first.reason}"
