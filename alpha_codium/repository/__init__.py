"""The repository benchmark: tasks inside a real code base, such as Django, and the tests that judge their answers."""
