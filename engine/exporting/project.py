"""An exported project: the files of one folder, which runs without the workbench."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from sys import stdlib_module_names

from engine.exporting.collection import Collection
from engine.exporting.graph_file import PARTS, GraphFile, Machine, graph_file
from engine.exporting.readme import env_example, providers_of, readme
from engine.exporting.refusing import refuse
from engine.llm.faults import known_provider
from engine.model.config import USUAL, RunConfig
from engine.settings import Settings

FOLDER = "self-corrective-rag"
FILE_NAME = f"{FOLDER}.zip"
_PARTS_DOC = """Parts of the Self-Corrective RAG Workbench that ``graph.py`` uses, word for word.

They read what small models write, cut words, resolve citations and stand in where no chat model does; each function
stands below the file of the workbench that it is from.
"""
_STORED_AT = (2026, 1, 1, 0, 0, 0)
"""The same settings give the same bytes."""


@dataclass(frozen=True, slots=True)
class Project:
    """The files of an export by name."""

    files: Mapping[str, bytes]

    def zipped(self) -> bytes:
        """All files in one folder of a zip."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.files.items():
                entry = zipfile.ZipInfo(f"{FOLDER}/{name}", _STORED_AT)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, content)
        return file.getvalue()


def project(config: RunConfig, collection: Collection, machine: Machine, settings: Settings) -> Project:
    """Make the files for a config; raises ``NotExportable``."""
    refuse(config)
    made = graph_file(config, collection, machine, settings)
    required = requirements(made, config, collection)
    texts = {
        "graph.py": made.text,
        f"{PARTS}.py": "# ruff: noqa\n# fmt: off\n" + made.parts.text(_PARTS_DOC),
        "langgraph.json": langgraph_json(),
        "requirements.txt": "".join(f"{line}\n" for line in required),
        "README.md": readme(config, collection, machine),
        ".env.example": env_example(config, collection, machine),
    }
    files = {name: text.encode() for name, text in texts.items()}
    files |= {path.name: path.read_bytes() for path in made.parts.data}
    return Project({**files, "anchors.npz": collection.anchors})


def langgraph_json() -> str:
    """What ``langgraph dev`` and LangGraph's servers read; the keys are those of the command's documentation."""
    plain = {"dependencies": ["."], "graphs": {USUAL: "./graph.py:graph"}, "env": ".env", "python_version": "3.11"}
    return json.dumps(plain, indent=2) + "\n"


def requirements(made: GraphFile, config: RunConfig, collection: Collection) -> list[str]:
    """The packages that the files import, at the versions at hand, and the clients of the providers of chat models."""
    modules = made.packages | ({"milvus_lite"} if collection.lite else set())
    # What is imported here is called as its package is, underscores apart.
    named = {module.replace("_", "-") for module in modules - {PARTS} - stdlib_module_names}
    named |= {known_provider(name).package for name in providers_of(config)}
    return sorted(map(_pinned, named))


def _pinned(package: str) -> str:
    try:
        return f"{package}=={version(package)}"
    except PackageNotFoundError:
        # The client of a provider that is not installed here: pip takes its newest.
        return package
