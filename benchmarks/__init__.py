"""Measurements of the package; README.md says what there is."""
