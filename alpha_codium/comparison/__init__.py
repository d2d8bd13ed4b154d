"""Comparison of `solve_set` runs: their scores, costs and paired differences, and the effects of their stages.

1. `records` reads run folders; `fitting` refuses runs that can't be compared, and notes how they differ.
2. `judging` judges each distinct program of all runs once; the verdicts are kept in the runs' folders.
3. `figures` are a run's scores and costs, `pairs` the paired differences, `stages` the effects of stages.
4. `report` combines these; `tables` prints them as text.
"""
