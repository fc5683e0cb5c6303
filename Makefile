# Two commands do most: `make demo` and `make test`. Each makes its own environment in .venv.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
FLOORS := .venv-minimum

.PHONY: demo test test-minimum test-spark coverage docs bench clean
.DELETE_ON_ERROR:

demo: $(VENV)/.demo
	$(BIN)/python -m choquet demo

# The numerical tests run twice, the second time as on a processor without vector instructions: results that
# only one processor gives are found here.
test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto -q
	NUMBA_CPU_NAME=generic OPENBLAS_CORETYPE=Prescott $(BIN)/python -m pytest tests -n auto -q -m numerical -k "not scikit_learn_checks"

# The oldest versions that pyproject.toml allows. Old packages deprecate each other: that is no fault of ours.
test-minimum: $(FLOORS)/.test
	NUMBA_CACHE_DIR=$(CURDIR)/$(FLOORS)/numba $(FLOORS)/bin/python -m pytest -n auto -q -W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning

# Spark starts a Java machine, which takes longer than all that is tested on it, so `make test` leaves it out.
test-spark: $(VENV)/.spark
	$(BIN)/python -m pytest tests/test_spark.py -q

# Lines and branches that no test reaches, the worst modules first.
coverage: $(VENV)/.test
	rm -rf .coverage && mkdir .coverage
	$(BIN)/python -m coverage run -m pytest -n auto -q
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

# The documentation site, in site/: examples and notebooks run, warnings are errors, links are checked.
docs: $(VENV)/.docs
	rm -rf docs/api build/site build/doctrees
	$(BIN)/python docs/pages.py
	$(BIN)/python -m sphinx -b html -q -W --keep-going -d build/doctrees docs build/site
	$(BIN)/python docs/links.py build/site
	rm -rf site && cp -r build/site site

# Beside the peers, in an environment of theirs; then our own solvers and kernels beside each other.
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.peers --install --page docs/performance.md
	$(BIN)/python -m pytest benchmarks -q --benchmark-only --import-mode=importlib -o addopts=

# A stamp per set of packages: made again only when what is to be installed changes.
$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "choquet needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet -c constraints.txt -e '.[plot,report,cli]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet -c constraints.txt -e '.[all,test]'
	@touch $@

$(VENV)/.spark: $(VENV)/.test
	$(PIP) install --quiet -c constraints.txt -e '.[spark]'
	@touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet -c constraints.txt -e '.[all,docs]'
	@touch $@

$(FLOORS)/.test: pyproject.toml constraints-minimum.txt
	test -x $(FLOORS)/bin/python || $(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/bin/python -m pip --disable-pip-version-check install --quiet -c constraints-minimum.txt -e '.[all,test]'
	@touch $@

clean:
	rm -rf $(VENV) $(FLOORS) build dist site docs/api docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .coverage
