"""What a difference says, in words: never more than the numbers do."""

from alpha_codium.eval.comparing.pairs import Pair

# With fewer, all one way, p is above 0.05: 2 ** (1 - 5) is 0.0625.
FEWEST_FLIPS = 6


def sentence(pair: Pair) -> str:
    """What a difference says, in words."""
    if pair.difference is None:
        between = f"; the difference lies between {_between(pair.bounds)}" if pair.bounds else ""
        return f"not compared at pass@{pair.k}: {pair.second} and {pair.first}: {pair.reason}{between}"
    value, n = pair.difference.value, pair.difference.n_problems
    told = f"{value:+.4f}, {_with_interval(pair)}, p = {p_of(pair)} by {pair.test}"
    names = f"{pair.second} less {pair.first}"
    if pair.shown:
        said = f"{pair.second} is {'better' if value > 0 else 'worse'} than {pair.first} at pass@{pair.k}: {told}"
    else:
        said = f"no difference shown at pass@{pair.k}: {names}: {told}; {_what_could_be(pair, n)}"
    return said


def _what_could_be(pair: Pair, n: int) -> str:
    """What so many problems could have shown."""
    differ = len(pair.better) + len(pair.worse)
    if differ < FEWEST_FLIPS:
        return f"{differ} of {n} problems differ, and fewer than {FEWEST_FLIPS} never show anything"
    if pair.detectable is None:
        return f"so few of {n} problems differ that nothing could be shown"
    return f"{n} problems like these show one of {pair.detectable:.4f} four times in five"


def p_of(pair: Pair) -> str:
    """The p-value."""
    return "n/a" if pair.p_value is None else f"{pair.p_value:.2g}" if pair.p_value >= 0.0001 else "<0.0001"


def _with_interval(pair: Pair) -> str:
    assert pair.difference is not None
    interval = pair.difference.interval
    if interval.bounds is None:
        return f"no interval: {interval.reason}"
    return f"95 % interval {interval.bounds[0]:+.4f} to {interval.bounds[1]:+.4f}"


def _between(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:+.4f} and {bounds[1]:+.4f}"
