# Everything a fresh machine with Python (3.11 or later) and make needs: each target sets itself up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# What the environment has of the package: this source, as you edit it. `make dist` names a wheel.
INSTALL ?= -e .
TOOLS := build/tools/bin
LOWEST := build/lowest

# What the lowest supported versions must pass: the closed forms beside the enumeration, input and
# errors, scikit-learn's own checks, the command.
MAIN_TESTS := tests/oracle/test_oracle.py tests/oracle/test_fixed_size.py \
	tests/oracle/test_class_counts.py tests/unit/test_public_names.py tests/unit/test_package.py \
	tests/unit/test_bad_input.py tests/unit/test_row_names.py tests/estimators/test_sklearn_checks.py \
	tests/cli/test_formats.py::test_every_format_gives_the_same_score

# The data folder of studies, benchmarks and the tests of published values; they say so when it is absent.
# (make's own functions would take a path with spaces for several.)
export ALLSPLITS_DATA ?= $(shell cd ../shared/data 2>/dev/null && pwd)

.PHONY: demo test lint types imports bench docs studies clean package wheel-is-there lowest lowest-versions dist

demo: $(READY)
	$(BIN)/allsplits demo build/demo

test: $(READY)
	$(BIN)/python -m pytest -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

docs: $(READY)
	$(BIN)/python docs/make_site.py
	@echo "The site is in build/site: open build/site/index.html"

bench: $(READY)
	$(BIN)/python -m benchmarks

# A release: sdist and wheels in dist/, all tests against the wheel for this Python (its name is the first)
# in an environment without the source, the main tests with the lowest versions that pyproject.toml allows.
dist: package
	rm -rf build/clean
	$(MAKE) VENV=build/clean INSTALL="$$(ls dist/*.whl | head -n 1)" wheel-is-there test
	$(MAKE) lowest-versions lowest

# Sdist, the wheel that is built from it, with kernels compiled for this Python and platform, the wheel
# for all others, and a check of what is in them and what they say.
package: build/tools/.ready
	rm -rf dist
	$(TOOLS)/python -m build --outdir dist .
	ALLSPLITS_COMPILE=0 $(TOOLS)/python -m build --wheel --outdir dist .
	$(TOOLS)/twine check --strict dist/*
	$(TOOLS)/python .ci/check_package.py

# Old packages find fault with each other, and their own checks warn: warnings are shown, and no errors.
lowest:
	$(LOWEST)/bin/python -m pytest -n 2 -W default $(MAIN_TESTS)

lowest-versions: build/tools/.ready
	rm -rf $(LOWEST)
	$(TOOLS)/uv venv --quiet --python 3.11 $(LOWEST)
	$(TOOLS)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct -r pyproject.toml --extra test
	$(TOOLS)/uv pip install --quiet --python $(LOWEST) --no-deps dist/*-py3-none-any.whl
	$(TOOLS)/uv pip list --python $(LOWEST)

# The environment has the wheel, and tests that start in this folder import it from there.
wheel-is-there: $(READY)
	$(BIN)/python -c "import allsplits, sys; print(allsplits.__file__); sys.exit('site-packages' not in allsplits.__file__ and 'this is not the wheel')"

clean:
	rm -rf $(VENV) build dist

$(READY): pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'allsplits needs Python 3.11 or later: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(INSTALL)[dev]
	touch $@

build/tools/.ready: pyproject.toml
	$(PYTHON) -m venv build/tools
	$(TOOLS)/python -m pip install --quiet --disable-pip-version-check build twine uv
	touch $@
