"""Benchmarks of the package; see README.md."""
