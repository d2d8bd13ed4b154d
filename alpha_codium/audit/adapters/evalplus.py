"""EvalPlus: `pip install evalplus`. Its form is a function with arguments and results."""

from evalplus.eval import untrusted_check

REFERENCE_SECONDS = 1.0


def grade_call(program, function, arguments, results):
    """Whether its status is `pass`; each call has four times the reference's time, as by default."""
    times = [REFERENCE_SECONDS] * len(arguments)
    status, _ = untrusted_check("humaneval", program, arguments, function, results, atol=0, ref_time=times)
    return status == "pass"
