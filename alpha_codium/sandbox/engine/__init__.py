"""The common engine of the backends: jailed workers with warm interpreters. Start reading at `pool` and `inside`."""
