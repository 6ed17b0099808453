"""An exported project: the files of one folder, which runs without the workbench."""

from __future__ import annotations

import asyncio
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.flow import workflow
from engine.knowledge.graph.graph_home import graph_home
from engine.knowledge.milvus_connection import embedded
from engine.knowledge.milvus_reader import SearchedAnywhere
from engine.knowledge.weak_points import SEARCHED
from engine.llm.connection import without_userinfo
from engine.llm.faults import known_provider
from engine.model.config import WORKFLOWS, RunConfig
from engine.model.decide import cascades
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.shipped import anchor_file
from engine.roles import slug
from engine.running.resources import Resources
from engine.settings import Settings
from engine.version import ROOT
from engine.workflows.run_resources import RunResources
from plugins.export.errors import GRAPH_SERVER, NO_PASSAGES
from plugins.export.modules import Modules
from plugins.export.readme import env_example, readme

if TYPE_CHECKING:
    from engine.engine import Engine

FOLDER = "self-corrective-rag"
FILE_NAME = f"{FOLDER}.zip"
_STORED_AT = (2026, 1, 1, 0, 0, 0)
"""The same settings give the same bytes."""
_OF_MACHINE = (
    "ollama_url",
    "ollama_keep_alive",
    "model_file",
    "openai_url",
    "rerank_url",
    "rerank_scores",
    "searxng_url",
    "call_timeout_s",
    "generation_allowance_s",
    "grader_concurrency",
    "embedding_threads",
)
"""Settings of this machine that a run's course depends on."""
_GRAPHS, _KINDS = "engine.retrieval.graph_search", "engine.retrieval.source_kinds"


@dataclass(frozen=True, slots=True)
class Project:
    """The files of an export by path."""

    files: Mapping[str, bytes]

    def zipped(self) -> bytes:
        """All files in one folder of a zip."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(self.files.items()):
                entry = zipfile.ZipInfo(f"{FOLDER}/{name}", _STORED_AT)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, content)
        return file.getvalue()


def code_project(engine: Engine, config: RunConfig) -> Project:
    """The project of a config; raises ``GRAPH_SERVER``, and what makes its collection impossible to search."""
    return engine.library.given(config, partial(_exported, engine.resources))


async def _exported(resources: Resources, given: RunResources) -> Project:
    config, settings, retriever = given.config, given.settings, given.retriever
    embedding_model = retriever.manifest["embedding_model"]
    modules = await asyncio.to_thread(modules_of, config, settings, embedding_model)
    searches_graphs = _GRAPHS in modules and given.own_store
    home = graph_home(settings) if searches_graphs else None
    graphs = home and home.file
    if home and graphs is None:
        raise GRAPH_SERVER(workflow=config.workflow, address=home.facts["address"])
    name = retriever.parts[2].name
    asked = {role: config.models.of(role) for role in workflow(config.workflow).roles_asked(config)}
    found = {role: await asyncio.to_thread(resources.fits.used_by, model, name) for role, model in asked.items()}
    history = []
    if _KINDS in modules and given.own_store:
        points = await asyncio.to_thread(resources.knowledge.weak_points.list, name, SEARCHED)
        history = [asdict(item.passage()) for item in points]
    saved = {
        "config": asdict(replace(config, milvus_address="" if given.own_store else config.milvus_address)),
        "collection": await _collection(retriever, config.collection),
        "settings": _of_machine(settings),
        "fits": {role: asdict(fit) for role, fit in found.items() if fit},
        "history": history,
        "graphs": str(graphs.absolute()) if graphs else "",
        "space": settings.store_space,
    }
    return await asyncio.to_thread(_project, modules, given, saved)


def modules_of(config: RunConfig, settings: Settings, embedding_model: str) -> Modules:
    """Return the modules that runs of a config import, without those its settings never reach."""
    models = [config.models.of(role) for role in workflow(config.workflow).roles_asked(config)]
    served = embedding_model.startswith(("ollama:", "local:"))
    without = ["engine.knowledge.chunk"]  # which reads attachments, and a program is asked nothing but a text
    without += [] if served or not all(model.built_in for model in models) else ["engine.llm"]
    without += [] if any(model.scores for model in models) else ["engine.llm.scoring", "engine.llm.scorers"]
    in_files = embedding_model.startswith("local:") or any(model.in_file for model in models)
    without += [] if in_files else ["engine.llm.local_child"]
    without += ["engine.llm.verifier"] if config.models.verifier.built_in else []
    without += [] if cascades(config) else ["engine.workflows.cascade"]
    without += [] if settings.searxng_url else ["engine.web"]
    without += [] if workflow(config.workflow).remembers else ["engine.knowledge.milvus_memory"]
    declared = WORKFLOWS[config.workflow]
    build_roles = f"{declared.rpartition('.')[0]}.build_roles"
    entries = ["plugins.export.graph", declared, *([build_roles] if find_spec(build_roles) else [])]
    found = Modules(entries, (*without, "engine.knowledge.graph"))
    return Modules(entries, tuple(without)) if _GRAPHS in found else found


async def _collection(retriever: CollectionRetriever, called: str) -> dict[str, Any]:
    """Describe where the collection is, how its rows are read, and how it is searched."""
    store, _, info, _ = retriever.parts
    assert isinstance(store, SearchedAnywhere), "the knowledge base has no other stores"
    searching = await store.searching(info.name)
    if searching.layout.filter(retriever.within) is None:
        raise NO_PASSAGES(collection=called)
    return {
        "uri": _address(store.uri),
        "database": store.database,
        **asdict(searching),
        "info": asdict(replace(info, address=without_userinfo(info.address))),
    }


def _address(uri: str) -> str:
    """Return the store's address for a program in another folder, without user name and password."""
    return os.path.abspath(uri) if embedded(uri) else without_userinfo(uri)


