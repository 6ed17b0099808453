# Two commands do everything: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MILVUS_VENV := .venv-milvus
PHOENIX_VENV := .venv-phoenix
NEO4J_JARS := .neo4j
KEYCLOAK := .keycloak

# Where it is set, each start that `bench` measures would compile the whole program.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install team wheel run test check style types contracts platforms milvus phoenix neo4j keycloak collect pytest coverage bench size samples screenshots docs lock

install: $(VENV)/.installed

# PostgreSQL, signing in, figures for Prometheus and Ray, in addition to what `install` brings.
team: $(VENV)/.installed-team

# dist/rag_workbench-*.whl, for pip, pipx or uv.
wheel:
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

run: install
	$(BIN)/python -m engine serve

# The servers are downloaded while the tests are collected: that compiles them once, not in every process. The types are
# checked while the first tests wait for servers.
test: $(VENV)/.installed-dev
	$(MAKE) --no-print-directory --jobs style contracts platforms milvus phoenix neo4j keycloak collect
	$(MAKE) --no-print-directory --jobs types pytest

pytest: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --dist loadscope

check: style types contracts

style: $(VENV)/.installed-dev
	$(BIN)/ruff check .

# Behind everything else: it needs no answer before the tests are over.
types: $(VENV)/.installed-dev
	nice -n 5 $(BIN)/mypy

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports

# Whether every package has a wheel for Windows, macOS and Linux.
platforms: $(VENV)/.installed-dev
	$(BIN)/python -m tests.installed.platforms

milvus: $(VENV)/.installed-dev
	$(BIN)/python -m tests.support.prepare_milvus $(MILVUS_VENV)

phoenix: $(VENV)/.installed-dev
	$(BIN)/python -m tests.support.phoenix_server $(PHOENIX_VENV)

neo4j: $(VENV)/.installed-dev
	$(BIN)/python -m tests.plugins.neo4j.server $(NEO4J_JARS)

keycloak: $(VENV)/.installed-dev
	$(BIN)/python -m tests.plugins.team.sign_in.keycloak_server $(KEYCLOAK)

# What goes wrong here goes wrong in the run of the tests too, which tells it.
collect: $(VENV)/.installed-dev
	-@$(BIN)/python -m pytest --collect-only -q >/dev/null

# How much of the quality-control loop its tests run; below 80 % it fails.
coverage: $(VENV)/.installed-dev
	$(BIN)/python -W ignore -m coverage run -m pytest -q -p no:cacheprovider tests/policies/test_quality.py tests/workflows/test_quality_loop.py tests/workflows/test_quality_faults.py \
		tests/retrieval/test_fuse.py tests/builtin/test_source_router.py tests/builtin/test_quality_rewriter.py \
		tests/llm/test_chat_source_router.py tests/llm/test_chat_quality_rewriter.py \
		tests/contracts/test_router.py tests/contracts/test_reranker.py tests/contracts/test_rewriter.py
	$(BIN)/python -m coverage report

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks
	$(BIN)/python -m tests.benchmarks samples loops --record
	$(BIN)/python -m tests.docs --write

# Logical lines, files, error classes, floors and cycles of imports.
size: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.size

# All that ships of the samples: vectors and store, the demos, and the runs of the questions, with which Tune is full at first.
samples: $(VENV)/.installed-dev
	$(BIN)/python -m engine.samples.precompute
	$(BIN)/python -m tests.recordings
	$(BIN)/python -m tests.recordings evidence

screenshots: $(VENV)/.installed-dev
	$(BIN)/python -m tests.browser.screenshots docs/images

# The documentation as a site, in `site/`. Pages open as files; their search needs a server, such as `python3 -m http.server -d site`.
docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir site

lock: $(VENV)/.installed-dev
	$(BIN)/uv pip compile pyproject.toml -o requirements.lock --universal --python-version 3.11 --generate-hashes --upgrade --custom-compile-command "make lock"
	$(BIN)/uv pip compile pyproject.toml --extra team --extra cluster -c requirements.lock -o requirements-team.lock --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
	$(BIN)/uv pip compile pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
	$(BIN)/uv pip compile tests/milvus.in -o tests/milvus.lock --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
	$(BIN)/uv pip compile tests/phoenix.in -o tests/phoenix.lock --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"

$(VENV)/.installed: requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

$(VENV)/.installed-team: requirements-team.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-team.lock
	touch $@

# With uv, which is in the lock itself: pip alone computes for a minute and a half.
$(VENV)/.installed-dev: requirements-dev.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	awk '/^[^ ]/ { wanted = /^uv==/ } wanted' requirements-dev.lock > $(VENV)/uv.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements-dev.lock || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@
