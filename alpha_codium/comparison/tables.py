"""A comparison as plain text of 80 columns.

Runs are labelled with letters, so that their names needn't be in every table. Unprintable characters in names are
escaped.
"""

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from alpha_codium.comparison.figures import Costs, Figures
from alpha_codium.comparison.pairs import Pair
from alpha_codium.comparison.report import Comparison
from alpha_codium.comparison.stages import StageEffect
from alpha_codium.statistics import Interval
from alpha_codium.wording import counted, money

WIDTH = 80
GAP = "  "
Row = Sequence[str]
# With fewer flips, even if all are in one direction, p is above 0.05: 2 ** (1 - 5) is 0.0625.
FEWEST_FLIPS = 6
# The outcomes of `comparison.stages` by their headings.
STAGE_COLUMNS = {"none": "no_program", "ok": "first_passes", "bad": "first_fails"}
STAGE_COLUMNS |= {"gained": "gained", "lost": "lost", "same": "unchanged"}


def table(header: Row, rows: Iterable[Row], left: int = 1) -> str:
    """Columns as wide as their cells, the first `left` of them aligned to the left, the others to the right.

    Columns that don't fit into the width follow in a table of their own, beside the first `left` again.
    """
    lines = [[plain(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    blocks = [list(range(left))]
    for column in range(left, len(header)):
        total = sum(len(GAP) + widths[each] for each in (*blocks[-1], column)) - len(GAP)
        if len(blocks[-1]) > left and total > WIDTH:
            blocks.append(list(range(left)))
        blocks[-1].append(column)

    def aligned(line: Row, columns: Sequence[int]) -> str:
        cells = (line[i].ljust(widths[i]) if i < left else line[i].rjust(widths[i]) for i in columns)
        return GAP.join(cells).rstrip()

    return "\n\n".join("\n".join(aligned(line, columns) for line in lines) for columns in blocks)


def wrapped(text: str, indent: str = "") -> str:
    """The text in lines of the table's width, those after the first behind `indent`."""
    return textwrap.fill(plain(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def plain(text: str) -> str:
    """A text with its control and other unprintable characters escaped: names are untrusted."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, width: int) -> str:
    """The text, cut in the middle where it is longer."""
    text = plain(text)
    if len(text) <= width:
        return text
    head = (width - 3) // 2
    return f"{text[:head]}...{text[len(text) - (width - 3 - head) :]}"


def number(value: float) -> str:
    """A number of calls, with a decimal if it is small."""
    return f"{value:.1f}" if value < 100 else count(value)


def count(value: float) -> str:
    """A large number, such as one of tokens."""
    return "unbounded" if math.isinf(value) else f"{value:,.0f}"


def share(count: int, of: int) -> str:
    """A count and its share of `of`."""
    return f"{count} ({count / of:.1%})" if of else "n/a"


def cell(value: Any) -> str:
    """A value of any kind."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def text_of(report: Comparison) -> str:
    """The whole comparison."""
    letters = {run.name: letter(place) for place, run in enumerate(report.runs)}
    methods = ", ".join(dict.fromkeys(run.score.interval_method for run in report.runs))
    parts = [
        _heading(report),
        f"Runs\n{_runs(report.runs, letters)}",
        f"Scores, with 95 % intervals ({methods})\n{_scores(report.runs, letters)}",
        f"Costs\n{_costs(report.runs, letters)}",
        f"Samples\n{_samples(report.runs, letters)}",
        _differences(report, letters),
        *(_stages(run, report.stages[run.name], letters[run.name]) for run in report.runs),
        "Notes\n" + _list([*report.notes, f"judge error: {report.judge_error}"]),
        *_references(report.references),
    ]
    return "\n\n".join(parts) + "\n"


def letter(place: int) -> str:
    """The letter of a run, AA after Z."""
    return (chr(65 + place // 26 - 1) if place >= 26 else "") + chr(65 + place % 26)


def _list(items: Sequence[str]) -> str:
    return "\n".join(wrapped(f"- {item}", "  ") for item in items)


def _heading(report: Comparison) -> str:
    what = report.what
    tests = ", ".join(what["test_types"])
    split = f"{what['dataset']}[{what['split']}]"
    return wrapped(f"{counted(len(report.runs[0].score.problems), 'problem')} of {split}, judged by their {tests}")


def _runs(runs: Sequence[Figures], letters: dict[str, str]) -> str:
    records = [run.record for run in runs]
    return "\n".join(
        wrapped(f"{letters[r.name]}  {r.name}: {r.flow}, by {', '.join(r.models)}, n = {r.samples}", "   ")
        for r in records
    )


def _scores(runs: Sequence[Figures], letters: dict[str, str]) -> str:
    rows = [
        (letters[run.name], name, *_score(run, name), f"{run.solved} of {len(run.score.problems)}")
        for run in runs
        for name in run.score.pass_at_k
        if name not in _too_large(runs)
    ]
    return table(("", "", "value", "95 % interval", "problems solved"), rows, left=2) + _reasons(runs, letters)


def _too_large(runs: Sequence[Figures]) -> set[str]:
    """The pass@k for which no run has enough samples."""
    known = {f"pass@{e.k}" for run in runs for e in run.score.estimates if e.value is not None}
    return {name for run in runs for name in run.score.pass_at_k} - known


def _score(run: Figures, name: str) -> tuple[str, str]:
    value, bounds = run.score.pass_at_k[name], run.score.intervals[name]
    if value is not None:
        return f"{value:.4f}", f"{bounds[0]:.4f} to {bounds[1]:.4f}" if bounds else "n/a"
    for low, high in run.score.bounds:
        if f"pass@{low.k}" == name and low.value is not None and high.value is not None:
            return "unfinished", f"between {low.value:.4f} and {high.value:.4f}"
    return "n/a", "n/a"


def _reasons(runs: Sequence[Figures], letters: dict[str, str]) -> str:
    """Why a score or an interval is n/a, each reason once."""
    missing = sorted(_too_large(runs))
    said: dict[str, list[str]] = {f"no run has enough samples for {', '.join(missing)}": []} if missing else {}
    for run in runs:
        for name, reason in (run.score.interval_reasons | run.score.reasons).items():
            if name not in missing:
                said.setdefault(reason, []).append(f"{letters[run.name]} {name}")
    notes = (f"{', '.join(who)}: {reason}" if who else reason for reason, who in said.items())
    return "".join("\n" + wrapped(f"n/a: {note}") for note in notes)


def _costs(runs: Sequence[Figures], letters: dict[str, str]) -> str:
    units = ("", "calls", "tokens", "dollars")
    samples = [(letters[run.name], *_cells(run.per_sample)) for run in runs]
    solved = [(letters[run.name], *_cells(run.per_solved, run.solved_intervals)) for run in runs]
    return f"Per sample:\n{table(units, samples)}\n\nPer solved problem, with 95 % intervals:\n{table(units, solved)}"


def _cells(costs: Costs | None, intervals: Mapping[str, Interval] = MappingProxyType({})) -> tuple[str, ...]:
    if costs is None:
        return "n/a", "n/a", "n/a"
    formats: dict[str, Callable[[Any], str]] = {"calls": number, "tokens": count, "dollars": money}
    return tuple(f"{shown(getattr(costs, u))}{_bounds(intervals.get(u), shown)}" for u, shown in formats.items())


def _bounds(interval: Interval | None, shown: Callable[[float], str]) -> str:
    if interval is None:
        return ""
    return f" [{', '.join(map(shown, interval.bounds))}]" if interval.bounds else " [n/a]"


def _samples(runs: Sequence[Figures], letters: dict[str, str]) -> str:
    rows = [
        (
            letters[run.name],
            *map(str, (run.asked, run.finished, run.unfinished)),
            share(run.truncated["count"], run.finished),
            share(run.no_program["count"], run.finished),
        )
        for run in runs
    ]
    return table(("", "asked", "finished", "unfinished", "truncated", "no program"), rows)


def _differences(report: Comparison, letters: dict[str, str]) -> str:
    if len(report.runs) < 2:
        return "Only one run: nothing to compare it with."
    left_out = _too_large(report.runs)
    pairs = [pair for pair in report.pairs if f"pass@{pair.k}" not in left_out]
    rows = [_difference(pair, letters) for pair in pairs if pair.difference is not None]
    header = ("", "", "value", "95 % interval", "p", "better", "worse", "detectable")
    title = "Differences on the same problems (better, worse: problems above, below 0)"
    body = table(header, rows, left=2) + "\n\n" if rows else ""
    return f"{title}\n{body}{_list([sentence(pair) for pair in pairs])}"


def _difference(pair: Pair, letters: dict[str, str]) -> Row:
    assert pair.difference is not None
    bounds = pair.difference.interval.bounds
    return (
        f"{letters[pair.second]} - {letters[pair.first]}",
        f"pass@{pair.k}",
        f"{pair.difference.value:+.4f}",
        f"{bounds[0]:+.4f} to {bounds[1]:+.4f}" if bounds else "n/a",
        _p_value(pair),
        str(len(pair.better)),
        str(len(pair.worse)),
        "n/a" if pair.detectable is None else f"{pair.detectable:.4f}",
    )


def sentence(pair: Pair) -> str:
    """Return a difference in words, without overstating it."""
    if pair.difference is None:
        reason = f"not compared at pass@{pair.k}: {pair.second} and {pair.first}: {pair.reason}"
        if not pair.bounds:
            return reason
        return f"{reason}; the difference lies between {pair.bounds[0]:+.4f} and {pair.bounds[1]:+.4f}"
    value, interval = pair.difference.value, pair.difference.interval
    between = "{:+.4f} to {:+.4f}".format(*interval.bounds) if interval.bounds else ""
    shown = f"95 % interval {between}" if between else f"no interval: {interval.reason}"
    numbers = f"{value:+.4f}, {shown}, p = {_p_value(pair)} by {pair.test}"
    if pair.shown:
        return f"{pair.second} is {'better' if value > 0 else 'worse'} than {pair.first} at pass@{pair.k}: {numbers}"
    minus = f"{pair.second} minus {pair.first}"
    return f"no difference shown at pass@{pair.k}: {minus}: {numbers}; {_power(pair, pair.difference.n_problems)}"


def _power(pair: Pair, n: int) -> str:
    """Return the difference that `n` problems could have shown."""
    differ = len(pair.better) + len(pair.worse)
    if differ < FEWEST_FLIPS:
        return f"{differ} of {counted(n, 'problem')} differ; fewer than {FEWEST_FLIPS} can't show a difference"
    if pair.detectable is None:
        return f"too few of {counted(n, 'problem')} differ to show anything"
    return f"{counted(n, 'problem')} like these show a difference of {pair.detectable:.4f} four times in five"


def _p_value(pair: Pair) -> str:
    return "n/a" if pair.p_value is None else f"{pair.p_value:.2g}" if pair.p_value >= 0.0001 else "<0.0001"


def _stages(run: Figures, effects: Sequence[StageEffect], letter: str) -> str:
    legend = "ok, bad: the first program, by verdict; change: what a stage adds to the share of samples that pass"
    title = wrapped(f"Stages of {letter}, in samples ({legend})") + "\n"
    if not effects:
        missing = "the run's transcripts don't record the program after each stage"
        return f"{title}n/a: {missing if run.finished else 'no sample is finished'}"
    columns = STAGE_COLUMNS | ({"?": "unknown"} if any(effect.counts["unknown"] for effect in effects) else {})
    without = [effect.stage for effect in effects if effect.counts["no_program"] == effect.samples]
    rows = [
        (shortened(effect.stage, 19), *(str(effect.counts.get(key, 0)) for key in columns.values()), _change(effect))
        for effect in effects
        if effect.stage not in without
    ]
    head = wrapped(f"no program yet after {', '.join(without)}") + "\n" if without else ""
    missing = run.finished - len(run.record.steps)
    samples = counted(run.finished, "finished sample")
    more = f"\nno transcript of the stages: {missing} of {samples}" if missing > 0 else ""
    return title + head + table(("stage", *columns, "change, 95 %"), rows) + more


def _change(effect: StageEffect) -> str:
    bounds = effect.interval.bounds
    return f"{effect.change:+.3f}" + (f" [{bounds[0]:+.3f}, {bounds[1]:+.3f}]" if bounds else " [n/a]")


def _references(references: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the tables of published numbers, by source, separate from measurements."""
    for source in dict.fromkeys(row["source"] for row in references):
        columns = tuple(column for column in references[0] if column != "source")
        rows = [tuple(cell(row[c]) for c in columns) for row in references if row["source"] == source]
        title = wrapped(f"Published, not measured here: {source} (other models, tests, budgets)")
        yield f"{title}\n{table(columns, rows, left=len(columns) - 1)}"
