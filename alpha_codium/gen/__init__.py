"""Generation of candidates: a flow is run for each sample of each problem."""
