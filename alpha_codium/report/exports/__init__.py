"""The result of a run in the formats of others: a module for each."""
