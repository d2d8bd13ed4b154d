"""Judging on a Ray cluster: an actor on each of its nodes, which has a sandbox of its own.

1. The cluster is that of `code_tester.ray_address` or RAY_ADDRESS; without either, one is started on this machine.
2. An actor takes the CPUs of its node, or as many as `code_tester.workers` says. It refuses to judge by another sandbox
   than the one that is open here (`Identity`), and by other compilers. Nodes that join later get an actor, too.
3. What a worker or a node was judging when it was lost is judged again elsewhere. A batch that was lost several times
   is judged program by program, with nothing else on the node; a program that is lost then, too, has no verdict.
4. Actors end with this process, and with them all programs that they run: a sandbox ends what it runs when its parent
   is killed.
"""
