"""What a test costs here, beside what it costs elsewhere, measured in one run.

1. A contender (`contenders`) is a child process that runs programs in its own way and stays warm between batches.
2. `rounds` gives each in turn a batch of one workload (`workloads`), and reads wall time and CPU time (`meter`) around
   each batch, so start-up counts for nobody and a slow moment of the machine meets all.
3. `scaling` and `memory` ask the same children other questions; `table` says what came of it.
"""
