"""Validation of a dataset: its tests, checkers and limits, checked with its own known solutions.

1. `running` judges every known solution that can be run and records an `Observation` of each.
2. `assessment` derives the findings on one problem, each with its evidence, from the observations.
3. `report` counts them over the split; `columns` writes them beside the problems as a new dataset.
"""
