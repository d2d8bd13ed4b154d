"""Runs of `solve_set` side by side: which is better, by how much, at what price, and which stages did it.

1. `records` reads run folders; `fitting` refuses runs that can't be compared, and notes how they differ.
2. `judging` judges each distinct program of all runs once; the verdicts are kept in the runs' folders.
3. `figures` are a run's scores and costs, `pairs` the paired differences, `stages` the effects of stages.
4. `report` is all of it, as `--json` writes it; `tables` and `formats` are its text.
"""
