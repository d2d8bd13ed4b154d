"""The judge's verdicts on published programs, kept so that a change can prove that none moved."""
