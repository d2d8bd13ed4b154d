"""EvalScope: `pip install evalscope`.

It starts a process with all of its imports for each program. A fork takes its place here, for time.
"""

import multiprocessing

from evalscope.benchmarks.live_code_bench import evaluate_utils
from lcb_samples import functions

evaluate_utils.multiprocessing.get_context = lambda _method, given=multiprocessing.get_context: given("fork")
grade, grade_call = functions(evaluate_utils.codegen_metrics, full=100)
