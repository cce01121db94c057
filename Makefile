# Everything a newcomer or CI does. Needs git, make and Python 3.11+; the rest is installed into .venv.
PYTHON ?= python3
DOCS ?= docs
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
VENV := .venv
BIN := $(VENV)/bin
CODE := src conformance/src tests benchmarks scripts conftest.py

.PHONY: demo test test-all test-pythons faults mutants check wheel bench format clean

demo: $(VENV)/.demo  ## Run the main job on real documents; leaves demo/ to play with
	@$(BIN)/python scripts/demo.py --docs "$(DOCS)"

test: $(VENV)/.test  ## Run the tests, README and docs included
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow and not faults"

test-all: $(VENV)/.test  ## The tests and the long loops
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not faults"

faults: $(VENV)/.test  ## The whole fault campaign; writes the table in docs/reliability.md
	rm -rf .faults
	STEADLITH_TRIED=.faults $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not sample" tests/faults tests/engine/test_machine.py
	$(BIN)/python scripts/reliability.py .faults

mutants: $(VENV)/.test  ## Change planning and applying in small ways, and see what their tests notice; writes docs/mutation.md
	$(BIN)/python scripts/mutate.py

test-pythons:  ## The core and the golden vectors on every Python that is here (PYTHONS=... names others)
	@for python in $(PYTHONS); do \
		if $$python -c 'import venv' 2>/dev/null; then \
			name=$$($$python -c 'import platform; print(platform.python_version())'); \
			echo "Python $$name"; \
			$$python -m venv .pythons/$$name && \
			.pythons/$$name/bin/python -m pip install --quiet --upgrade "pip>=25.1" && \
			.pythons/$$name/bin/python -m pip install --quiet -e . -e conformance --group test && \
			.pythons/$$name/bin/python scripts/golden.py --check && \
			.pythons/$$name/bin/python -m pytest -q -n 2 -m "not slow and not faults" tests/core tests/engine/test_determinism.py || exit 1; \
		fi; \
	done

check: $(VENV)/.check  ## Lints, types, layer contracts, documentation, golden vectors
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/golden.py --check
	$(BIN)/python scripts/state_diagram.py --check
	$(BIN)/python scripts/conformance_tables.py --check
	$(BIN)/python scripts/module_sizes.py

wheel: $(VENV)/.test  ## Build the wheel and use it in a clean environment
	$(BIN)/python scripts/wheel_check.py

bench: $(VENV)/.bench  ## Measure; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

format: $(VENV)/.check  ## Format and fix what can be fixed
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

clean:  ## Remove what make made
	rm -rf $(VENV) .pythons .bench .faults .mutants demo dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version 2>&1); try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[use]"
	@touch $@

$(VENV)/.test: pyproject.toml conformance/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[use]" -e conformance --group test
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --group bench
	@touch $@

$(VENV)/.check: pyproject.toml | $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group check
	@touch $@
