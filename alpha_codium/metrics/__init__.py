"""Well-known metrics, with the interface of `evaluate` and as plain functions."""
