# The same targets for a person and for CI. Nothing else is to be done by hand.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# One thread per process: two busy threads on two busy cores are many times slower than one each.
export OMP_NUM_THREADS ?= 1

.PHONY: quickstart install test full format lint types imports wheel gate docs clean

quickstart: install ## install, run the smallest experiment, print its table
	$(BIN)/ablate run experiments/quickstart.yaml

install: $(STAMP) ## build the virtual environment, with all that users and developers need

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable '.[ui]'
	touch $(STAMP)

test: install ## what CI runs
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadgroup $(ARGS)

full: install ## the tests that take minutes as well
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadgroup -m "slow or not slow" $(ARGS)

format: install ## rewrite the code as the gate wants it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: install
	$(BIN)/mypy

imports: install
	$(BIN)/lint-imports

wheel: install ## build the wheel and look into it
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . > /dev/null
	$(BIN)/check-wheel-contents dist/*.whl

gate: lint types imports wheel test ## everything that a change must pass

docs: install ## write the pages that are generated from the code
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) dist build
