"""The part of the container backends that runs in the container: standard library only, as in `engine/inside`.

1. `main` is the text that a container's interpreter is started with. It reads all other modules from stdin, so that a
   container needs no file of ours: any image with a CPython and glibc will do, on any engine, here or elsewhere.
2. `agent` is zygote and host to its runners: it starts one for each candidate, sends it its tests, and sends the
   results to the real host, over stdin and stdout. It never runs untrusted code.
3. `container_jail` isolates a runner from the agent, and renews the folders that programs can write to. Runners and
   the processes of tests are those of the local backend.
4. `link` carries data between the two sides of a pair, each of which has a container of its own.
"""
