"""Examining what verdicts depend on: datasets, by their known programs, and the judge, by cases with known verdicts."""
