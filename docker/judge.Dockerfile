# The judge as a service, and nothing else of gencode: no datasets, no models.
#
#   docker build -t gencode-judge -f docker/judge.Dockerfile .
#   docker build -t gencode-judge-python --build-arg LANGUAGES=python -f docker/judge.Dockerfile .
#
# The first has the compilers of all languages, the second only Python. Build with buildah or podman and
# `--format docker`: images of OCI's format have no health check.
ARG BASE=docker.io/library/debian:bookworm-20250811-slim
ARG LANGUAGES=all

FROM ${BASE} AS python
# To the letter what stands in the other Dockerfiles, so that the images are made of the same layers.
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 util-linux \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log /usr/share/doc /usr/share/man

FROM python AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv ca-certificates
# For those behind a mirror or a proxy of their own: they are seen by this stage only.
ARG PIP_INDEX_URL
ARG PIP_CERT
COPY docker/constraints.txt docker/judge.txt /build/
RUN python3 -m venv /opt/gencode \
 && /opt/gencode/bin/pip install --no-cache-dir --disable-pip-version-check --no-compile --only-binary=:all: \
      --constraint /build/constraints.txt --requirement /build/judge.txt \
 && find /opt/gencode -name tests -type d -prune -exec rm -rf {} + \
 # Nobody can write bytecode in the image, so it is made here, of what the server imports.
 && /opt/gencode/bin/python -c "import fastapi, httpx, loguru, numpy, prometheus_client, pytest, rich, toml, uvicorn, yaml"
COPY setup.py pyproject.toml README.md MANIFEST.in requirements-dev.txt /build/
COPY client /build/client
COPY alpha_codium /build/alpha_codium
COPY settings /build/settings
COPY prompts /build/prompts
RUN /opt/gencode/bin/pip install --no-cache-dir --disable-pip-version-check --no-compile --no-deps /build \
 && /opt/gencode/bin/python -m compileall -q -x /attackers/ /opt/gencode/lib/python3*/site-packages/alpha_codium \
 && /opt/gencode/bin/pip uninstall --yes --quiet pip setuptools

FROM python AS tools-python

FROM python AS tools-all
# The last release of Debian that has Python 2 is bullseye.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      g++ default-jdk-headless kotlin nodejs node-typescript golang-go rustc pypy3 ruby mono-mcs mono-runtime \
 && echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bullseye main' \
      > /etc/apt/sources.list.d/bullseye.list \
 && apt-get update \
 && apt-get install -y --no-install-recommends python2.7 \
 && rm -rf /etc/apt/sources.list.d/bullseye.list /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
      /usr/share/doc /usr/share/man

FROM tools-${LANGUAGES}
RUN useradd --uid 10001 --user-group --create-home --home-dir /home/gencode gencode
COPY --from=build /opt/gencode /opt/gencode
ENV PATH=/opt/gencode/bin:/usr/local/bin:/usr/bin:/bin \
    GENCODE_HOME=/home/gencode
USER 10001:10001
WORKDIR /home/gencode
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz', timeout=4)"]
ENTRYPOINT ["gencode"]
CMD ["serve", "--host", "0.0.0.0"]
