"""The geometry of the charts, which the template draws as SVG."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from alpha_codium.report.figures import Point, RunFigures

WIDTH, HEIGHT = 420, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 12, 40
# The points of a run, by its name: each at a place on the x-axis.
Series = Sequence[tuple[str, list[tuple[float, Point]]]]


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
class Chart:
    """A chart of lines; `label` says in words what it shows."""

    title: str
    x_title: str
    label: str
    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


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
    return Chart(title, x_title, f"{title}, by {unit}. {said}", lines, x_ticks, y_ticks)


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
    ends = [None if end is None else _height(end) for end in (point.high, point.low)]
    return Mark(x, _height(point.value), *ends, f"{point.name} = {point.value:.3f}{interval}, {amount:,.0f} {unit}")


def _height(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _short(number: float) -> str:
    """Return a number in at most four characters or so."""
    if number >= 1e6:
        return f"{number / 1e6:.3g}M"
    return f"{number / 1e3:.3g}k" if number >= 1e3 else f"{number:.0f}"
