"""The part of the container backends that lives in the container: standard library only, as `sandbox/engine/inside`.

1. `main` is the text that a container's interpreter is started with. It takes all other modules from its stdin, so a
   container needs no file of ours: any image with a CPython and glibc serves, on any engine, here or elsewhere.
2. `agent` stands in for the local backend's zygote and for its host at once: it starts a runner for each candidate,
   hands it its tests, and tells the real host, over stdin and stdout, what came of them. It never runs code of others.
3. `container_jail` parts a runner from the agent, and keeps the folders that programs can write to. Runners, and all
   that happens in a test's process, are those of the local backend.
4. `link` carries what the two sides of a pair say to each other: each side has a container of its own.
"""
