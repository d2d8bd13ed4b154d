"""lighteval: `pip install lighteval`."""

from lcb_samples import SECONDS, functions
from lighteval.tasks.tasks.lcb.codegen_metrics import codegen_metrics

grade, grade_call = functions(
    lambda sample, program: codegen_metrics([sample], [[program]], [1], 1, SECONDS)[0]["pass@1"] == 1
)
