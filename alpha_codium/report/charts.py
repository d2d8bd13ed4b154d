"""The geometry of the charts, which the template draws as SVG."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from alpha_codium.report.figures import Point, RunFigures
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

MOST_BARS = 10
WIDTH, HEIGHT = 420, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 24, 12, 40


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of a line: its place, the ends of its interval, and what it says."""

    x: float
    y: float
    high: float | None
    low: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A run's scores."""

    name: str
    marks: tuple[Mark, ...]

    @property
    def path(self) -> str:
        """The points of the line for SVG."""
        return " ".join(f"{mark.x:.1f},{mark.y:.1f}" for mark in self.marks)

    @property
    def band(self) -> str:
        """The outline of the intervals for SVG, empty if there are none."""
        known = [mark for mark in self.marks if mark.high is not None and mark.low is not None]
        if len(known) < 2:
            return ""
        upper = [f"{mark.x:.1f},{mark.high:.1f}" for mark in known]
        lower = [f"{mark.x:.1f},{mark.low:.1f}" for mark in reversed(known)]
        return " ".join([*upper, *lower])


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram; `run` is the place of its run."""

    x: float
    y: float
    width: float
    height: float
    run: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of lines or bars, with its axes; `label` says in words what it shows."""

    width: ClassVar[int] = WIDTH
    height: ClassVar[int] = HEIGHT
    left: ClassVar[int] = LEFT
    right: ClassVar[int] = WIDTH - RIGHT
    bottom: ClassVar[int] = HEIGHT - BOTTOM

    title: str
    x_title: str
    label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()


def by_problem(runs: Sequence[RunFigures]) -> Chart | None:
    """Return how many problems are solved by which share of their samples; None for runs of single samples."""
    most = max((len(problem.candidates) for run in runs for problem in run.score.problems), default=0)
    if most < 2 or not all(run.is_score for run in runs):
        return None
    classes = min(most, MOST_BARS)
    counts = [_counts(run, classes) for run in runs]
    tallest = max(max(each) for each in counts) or 1
    step = (WIDTH - LEFT - RIGHT) / (classes + 1)
    own, bars = 0.8 * step / len(runs), []
    for run, each in enumerate(counts):
        for place, count in enumerate(each):
            if count:
                top = _height(count / tallest)
                text = f"{runs[run].name}: {counted(count, 'problem')}"
                bars.append(Bar(LEFT + step * (place + 0.1) + own * run, top, own, HEIGHT - BOTTOM - top, run, text))
    ticks = [Tick(LEFT + step * (place + 0.5), f"{100 * place / classes:.0f}%") for place in range(classes + 1)]
    said = "; ".join(
        f"{run.name}: {each[0]} by none, {sum(each[1:-1])} by some, {each[-1]} by all"
        for run, each in zip(runs, counts, strict=True)
    )
    title = "Problems by the share of samples that pass"
    marks = (0, tallest // 2, tallest) if tallest > 1 else (0, tallest)
    y_ticks = tuple(Tick(_height(count / tallest), str(count)) for count in marks)
    x_ticks = tuple(ticks[:: 2 if classes > 6 else 1])
    label = f"{title}. {said}"
    return Chart(
        title=title, x_title="samples that pass", label=label, bars=tuple(bars), x_ticks=x_ticks, y_ticks=y_ticks
    )


def _counts(run: RunFigures, classes: int) -> list[int]:
    """Return the number of problems whose share is nearest to 0, 1 / classes, ..., 1; only 0 and 1 are exact."""
    counts = [0] * (classes + 1)
    for problem in run.score.problems:
        passed = sum(each.verdict is Verdict.ACCEPTED for each in problem.candidates)
        share = passed / len(problem.candidates) if problem.candidates else 0.0
        place = round(share * classes) if share in (0.0, 1.0) else min(max(round(share * classes), 1), classes - 1)
        counts[place] += 1
    return counts


def by_samples(runs: Sequence[RunFigures]) -> Chart | None:
    """Return the chart of pass@k by k; None if no run has two of them."""
    series = [(run.name, [(float(point.k), point) for point in _known(run)]) for run in runs]
    return _chart("pass@k by samples", "samples of a problem (k)", "samples", series)


def by_tokens(runs: Sequence[RunFigures]) -> Chart | None:
    """Return the chart of pass@k by what k samples of a problem cost in tokens; None if that isn't known."""
    series = [
        (run.name, [(point.k * run.spent.per_sample.tokens, point) for point in _known(run)])
        for run in runs
        if run.spent is not None and run.spent.per_sample.tokens
    ]
    return _chart("pass@k by cost", "tokens for a problem", "tokens", series)


def _known(run: RunFigures) -> list[Point]:
    return [point for point in run.points if point.value is not None] if run.is_score else []


def _chart(
    title: str, x_title: str, unit: str, series: Sequence[tuple[str, list[tuple[float, Point]]]]
) -> Chart | None:
    xs = [x for _, points in series for x, _ in points]
    if len(set(xs)) < 2:
        return None
    low, high = math.log(min(xs)), math.log(max(xs))

    def place(x: float) -> float:
        return LEFT + (math.log(x) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    lines = tuple(Line(name, tuple(_mark(place(x), x, point, unit) for x, point in points)) for name, points in series)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{point.value:.3f} at {x:,.0f}" for x, point in points) for name, points in series
    )
    y_ticks = tuple(Tick(_height(share / 4), f"{share * 25}%") for share in range(5))
    x_ticks = tuple(Tick(place(x), _short(x)) for x in _spread(sorted(set(xs)), place))
    label = f"{title}, by {unit}. {said}"
    return Chart(title=title, x_title=x_title, label=label, lines=lines, x_ticks=x_ticks, y_ticks=y_ticks)


def _spread(xs: Sequence[float], place: Callable[[float], float]) -> list[float]:
    """Return those values whose labels don't touch."""
    chosen: list[float] = []
    for x in xs:
        if not chosen or place(x) - place(chosen[-1]) > 34:
            chosen.append(x)
    return chosen


def _mark(x: float, amount: float, point: Point, unit: str) -> Mark:
    assert point.value is not None
    interval = f" (95 %: {point.low:.3f} to {point.high:.3f})" if point.low is not None else ""
    high, low = (None if end is None else _height(end) for end in (point.high, point.low))
    text = f"{point.name} = {point.value:.3f}{interval}, {amount:,.0f} {unit}"
    return Mark(x, _height(point.value), high, low, text)


def _height(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _short(number: float) -> str:
    """Return a number in at most four characters or so."""
    if number >= 1e6:
        return f"{number / 1e6:.3g}M"
    return f"{number / 1e3:.3g}k" if number >= 1e3 else f"{number:.0f}"
