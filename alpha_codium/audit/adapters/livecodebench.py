"""LiveCodeBench, of a clone in PYTHONPATH; with `pip install numpy tqdm datasets`."""

from lcb_runner.evaluation.compute_code_generation_metrics import codegen_metrics
from lcb_samples import SECONDS, functions

grade, grade_call = functions(
    lambda sample, program: codegen_metrics([sample], [[program]], [1], 1, SECONDS)[0]["pass@1"] == 1
)
