"""Generation: runs a flow for each sample of each problem."""
