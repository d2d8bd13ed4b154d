# An environment for working on gencode: the checkout is mounted at /work.
#
#   docker build -t gencode-dev -f docker/dev.Dockerfile docker
#   docker run --rm -it --privileged -v "$PWD:/work" gencode-dev
#   $ make test
#
# `--privileged` is for the tests of sandboxes, which need namespaces; without it they are skipped or use a weaker jail.
ARG BASE=docker.io/library/debian:bookworm-20250811-slim

FROM ${BASE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      python3 python3-dev python3-venv util-linux ca-certificates git make g++ procps runsc runc podman buildah debootstrap \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
# A checkout belongs to the user outside, and its environment to that machine: this one is kept apart.
ENV VENV=/opt/venv
RUN git config --system --add safe.directory /work
WORKDIR /work
CMD ["bash"]
