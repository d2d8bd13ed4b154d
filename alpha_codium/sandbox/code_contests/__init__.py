"""DeepMind's C++ sandbox (`code-contests-tester`), driven from our Python; see `docs/code_contests.md`."""
