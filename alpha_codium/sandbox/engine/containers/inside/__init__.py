"""The part of the container backends that runs in the container: standard library only, as in `engine/inside`.

1. `main` is the script that a container's interpreter is started with. It reads all other modules from stdin, so that
   nothing of this package has to be in the image: any image with CPython and glibc works, on a local or remote engine.
2. `agent` acts as zygote and host for its runners: it starts one for each candidate, sends it its tests, and sends the
   results to the real host, over stdin and stdout. It never runs untrusted code.
3. `container_jail` isolates a runner from the agent, and empties the folders that programs can write to. Runners and
   the processes of tests are those of the local backend.
4. `link` carries data between the two sides of a pair, which run in separate containers.
"""
