"""Statistics of scores, as pure functions.

1. `estimators`: pass@k and pass^k of one problem, their mean over a split, and strata of a split.
2. `intervals`: confidence intervals of such a mean, Wilson's for one sample per problem, bootstrap otherwise.
3. `comparisons`: two sets of scores on the same problems: difference, flips, McNemar's test, and the smallest
   difference that can be detected with a given number of problems.

docs/statistics.md explains when to use which.
"""

from alpha_codium.statistics.comparisons import (
    Difference,
    Flips,
    detectable_difference,
    detectable_gain,
    flips,
    mcnemar,
    paired_bootstrap,
    paired_differences,
    smallest_detectable_difference,
    smallest_detectable_gain,
)
from alpha_codium.statistics.estimators import (
    Estimate,
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_at_k,
    pass_hat_k,
    problem_scores,
    strata,
)
from alpha_codium.statistics.intervals import Interval, bootstrap_interval, wilson_interval

__all__ = [
    "Difference",
    "Estimate",
    "Flips",
    "Interval",
    "bootstrap_interval",
    "detectable_difference",
    "detectable_gain",
    "flips",
    "mcnemar",
    "mean_pass_at_k",
    "mean_pass_hat_k",
    "paired_bootstrap",
    "paired_differences",
    "pass_at_k",
    "pass_hat_k",
    "problem_scores",
    "smallest_detectable_difference",
    "smallest_detectable_gain",
    "strata",
    "wilson_interval",
]
