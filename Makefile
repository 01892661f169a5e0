# The same targets for a person and for CI. Nothing else is to be done by hand.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXAMPLE := examples/ablations-laplace
EXAMPLE_VENV ?= .venv-example

# One thread per process: two busy threads on two busy cores are many times slower than one each.
export OMP_NUM_THREADS ?= 1

.PHONY: quickstart install test full format lint types imports wheel example gate docs bench-attention clean

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

example: wheel ## install an outside package into an environment of its own, and run its tests there
	rm -rf $(EXAMPLE_VENV)
	$(PYTHON) -m venv $(EXAMPLE_VENV)
	$(EXAMPLE_VENV)/bin/python -m pip install --quiet --constraint constraints.txt pip
	$(EXAMPLE_VENV)/bin/python -m pip install --quiet --constraint constraints.txt dist/*.whl ./$(EXAMPLE) \
		--group $(EXAMPLE)/pyproject.toml:test
	cd $(EXAMPLE) && PATH="$(abspath $(EXAMPLE_VENV))/bin:$$PATH" && pytest -p no:cacheprovider && \
		ablate plugins check attention_score laplace && ablate check experiment.yaml

gate: lint types imports wheel example test ## everything that a change must pass

docs: install ## write the pages that are generated from the code
	$(BIN)/python docs/generate.py

bench-attention: install ## time and memory of every attention score, one thread: minutes, on a quiet machine
	$(BIN)/python -m tests.plugins.attention_scores.attention_bench --output docs/results/attention-bench.md $(ARGS)

clean:
	rm -rf $(VENV) $(EXAMPLE_VENV) dist build
