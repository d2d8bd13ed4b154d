"""Checks of the judge itself: built-in cases, and files of submissions, whose verdicts are known."""
