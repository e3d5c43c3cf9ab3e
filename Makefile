# Everything a newcomer needs on a machine with Python 3.11 or newer and pip.
# Each target sets up .venv first if it is missing or older than its recipe.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
OUT ?= runs/first

.PHONY: help setup tournament test lint format notebooks bench clean

help:  ## List the targets.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 22

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"cardcommons needs Python 3.11 or newer; $(PYTHON) is {v[0]}.{v[1]}. Name another with: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

setup: $(READY)  ## Make .venv with the pinned versions.

tournament: $(READY)  ## Play a first tournament of Particles; the log goes to OUT (runs/first).
	$(RUN) -m experiments.tournament --game particles --agents random greedy mcts:sims=500 minimax:depth=3 --pairs 10 --seed 1 --out $(OUT)

test: $(READY)  ## Run the tests.
	$(RUN) -m pytest -n auto

lint: $(READY)  ## Check format, style, types and the direction of imports.
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(READY)  ## Format the code.
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix

notebooks: $(READY)  ## Run every notebook from start to end.
	$(RUN) -m experiments.notebooks

bench: $(READY)  ## Measure speed against C++ and OpenSpiel (needs g++ for the former).
	$(RUN) -m experiments.bench --game particles --json bench.json

clean:  ## Remove .venv, caches and compiled code; keep runs/.
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
