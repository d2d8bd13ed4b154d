# The two commands of the README, and targets for developers. Each target installs what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Compiling every file of every dependency costs more than it saves; but what is imported is compiled once, not by every
# process anew: that is most of what a short command takes.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint docker/constraints.txt
# Of tests: two more than there are processors, since many of them wait.
WORKERS ?= $(shell expr $$(nproc) + 2)
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: demo check test test-thorough images test-slow lint types docs site bench backends apps clean

demo: $(VENV)/.demo
	$(BIN)/gencode demo
	@echo "to use gencode in this shell: source $(BIN)/activate"

# What to run while working: lint, types, and the quick tests of what was changed since the last commit on origin.
check: lint types
	$(PYTEST) -q -m "not thorough and not slow and not images" $(PYTEST_OPTIONS) $$($(BIN)/python -m tests.affected)

test: $(VENV)/.dev
	$(PYTEST) -m "not thorough and not slow and not images" $(PYTEST_OPTIONS)

test-thorough: $(VENV)/.dev
	$(PYTEST) -m "thorough and not slow and not images" $(PYTEST_OPTIONS)

images: $(VENV)/.dev
	$(BIN)/python -m pytest -m "images and not slow" --durations=0 --durations-min=1 tests/docker $(PYTEST_OPTIONS)

test-slow: $(VENV)/.dev
	$(PYTEST) -m "hypothesis and not slow and not images" --hypothesis-profile random $(PYTEST_OPTIONS)
	$(BIN)/python -m pytest -m slow --timeout 3600 $(PYTEST_OPTIONS)

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/pyrefly check --python-interpreter-path $(BIN)/python

docs: $(VENV)/.dev
	$(BIN)/python docs/make_commands.py > docs/commands.md
	$(BIN)/python docs/make_openapi.py
	$(BIN)/python docs/make_schemas.py

# Never with -q, which hides warnings from `strict`.
site: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --site-dir build/site

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.sandbox $(BENCH_OPTIONS)
	$(if $(BENCH_OPTIONS),,$(BIN)/python -m benchmarks.languages)

backends: $(VENV)/.dev
	$(BIN)/python -m docs.make_backends

# A folder to copy to another machine, which scores programs for APPS there: see docker/apps/README.md.
OUT ?= apps-vm
apps: $(VENV)/.demo
	mkdir -p $(OUT)/data
	cp docker/apps/* docker/constraints.txt $(OUT)
	rm -f $(OUT)/alpha_codium-*.whl
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(OUT) .

clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "alpha_codium needs Python 3.11 or later: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: setup.py docker/constraints.txt | $(VENV)/bin/python
	$(INSTALL) -e '.[local]'
	touch $@

$(VENV)/.dev: setup.py requirements-dev.txt docker/constraints.txt | $(VENV)/bin/python
	$(INSTALL) -e '.[dev]'
	touch $@ $(VENV)/.demo
