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

.PHONY: demo serve test lint docs setup setup-demo setup-serve clean

demo: setup-demo
	@OMP_NUM_THREADS=1 $(BIN)/python -m matchprob.demo

# The page: its address is printed, and opened if there is a browser. `make serve P=my.toml`.
serve: setup-serve
	@OMP_NUM_THREADS=1 $(BIN)/python -m matchprob serve $(P)

test: setup
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(MARKS)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@PYTHONPATH=. $(BIN)/lint-imports

# The site: out/site/index.html. Examples and notebooks are run again.
docs: setup
	@VENV="$(VENV)" bash scripts/docs.sh

# Each target installs what it needs; `make setup` installs everything.
setup:
	@PYTHON="$(PYTHON)" VENV="$(VENV)" RETRY="$(filter setup,$(MAKECMDGOALS))" \
		bash scripts/bootstrap.sh test

setup-demo setup-serve: setup-%:
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash scripts/bootstrap.sh $*

clean:
	rm -rf $(VENV) build dist *.egg-info out docs/made docs/gallery docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find algebra numeric matchprob tests -name __pycache__ -type d -prune -exec rm -rf {} +
