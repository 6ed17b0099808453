# Two commands do everything: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MILVUS_VENV := .venv-milvus
NEO4J_JARS := .neo4j

.PHONY: install run test check coverage bench screenshots lock

install: $(VENV)/.installed

run: install
	$(BIN)/python -m engine serve

test: $(VENV)/.installed-dev check
	$(BIN)/python -m tests.support.prepare_milvus $(MILVUS_VENV)
	$(BIN)/python -m tests.support.neo4j_server $(NEO4J_JARS)
	$(BIN)/python -m pytest -n auto --dist loadscope

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# How much of the quality-control loop its tests run; below 80 % it fails.
coverage: $(VENV)/.installed-dev
	$(BIN)/python -W ignore -m coverage run -m pytest -q -p no:cacheprovider tests/policies/test_quality.py tests/workflows/test_quality_loop.py \
		tests/retrieval/test_fuse.py tests/builtin/test_source_router.py tests/builtin/test_quality_rewriter.py \
		tests/llm/test_chat_source_router.py tests/llm/test_chat_quality_rewriter.py \
		tests/contracts/test_router.py tests/contracts/test_reranker.py tests/contracts/test_rewriter.py
	$(BIN)/python -m coverage report

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks samples loops --record
	$(BIN)/python -m tests.docs --write

screenshots: $(VENV)/.installed-dev
	$(BIN)/python -m tests.browser.screenshots docs/images

lock: $(VENV)/.installed-dev
	$(BIN)/uv pip compile pyproject.toml -o requirements.lock --universal --python-version 3.11 --generate-hashes --upgrade --custom-compile-command "make lock"
	$(BIN)/uv pip compile pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
	$(BIN)/uv pip compile tests/milvus.in -o tests/milvus.lock --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"

$(VENV)/.installed: requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

$(VENV)/.installed-dev: requirements-dev.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@
