"""What the tasks in this folder judge by: `lm_eval --include_path examples/trainers/lm_eval --tasks gencode_humaneval`.

A document is a problem, recognised by its columns as `gencode eval score` does. As in the benchmarks' own graders,
tests that only the program's process can decide count, too.
"""

from alpha_codium.data.schema import problem_from_record
from alpha_codium.rewards import lm_eval_filter, lm_eval_metric

rewards = lm_eval_filter(field=problem_from_record, in_process=True)
reward = lm_eval_metric
