# Two commands do all set-up on a machine with Python (3.11 to 3.13), git and make:
#   make demo   installs into .venv and runs one episode on the embedded phone
#   make test   installs into .venv and runs the checks
# Besides: make soak, which takes hours or luck.

PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(shell command -v $(p))))
BIN := .venv/bin
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 3)
# Tests start some hundred programs; each would compile the whole house anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check types tests soak format snapshots pictures bench clean

demo: .venv/installed
	@$(BIN)/hitlab demo

test: .venv/tested check

check:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory -j2 types tests

# mypy keeps one core busy, and what a test waits for keeps none: mypy runs beside the tests, and three more of these are
# run at a time than there are cores. At the lowest priority mypy would save 19 of 291 seconds on 2 idle cores, and would
# hardly go on where others keep them busy.
types:
	$(BIN)/mypy

tests:
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

soak: .venv/tested
	$(BIN)/pytest -s tests/soak/walk.py tests/soak/kills.py tests/soak/memory.py tests/soak/judging.py tests/soak/crowd.py tests/soak/bombs.py
	HITLAB_SOAK=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal -m "soak or crossed or hypothesis"

format: .venv/tested
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

snapshots: .venv/tested
	$(BIN)/pytest --snapshot-update tests/screens tests/lab/cli/test_read.py tests/lab/runs/test_screen_words.py

pictures: .venv/tested
	$(BIN)/python -m tests.pictures docs

bench: .venv/benched
	$(BIN)/python -m tests.bench

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "hitlab needs Python 3.11 to 3.13 on the PATH" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || \
	  { echo "hitlab needs Python 3.11 to 3.13; $(PYTHON) is another. Try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

.venv/benched: .venv/tested
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

clean:
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
