"""Validation of a dataset: what its own known solutions say of its tests, checkers and limits.

1. `running` judges every known solution that can be run and notes what each printed, as an `Observation`.
2. `assessment` looks at one problem's observations and gives its findings, each with the evidence for it.
3. `report` counts them over the split; `columns` writes them beside the problems as a new dataset.
"""
