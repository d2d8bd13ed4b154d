"""The judge's verdicts on published programs, to check that a change of the code doesn't change any."""
