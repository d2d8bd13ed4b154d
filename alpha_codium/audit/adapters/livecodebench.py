"""LiveCodeBench, of a clone in PYTHONPATH; with `pip install numpy tqdm datasets`."""

from lcb_runner.evaluation.compute_code_generation_metrics import codegen_metrics
from lcb_samples import functions

grade, grade_call = functions(codegen_metrics)
