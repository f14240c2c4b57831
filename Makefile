# On a new machine two commands are enough: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One process more than two cores have: some tests wait for a child, a browser or a signal.
JOBS ?= 3
MARKS := $(if $(LONG),,-m "not long")
# Bytecode is kept whatever the shell says: the tests start some hundred processes, and each would
# compile the modules of all libraries again.
export PYTHONDONTWRITEBYTECODE :=
# The C library gives freed memory back, and the system clears the pages of the next arrays: half of
# the system's time.
KEEP := MALLOC_TRIM_THRESHOLD_=134217728 MALLOC_TOP_PAD_=16777216 MALLOC_MMAP_THRESHOLD_=33554432

.PHONY: help demo serve test test-lowest lint docs release-check setup setup-demo setup-serve clean

help: ## lists these targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 16

demo: setup-demo ## the main job: six allocations, inspected, certified, estimated
	@OMP_NUM_THREADS=1 $(BIN)/python -m matchprob.demo

serve: setup-serve ## the page; its address is printed, and opened in a browser (P=my.toml)
	@OMP_NUM_THREADS=1 $(BIN)/python -m matchprob serve $(P)

test: setup ## the tests (LONG=1: the long ones too)
	@OMP_NUM_THREADS=1 $(KEEP) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(MARKS)

# The lowest versions that pyproject.toml allows, in an environment of its own.
test-lowest: ## the tests with the lowest allowed version of every dependency
	@PYTHON="$(PYTHON)" bash scripts/test_lowest.sh

lint: setup ## ruff, mypy, contracts of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@PYTHONPATH=. $(BIN)/lint-imports

# Examples and notebooks are run again.
docs: setup ## the site, out/site/index.html
	@VENV="$(VENV)" bash scripts/docs.sh

release-check: setup ## builds the archives, checks them, uses each in a bare environment
	@$(BIN)/python -m pip install --quiet --group release
	@$(BIN)/python scripts/release_check.py

# Each target installs what it needs.
setup: ## installs everything
	@PYTHON="$(PYTHON)" VENV="$(VENV)" RETRY="$(filter setup,$(MAKECMDGOALS))" \
		bash scripts/bootstrap.sh test

setup-demo setup-serve: setup-%:
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash scripts/bootstrap.sh $*

clean: ## removes what was made
	rm -rf $(VENV) build dist *.egg-info out docs/made docs/gallery docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find algebra numeric matchprob tests -name __pycache__ -type d -prune -exec rm -rf {} +
