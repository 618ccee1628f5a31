# Everything a fresh machine with Python (3.11 or later) and make needs: each target sets itself up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The data folder of studies, benchmarks and the tests of published values; they say so when it is absent.
# (make's own functions would take a path with spaces for several.)
export ALLSPLITS_DATA ?= $(shell cd ../shared/data 2>/dev/null && pwd)

.PHONY: demo test lint types imports bench docs studies clean

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

clean:
	rm -rf $(VENV)

$(READY): pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'allsplits needs Python 3.11 or later: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@
