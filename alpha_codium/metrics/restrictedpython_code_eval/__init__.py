"""pass@k of programs that are compiled and run with RestrictedPython, inside our sandbox.

    os.environ["HF_ALLOW_CODE_EVAL"] = "1"
    pass_at_k, results = compute([["def add(a, b): return a + b"]], ["assert add(2, 3) == 5"], k=[1])

`evaluate.load` of this folder gives the same as a module of `evaluate`. RestrictedPython only restricts the language
of a candidate: the jail contains it, and the reference runs in a jail of its own, so that it can't forge a pass. See
docs/metrics.md.
"""

import keyword
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.eval.metric import checked_ks
from alpha_codium.metrics.assertion_runs import (
    CandidateOutcome,
    RunSettings,
    ScoresAndResults,
    pass_at_k_and_results,
    require_permission,
    run_samples,
)
from alpha_codium.metrics.restrictedpython_code_eval.references import prepared
from alpha_codium.metrics.restrictedpython_code_eval.wrapping import Restrictions
from alpha_codium.metrics.shared import DEFAULT_KS
from alpha_codium.verdict import Verdict

PRELOAD = ("RestrictedPython",)
BROKEN = (Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER, Verdict.COMPILATION_ERROR)


def compute(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    k: Iterable[int] = DEFAULT_KS,
    num_workers: int = 4,
    timeout: float = 3.0,
    use_safe_builtins: bool = True,
    use_limited_builtins: bool = True,
    use_utility_builtins: bool = True,
    additional_globals: Mapping[str, Any] | None = None,
    additional_locals: Mapping[str, Any] | None = None,
    allowed_imports: Iterable[str] | None = None,
    allow_str_format: bool = False,
    allow_underscore_variable_names: bool = False,
    return_output: bool = False,
    output_variable: str = "output",
    policy: type | None = None,
    tester_type: str | None = None,
) -> ScoresAndResults:
    """`(pass_at_k, results)` as `code_eval.compute` gives them, of candidates in a subset of Python.

    The three `use_..._builtins` say which of RestrictedPython's sets of builtins a candidate has. It also has the
    values of `additional_globals`, guards among them, which the reference has unchanged, and those of
    `additional_locals`, which the reference sees as the candidate left them. It may import `allowed_imports` and what
    is in them. `policy` is a subclass of RestrictedPython's RestrictingNodeTransformer, in place of that.
    With `return_output` each result has `output`: the value of `output_variable`, its repr if it isn't a plain value,
    None if there is none. `tester_type` is the name of a sandbox, by default that of the settings.

    Raises ValueError unless the environment has HF_ALLOW_CODE_EVAL=1, and UserError for invalid arguments, values that
    can't be sent into the sandbox, and a sandbox whose Python has no RestrictedPython.
    """
    require_permission()
    ks = checked_ks(k)
    used = {"safe": use_safe_builtins, "limited": use_limited_builtins, "utility": use_utility_builtins}
    restrictions = Restrictions(
        builtins=tuple(name for name, use in used.items() if use),
        additional_globals=_checked_names(additional_globals, "additional_globals"),
        additional_locals=_checked_names(additional_locals, "additional_locals"),
        allowed_imports=_checked_imports(allowed_imports),
        allow_str_format=allow_str_format,
        allow_underscore_variable_names=allow_underscore_variable_names,
        policy=_checked_policy(policy),
    )
    settings = RunSettings(
        timeout=timeout,
        num_workers=num_workers,
        setup_code=restrictions.setup_code(),
        output_variable=_checked_name(output_variable, "output_variable") if return_output else "",
        sandbox_options={"preload": PRELOAD},
        tester_type=tester_type,
    )
    outcomes = _outcomes(predictions, references, settings, restrictions.wrapper())
    pass_at_k, results = pass_at_k_and_results(outcomes, ks)
    if return_output:
        for row, judged in zip(results.values(), outcomes, strict=True):
            for (_, result), outcome in zip(row, judged, strict=True):
                result["output"] = outcome.output
    return pass_at_k, results


def _outcomes(
    predictions: Sequence[Sequence[str]], references: Sequence[str], settings: RunSettings, wrap: Callable[[str], str]
) -> list[list[CandidateOutcome]]:
    """The candidates' outcomes; raises UserError if the code around them doesn't load in the sandbox."""
    if not references or len(predictions) != len(references) or not all(isinstance(each, str) for each in references):
        return run_samples(predictions, references, settings)  # raises the error
    with_output = bool(settings.output_variable)
    asked = [prepared(reference, with_output=with_output) for reference in references]
    # The additional task, with an empty candidate, shows whether the surrounding code loads.
    *outcomes, (alone,) = run_samples([*predictions, [""]], [*asked, "assert True"], settings, program_of=wrap)
    if alone.verdict in BROKEN:
        raise UserError(
            f"the code around the programs doesn't load in the sandbox ({alone.result}): its Python needs "
            "RestrictedPython (pip install RestrictedPython) and the modules of the objects that are given"
        )
    return outcomes


def _checked_names(values: Any, argument: str) -> Mapping[str, Any]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise UserError(f"{argument} must be a mapping of names to values, not {type(values).__name__}")
    for name in values:
        _checked_name(name, f"{argument}: a key")
    return values


def _checked_name(name: Any, what: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise UserError(f"{what} must be the name of a variable, not {name!r}")
    return name


def _checked_imports(names: Any) -> tuple[str, ...] | None:
    given = None if names is None else () if isinstance(names, str) else tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in given or ()):
        raise UserError(f"allowed_imports must be a list of names of modules, such as ['math'], not {names!r}")
    return given


def _checked_policy(policy: Any) -> type | None:
    if policy is None:
        return None
    try:
        from RestrictedPython import RestrictingNodeTransformer
    except ImportError as error:
        raise UserError("a policy is a class of RestrictedPython's: pip install RestrictedPython") from error
    if not isinstance(policy, type) or not issubclass(policy, RestrictingNodeTransformer):
        raise UserError(f"policy must be a subclass of RestrictedPython.RestrictingNodeTransformer, not {policy!r}")
    return policy
