"""The engine of the backends: jailed workers with warm interpreters. `pool` says how it works, `inside` is a jail."""
