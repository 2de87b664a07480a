# Everything a person runs. Each word sets up what it needs from Python 3.10–3.13 and this checkout.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(firstword $(foreach v,3.13 3.12 3.11 3.10,$(shell command -v python$(v) >/dev/null 2>&1 && python$(v) -c '' 2>/dev/null && echo python$(v))) python3)
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto
CHOSEN ?= not simulation and not reference
PORT ?= 3000

.PHONY: help setup demo ui test check format lint types imports reference simulation golden picture docs clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

$(VENV)/.ready: pyproject.toml hatch_build.py rl_pipeline/reader/loops/loops.c rl_pipeline/reader/folder_calls/folder_calls.c rl_pipeline/reader/text_marks/text_marks.c
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (once; a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(VENV)/.ready  ## the virtual environment, with everything for development

demo: $(VENV)/.ready  ## the main job on the bundled sample: every asset, and the report
	@$(BIN)/rl-pipeline demo

ui: $(VENV)/.ready  ## the Dagster UI on http://127.0.0.1:3000 (PORT=3001 for another port), with its daemon
	@$(BIN)/rl-pipeline ui --port $(PORT)

test: $(VENV)/.ready  ## all tests that this machine can run
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "$(CHOSEN)"

check: format lint types imports test  ## format, lint, types, imports, tests

format: $(VENV)/.ready
	@$(BIN)/ruff format --check .

lint: $(VENV)/.ready
	@$(BIN)/ruff check .

types: $(VENV)/.ready
	@$(BIN)/mypy

imports: $(VENV)/.ready
	@$(BIN)/lint-imports

picture: $(VENV)/.ready  ## the picture of the README, from the sample (needs Chromium)
	@$(BIN)/python examples/make_picture.py

golden: $(VENV)/.ready  ## write the golden reports anew and show what changed
	@$(BIN)/python -m rl_pipeline_tests.helpers.golden
	@git --no-pager diff --stat -- rl_pipeline_tests/golden docs
	@git --no-pager diff -- rl_pipeline_tests/golden

docs: $(VENV)/.ready  ## write the generated pages of docs/ anew
	@$(BIN)/python docs/make_docs.py

reference: $(VENV)/.ready  ## the full reference run: all published numbers, from the CLI and the assets
	@$(BIN)/python -m pytest -m reference

simulation: $(VENV)/.ready  ## 250 simulated runs of known truth: recall and false alarms of the findings (minutes)
	@$(BIN)/python -m pytest -m simulation -n $(WORKERS)

clean:  ## the virtual environment and caches
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
