"""Files of passages with vectors from another program: JSON lines or Parquet, one passage a row with its vector.

Rows of one source stand together. ``source``, ``text`` and ``vector`` must be there; ``id``, ``title``, ``section``,
``ordinal`` and ``kind`` may be. Without an id it is the source with the passage's place in it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import SourceError, SourceUnsupported
from engine.model.values import PassageId, kind_named
from engine.roles import StoredPassage, Vector
from plugins.scale.errors import FILE_DAMAGED, NO_ROW, ROW_WIDTH, ROW_WITHOUT, SOURCE_TWICE

SUFFIXES = (".jsonl", ".parquet")
_ROWS = 1000
_LONGEST_WHY = 300


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedSource:
    """One source of a file, with all its vectors."""

    name: str
    passages: tuple[StoredPassage, ...]
    vectors: Vector
    """Shape (len(passages), dim)."""
    content_hash: str


def sources_of(files: Iterable[Path], dim: int, added_at: str) -> Iterator[EmbeddedSource]:
    """Every source of the files in their order.

    Raises ``SourceError.missing``, ``SourceUnsupported``, and ``SourceError`` for a row that is no
    passage, a vector of another width, or a source that comes a second time.
    """
    seen: set[str] = set()
    for file in files:
        numbered = enumerate(_rows(file), start=1)
        for source, group in groupby(numbered, key=lambda item: _source(file, *item)):
            first, *rest = group
            if source in seen:
                raise SOURCE_TWICE(name=file.name, row=first[0], source=source)
            seen.add(source)
            yield _embedded(file, source, [first, *rest], dim, added_at)


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    if not file.is_file():
        raise SourceError.missing(name=str(file))
    if file.suffix not in SUFFIXES:
        raise SourceUnsupported(name=file.name, kinds=", ".join(SUFFIXES))
    parquet = file.suffix == ".parquet"
    rows = _parquet_rows(file) if parquet else _lines(file)
    while True:
        try:
            row = next(rows, None)
        except SourceError:
            raise
        # Anything a reader trips over in foreign bytes: torn pages of Parquet, half a character of UTF-8.
        except Exception as foreign:
            why = " ".join(str(foreign).split())[:_LONGEST_WHY].rstrip(".") or type(foreign).__name__
            raise FILE_DAMAGED(name=file.name, why=why, kind="Parquet" if parquet else "UTF-8") from foreign
        if row is None:
            return
        yield row


def _parquet_rows(file: Path) -> Iterator[Mapping[str, Any]]:
    # Imported here: it takes half a second, and few load such files.
    parquet = importlib.import_module("pyarrow.parquet")
    for batch in parquet.ParquetFile(file).iter_batches(_ROWS):
        yield from batch.to_pylist()


def _lines(file: Path) -> Iterator[Mapping[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _line(file, number, line)


def _line(file: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, Mapping):
        raise NO_ROW(name=file.name, row=number)
    return row


def _source(file: Path, number: int, row: Mapping[str, Any]) -> str:
    source = row.get("source")
    if not isinstance(source, str) or not source.strip():
        raise ROW_WITHOUT(name=file.name, row=number, field="source")
    return source


def _embedded(
    file: Path, source: str, rows: list[tuple[int, Mapping[str, Any]]], dim: int, added_at: str
) -> EmbeddedSource:
    vectors = np.stack([_vector(file, number, row, dim) for number, row in rows])
    digest = hashlib.sha256()
    for (number, row), vector in zip(rows, vectors, strict=True):
        if not isinstance(row.get("text"), str):
            raise ROW_WITHOUT(name=file.name, row=number, field="text")
        digest.update(f"{row.get('id')}\n{row['text']}\n".encode(errors="surrogatepass"))
        digest.update(vector.tobytes())
    content_hash = digest.hexdigest()
    passages = [
        _passage(source, place, row, {"content_hash": content_hash, "added_at": added_at})
        for place, (_, row) in enumerate(rows, start=1)
    ]
    return EmbeddedSource(source, tuple(passages), vectors, content_hash)


def _vector(file: Path, number: int, row: Mapping[str, Any], dim: int) -> Vector:
    try:
        vector = np.asarray(row.get("vector"), dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        vector = np.empty(0, dtype=np.float32)
    if vector.shape != (dim,) or not np.isfinite(vector).all():
        raise ROW_WIDTH(name=file.name, row=number, dim=dim)
    return vector


def _passage(source: str, place: int, row: Mapping[str, Any], meta: Mapping[str, Any]) -> StoredPassage:
    ordinal = row.get("ordinal")
    ordinal = ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) else place
    return StoredPassage(
        PassageId(str(row.get("id") or f"{source}#{place}")),
        source,
        row["text"],
        str(row.get("section") or ""),
        str(row.get("title") or ""),
        ordinal,
        {**meta, "kind": kind_named(row.get("kind"))},
    )
