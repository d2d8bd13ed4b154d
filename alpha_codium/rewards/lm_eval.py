"""A filter and a metric for tasks of lm-eval: the filter rewards all answers at once, the metric gives their mean.

    filter_list:
      - name: code
        filter: [{function: custom, filter_fn: !function utils.rewards}]
    metric_list:
      - {metric: !function utils.reward, aggregation: nanmean, higher_is_better: true}

where `utils.py` has `rewards = lm_eval_filter()` and `reward = lm_eval_metric`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from alpha_codium.app.tests_of import Shape
from alpha_codium.rewards.core import CodeReward

Filter = Callable[[Sequence[Sequence[str]], Sequence[Mapping[str, Any]]], list[list[float]]]


def lm_eval_filter(*, field: str | Callable[[Mapping[str, Any]], Shape] = "tests", **options: Any) -> Filter:
    """Return a filter that replaces answers by rewards; `options` are those of `CodeReward`.

    The tests are in the `field` of each document, or what the function `field` makes of it, in one of the shapes of
    `tests_of`. Where there is no reward it gives NaN, which lm-eval 0.4.13 leaves out of the aggregation `nanmean`;
    `mean` would be NaN. The filter raises what `field` raises if it does so for every document.
    """
    reward = CodeReward(**options)
    tests_of = field if callable(field) else itemgetter(field)

    def rewards(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[float]]:
        """Return the rewards of the answers for each document."""
        answers = [answer for given in resps for answer in given]
        found = _tests(tests_of, docs)
        tests = [each for given, each in zip(resps, found, strict=True) for _ in given]
        values = iter(math.nan if each.reward is None else each.reward for each in reward.score(answers, tests))
        return [[next(values) for _ in given] for given in resps]

    return rewards


def _tests(tests_of: Callable[[Mapping[str, Any]], Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the tests of each document; None, which can't be judged, for one that has none."""
    found: list[Any] = []
    errors: list[Exception] = []
    for doc in docs:
        try:
            found.append(tests_of(doc))
        except Exception as error:  # noqa: BLE001 - one document must not end the evaluation
            errors.append(error)
            found.append(None)
    if errors and len(errors) == len(docs):
        raise errors[0]
    return found


def lm_eval_metric(predictions: Sequence[Sequence[float]], **_options: Any) -> float:
    """Return the mean of a document's rewards, without those that are NaN; NaN if there are no others."""
    values = [each for each in predictions[0] if not math.isnan(each)]
    return sum(values) / len(values) if values else math.nan