def _of_machine(settings: Settings) -> dict[str, Any]:
    values = {name: getattr(settings, name) for name in _OF_MACHINE if name in settings.model_fields_set}
    return {name: without_userinfo(value) if name.endswith("_url") else value for name, value in values.items()}


def _project(modules: Modules, given: RunResources, saved: Mapping[str, Any]) -> Project:
    required = _requirements(modules, given, embedded(saved["collection"]["uri"]))
    copied = modules.files
    texts = {
        "settings.json": json.dumps(saved, indent=1, ensure_ascii=False) + "\n",
        "langgraph.json": langgraph_json(given.config.workflow),
        "requirements.txt": "".join(f"{line}\n" for line in required),
        "README.md": readme(given.config, saved, len(copied)),
        ".env.example": env_example(given.config, saved),
    }
    graph = {"graph.py": copied.pop("plugins/export/graph.py")}
    return Project(graph | {name: text.encode() for name, text in texts.items()} | _anchors(given) | copied)


def _anchors(given: RunResources) -> dict[str, bytes]:
    """The anchors of similarity, and their vectors: those that come with the product, or those of this machine."""
    _, embedder, info, calibration = given.retriever.parts
    samples = ROOT / "engine" / "samples"
    shipped = samples / "vectors" / f"{slug(embedder)}.npz"
    found = {f"engine/samples/{item.name}": item.read_bytes() for item in samples.glob("anchors.*.txt")}
    if shipped.is_file():
        return found | {f"engine/samples/vectors/{shipped.name}": shipped.read_bytes()}
    file = io.BytesIO()
    np.savez_compressed(file, vectors=np.concatenate([calibration.vectors["en"], calibration.vectors["zh"]]))
    return found | {anchor_file(embedder, info.context).as_posix(): file.getvalue()}


def langgraph_json(name: str) -> str:
    """Build the file for ``langgraph dev`` and LangGraph's servers, with the keys of the command's documentation."""
    plain = {"dependencies": ["."], "graphs": {name: "./graph.py:graph"}, "env": ".env", "python_version": "3.11"}
    return json.dumps(plain, indent=2) + "\n"


def _requirements(modules: Modules, given: RunResources, lite: bool) -> list[str]:
    """The packages that the files import, at the versions at hand, and the clients of the providers of chat models."""
    distributions = _distributions()
    imported = modules.packages | ({"milvus_lite"} if lite else set())
    # Several distributions may share one package, such as ``langgraph``.
    named = {name if name in (own := distributions.get(name, [name])) else own[0] for name in imported}
    return sorted(map(_pinned, named | {known_provider(name).package for name in providers_of(given.config)}))


def providers_of(config: RunConfig) -> set[str]:
    """The providers of the chat models that the workflow asks."""
    models = (config.models.of(role) for role in workflow(config.workflow).roles_asked(config))
    return {model.model.partition(":")[0] for model in models if model.chats and not model.scores}


@cache
def _distributions() -> Mapping[str, list[str]]:
    """The packages that have each module; reading the lists of all that is installed takes a fifth of a second."""
    return packages_distributions()


def _pinned(package: str) -> str:
    try:
        return f"{package}=={version(package)}"
    except PackageNotFoundError:
        # The client of a provider that is not installed here: pip takes its newest.
        return package
