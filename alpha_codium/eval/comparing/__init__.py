"""Runs of `solve_set` side by side: which is better, by how much, at what price, and which stages did it.

1. `records` reads what a run folder holds; `fitting` refuses runs that can't be compared, and says how they differ.
2. `judging` judges each distinct program of all runs once; the verdicts stay in the runs' folders.
3. `figures` are a run's scores and costs, `pairs` the paired differences, `stages` what each stage did to programs.
4. `report` is all of it, as `--json` writes it; `tables` and `wording` are its text.
"""
