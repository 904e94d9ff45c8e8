# Two commands set everything up: `make demo` and `make test`. Both work a second time in seconds.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .make
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*/*)

# Tests and demo start hundreds of processes: where nothing may keep bytecode, each of them would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test lint tidy bench sanitize fuzz torture tsan audit wheel docs check-docs clean

help:  ## say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMPS)/venv:
	@echo "== creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "lookalike needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt-get install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install -q --upgrade pip
	@mkdir -p $(STAMPS) && touch $@

# The build tools live in the environment, so that a change in native/ recompiles only what it touches.
$(STAMPS)/installed: $(STAMPS)/venv $(SOURCES)
	@command -v c++ >/dev/null || command -v g++ >/dev/null || { echo "a C++ compiler is missing: apt-get install g++"; exit 1; }
	@echo "== building the native core and installing lookalike into $(VENV)"
	@$(BIN)/python -m pip install -q "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.18" ninja
	@$(BIN)/python -m pip install -q --no-build-isolation -Cbuild-dir=build/dev $(if $(CI),-Ccmake.define.LOOKALIKE_WERROR=ON) -e .
	@touch $@

$(STAMPS)/demo-extras: $(STAMPS)/installed
	@echo "== installing the light extras: Chinese keywords, web pages, meaning, Parquet, PostgreSQL, Zstandard, files, code, the service"
	@$(BIN)/python scripts/install_group.py jieba pages meaning parquet postgres zstd files code service
	@touch $@

$(STAMPS)/test-tools: $(STAMPS)/installed
	@echo "== installing what the tests need: oracles, optional segmenters, pytest"
	@$(BIN)/python scripts/install_group.py test
	@sh scripts/install_browser.sh
	@sh scripts/install_emulators.sh
	@sh scripts/install_java.sh
	@touch $@

$(STAMPS)/lint-tools: $(STAMPS)/installed
	@echo "== installing the linters"
	@$(BIN)/python scripts/install_group.py lint
	@touch $@

$(STAMPS)/bench-tools: $(STAMPS)/installed
	@echo "== installing the peers to measure against"
	@$(BIN)/python scripts/install_group.py bench
	@touch $@

$(STAMPS)/tidy-tools: $(STAMPS)/installed
	@echo "== installing clang-tidy"
	@$(BIN)/python scripts/install_group.py tidy
	@touch $@

demo: $(STAMPS)/demo-extras  ## build, install into .venv and run the main jobs on the examples
	@$(BIN)/python examples/demo.py

test: $(STAMPS)/test-tools  ## install what the tests need and run all of them
	@$(BIN)/python -m pytest -n $$(($$(nproc) + 1)) --dist loadgroup

lint: $(STAMPS)/lint-tools  ## ruff, mypy --strict, import-linter, clang-format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/clang-format --dry-run --Werror $(wildcard native/*/*.cpp native/*/*.hpp fuzz/*.cpp fuzz/*.hpp tests/native/*.cpp)

tidy: $(STAMPS)/tidy-tools  ## clang-tidy on the kernels: minutes
	@ls native/*/*.cpp | grep -v /bind/ | xargs -n 1 -P $$(nproc) sh -c '$(BIN)/clang-tidy --quiet "$$0" -- -std=c++20 -Inative'

bench: $(STAMPS)/bench-tools  ## ours and the peers on the same text; DATA=folder of real text, optional
	@$(BIN)/python benchmarks/speed.py $(if $(DATA),--data $(DATA))
	@$(BIN)/python benchmarks/search.py
	@$(BIN)/python benchmarks/store.py $(if $(DATA),--data $(DATA)) --documents 200000 --entries 1000000
	@$(BIN)/python benchmarks/dedupe.py $(if $(DATA),--data $(DATA)) --only speed workers

sanitize: $(STAMPS)/test-tools  ## the kernels under AddressSanitizer and UndefinedBehaviorSanitizer
	@sh scripts/sanitize.sh

fuzz: $(STAMPS)/test-tools  ## the kernels under libFuzzer and the readers of files, TIME=60 seconds each, and mutated files
	@TIME=$(or $(TIME),60) sh fuzz/run.sh
	@LOOKALIKE_EXAMPLES=$(or $(EXAMPLES),500) $(BIN)/python -m pytest -n auto tests/test_mutated_files.py
	@PYTHONPATH=tests $(BIN)/python tests/fuzzed_files.py --seconds $(or $(TIME),60)

torture: $(STAMPS)/test-tools  ## faults at every n-th call that writes to a store; POINTS=1200, 0 for all
	@$(BIN)/python tests/torture/run.py --points $(or $(POINTS),1200)

tsan: $(STAMPS)/test-tools  ## the threaded kernels and a shared index under ThreadSanitizer
	@sh scripts/tsan.sh

audit: $(STAMPS)/lint-tools  ## the dependencies: known vulnerabilities, names that look like others, licenses
	@$(BIN)/python scripts/audit_dependencies.py

wheel: $(STAMPS)/venv  ## a wheel in dist/
	@$(BIN)/python -m pip wheel -q --no-deps -w dist .

docs: $(STAMPS)/test-tools  ## rewrite the generated parts of docs/
	@$(BIN)/python scripts/generate_docs.py

check-docs: $(STAMPS)/test-tools  ## the documentation alone: examples, layers, the map, generated parts
	@$(BIN)/python -m pytest -n auto tests/test_docs.py tests/test_package.py

clean:  ## remove everything that was built
	rm -rf $(VENV) $(STAMPS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
