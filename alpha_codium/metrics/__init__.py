"""The metrics that people cite, behind the interface of `evaluate` and by themselves."""
