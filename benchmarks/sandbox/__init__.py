"""A benchmark of the cost of a test in our sandbox and in other tools, measured in one run.

1. A contender (`contenders`) is a child process that runs programs in its own way and stays warm between batches.
2. `rounds` gives each in turn a batch of one workload (`workloads`), and reads wall time and CPU time (`meter`) around
   each batch, so start-up isn't counted, and other load affects all contenders.
3. `scaling` and `memory` make other measurements with the same children; `table` prints the results.
"""
