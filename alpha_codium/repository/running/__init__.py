"""The runner of the repository benchmark: a model's answers to tasks, over several turns with the results of tests."""
