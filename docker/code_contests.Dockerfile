# gencode with DeepMind's C++ sandbox, which needs CPython 3.9: made from the evaluation image.
#
#   docker build -t gencode-eval -f docker/eval.Dockerfile .
#   docker build -t gencode-code-contests -f docker/code_contests.Dockerfile docker
#
# The base must be a Debian bookworm: CPython 3.9 comes from bullseye, the release before.
ARG BASE=gencode-eval

FROM ${BASE}
USER 0
# The parts that make environments are unpacked, not installed: bookworm has packages of the same names for its own Python.
WORKDIR /tmp/packages
RUN echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bullseye main' \
      > /etc/apt/sources.list.d/bullseye.list \
 && apt-get update \
 && apt-get install -y --no-install-recommends python3.9 \
 && apt-get download python3.9-venv python3-distutils/bullseye python-pip-whl/bullseye \
 && for package in *.deb; do dpkg -x "$package" /; done \
 && rm -rf /tmp/packages/* /etc/apt/sources.list.d/bullseye.list /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log
# For those behind a mirror or a proxy of their own.
ARG PIP_INDEX_URL
ARG PIP_CERT
ENV GENCODE_SANDBOX__CODE_CONTESTS__ENVIRONMENT=/opt/code_contests \
    GENCODE_CODE_TESTER__TESTER_TYPE=code_contests
RUN gencode sandbox install code_contests
USER 10001:10001
WORKDIR /home/gencode
