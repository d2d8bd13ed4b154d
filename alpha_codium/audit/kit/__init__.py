"""The kit: programs whose right verdicts are known, as data, for checks of our judge and of other graders."""
