# gencode itself, to judge where nothing may be installed: datasets in, verdicts out, no network needed.
#
#   docker build -t gencode-eval -f docker/eval.Dockerfile .
#
# The base is pinned by date; pin it by content with --build-arg BASE=docker.io/library/debian@sha256:... Any Debian or
# Ubuntu with python3 3.11 or later serves.
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
COPY docker/constraints.txt /build/
# What it needs, in a layer that stays as it is when only gencode's own code changes.
RUN python3 -m venv /opt/gencode \
 && /opt/gencode/bin/pip install --no-cache-dir --disable-pip-version-check --no-compile \
      --only-binary=:all: --requirement /build/constraints.txt \
 && find /opt/gencode -name tests -type d -prune -exec rm -rf {} + \
 # Nobody can write bytecode in the image, so it is made here, of what gencode imports.
 && LITELLM_LOCAL_MODEL_COST_MAP=True /opt/gencode/bin/python -c "import datasets, litellm, loguru, toml"
COPY setup.py pyproject.toml README.md MANIFEST.in requirements-dev.txt /build/
COPY client /build/client
COPY alpha_codium /build/alpha_codium
COPY settings /build/settings
COPY prompts /build/prompts
RUN /opt/gencode/bin/pip install --no-cache-dir --disable-pip-version-check --no-compile \
      --constraint /build/constraints.txt /build \
 && /opt/gencode/bin/python -m compileall -q -x /attackers/ /opt/gencode/lib/python3*/site-packages/alpha_codium \
 && /opt/gencode/bin/pip uninstall --yes --quiet pip setuptools

FROM python
RUN useradd --uid 10001 --user-group --create-home --home-dir /home/gencode gencode
COPY --from=build /opt/gencode /opt/gencode
ENV PATH=/opt/gencode/bin:/usr/local/bin:/usr/bin:/bin \
    GENCODE_HOME=/home/gencode \
    HF_HUB_OFFLINE=1
USER 10001:10001
WORKDIR /home/gencode
ENTRYPOINT ["gencode"]
CMD ["--help"]
