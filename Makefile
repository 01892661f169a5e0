# The same targets for a person and for CI. Nothing else is to be done by hand.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXAMPLE := examples/ablations-laplace
EXAMPLE_VENV ?= .venv-example
BENCH_VENV ?= .venv-bench
BENCH_STAMP := $(BENCH_VENV)/.installed

# One thread per process: two busy threads on two busy cores are many times slower than one each.
export OMP_NUM_THREADS ?= 1

.PHONY: quickstart install test full format lint types imports wheel example gate docs bench-attention bench-data bench-training clean

quickstart: install ## install, run the smallest experiment, print its table
	$(BIN)/ablate run experiments/quickstart.yaml

install: $(STAMP) ## build the virtual environment, with all that users and developers need

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable '.[hub,ui]'
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

bench-data: install ## time and memory from a long corpus of plain text to batches: half an hour, on a quiet machine
	$(BIN)/python -m tests.framework.data.data_bench --output docs/results/data-bench.md $(ARGS)

bench-training: $(BENCH_STAMP) ## speed of training and decoding beside other libraries: half an hour, on a quiet machine
	$(BENCH_VENV)/bin/python -m tests.framework.train.training_bench --output docs/results/training-bench.md $(ARGS)

$(BENCH_STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --constraint constraints.txt pip
	$(BENCH_VENV)/bin/python -m pip install --quiet --constraint constraints.txt --group test --editable '.[bench]'
	$(BENCH_VENV)/bin/python -m pip install --quiet --no-deps joeynmt==2.3.0
	touch $(BENCH_STAMP)

clean:
	rm -rf $(VENV) $(EXAMPLE_VENV) $(BENCH_VENV) dist build
