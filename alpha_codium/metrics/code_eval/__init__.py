"""pass@k of programs by the code that tests them: the metric `code_eval`, judged in our sandbox.

    os.environ["HF_ALLOW_CODE_EVAL"] = "1"
    pass_at_k, results = compute([["def add(a, b): return a + b"]], ["assert add(2, 3) == 5"], k=[1])

`evaluate.load` of this folder gives the same as a module of `evaluate`. docs/metrics.md says where its verdicts
differ from those of the metric of that name, and why.
"""

from collections.abc import Iterable, Sequence

from alpha_codium.eval.metric import checked_ks
from alpha_codium.metrics.assertion_runs import (
    RunSettings,
    ScoresAndResults,
    pass_at_k_and_results,
    require_permission,
    run_samples,
)
from alpha_codium.metrics.shared import DEFAULT_KS


def compute(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    k: Iterable[int] = DEFAULT_KS,
    num_workers: int = 4,
    timeout: float = 3.0,
    tester_type: str | None = None,
) -> ScoresAndResults:
    """`(pass_at_k, results)`: the scores, and each candidate's result by task.

    `predictions[task]` are the candidates, `references[task]` the code that tests them. `timeout` is in CPU seconds
    of a program; three times that plus 2 s of waiting end it as well. `results[task]` holds `(i, {"task_id", "passed",
    "result", "completion_id"})` of each candidate i, `result` being `passed`, `timed out` or `failed: ` and why; one
    that used between 80 % and 120 % of a limit also has `near_limit`, a list of `cpu`, `wall` and `memory`.
    `tester_type` is the name of a sandbox, by default that of the settings (`code_tester.tester_type`).

    Raises ValueError unless the environment has HF_ALLOW_CODE_EVAL=1, and UserError if the arguments aren't such lists,
    or a reference isn't Python or asserts nothing.
    """
    require_permission()
    ks = checked_ks(k)
    outcomes = run_samples(predictions, references, RunSettings(timeout, num_workers, tester_type=tester_type))
    return pass_at_k_and_results(outcomes, ks)
