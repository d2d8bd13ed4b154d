"""The part of the engine that lives in the jail: standard library only, CPython 3.9 to 3.14, as little as can be.

1. `main` is the script that a worker runs. It stays small and imports little: each test is a fork of it.
2. `jail` makes the namespaces and the root, `zygote` starts a runner for each candidate, `runner` a process for each
   test, `program` is what happens in that one. `kernel` holds the system calls that Python has no name for.
3. Only `program` ever runs code of a candidate, in a process with nothing left to lose.
4. `confine` is a script of its own, for programs that we trust with files that we don't: compilers.
"""
