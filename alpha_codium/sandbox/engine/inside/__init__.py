"""The part of the engine that runs in the jail: standard library only, CPython 3.9 to 3.14, and small.

1. `main` is the script that a worker runs. It imports little: each test is a fork of it.
2. `jail` makes the namespaces and the root, `zygote` forks a runner for each candidate, `runner` a process for each
   test, and `program` runs in that one. `kernel` holds the system calls that Python doesn't have.
3. Only `program` ever runs code of a candidate, in a process without any rights.
"""
