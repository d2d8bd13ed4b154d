"""lighteval: `pip install lighteval`."""

from lcb_samples import functions
from lighteval.tasks.tasks.lcb.codegen_metrics import codegen_metrics

grade, grade_call = functions(codegen_metrics)
