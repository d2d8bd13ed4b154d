# The image that the oci backend runs programs in: a python, what programs may import, and nothing of ours.
#
#   docker build -t gencode-worker -f docker/worker.Dockerfile docker
#
# The base is pinned by date; pin it by content with --build-arg BASE=docker.io/library/debian@sha256:... (`docker
# buildx imagetools inspect IMAGE` tells). Any Debian or Ubuntu with python3 3.9 or later serves.
ARG BASE=docker.io/library/debian:bookworm-20250811-slim

FROM ${BASE} AS python
# To the letter what stands in the other Dockerfile, so that both images are made of the same layers.
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 util-linux \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log /usr/share/doc /usr/share/man

FROM python AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv ca-certificates
# For those behind a mirror or a proxy of their own: they are seen by this stage only.
ARG PIP_INDEX_URL
ARG PIP_CERT
COPY constraints.txt /build/
# What programs may import; numpy is all that the settings keep warm.
ARG PACKAGES=numpy
RUN python3 -m venv --copies /opt/worker \
 && /opt/worker/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary=:all: \
      --constraint /build/constraints.txt ${PACKAGES} \
 && /opt/worker/bin/pip uninstall --yes --quiet pip setuptools \
 && find /opt/worker -name tests -type d -prune -exec rm -rf {} +

FROM python
COPY --from=build /opt/worker /opt/worker
ENV PATH=/opt/worker/bin:/usr/local/bin:/usr/bin:/bin
# Nobody in particular; the backend gives each container a user of its own.
USER 10001:10001
WORKDIR /
ENTRYPOINT ["python3"]
