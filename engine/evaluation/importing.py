"""Data sets of others as query sets: SQuAD JSON, BEIR, CSV, Excel, JSONL; the form is found out from the content."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from engine.errors import EvaluationError
from engine.evaluation.cases import Case, Expectation, QuerySet
from engine.evaluation.formats.beir import FolderFiles, parse_beir, zipped
from engine.evaluation.formats.common import MOST_BYTES, Import, ImportNote, file_of, json_of, list_of, plain_text
from engine.evaluation.formats.squad import is_squad, parse_squad
from engine.evaluation.formats.table import parse_csv, parse_jsonl, parse_list
from engine.knowledge.ingest import IngestItem
from engine.knowledge.sheets import is_workbook

_ZIP = b"PK\x03\x04"
_LONGEST_COLLECTION = 60


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Plan of an import; nothing is written yet."""

    set: QuerySet
    items: tuple[IngestItem, ...]
    """Documents to ingest into the set's collection first; empty where the data set brings none."""
    notes: tuple[ImportNote, ...]
    """What was left out or changed."""

    def after(self, report: Mapping[str, Any]) -> QuerySet:
        """The set as it has to be kept after its documents were ingested.

        ``report`` is ``IngestReport.to_dict()``: a document that the collection had already under another name was
        skipped, and that name is expected from now on.
        """
        renamed = {str(item["name"]): str(item["same_as"]) for item in report.get("skipped", ())}
        cases = tuple(replace(case, expected=_renamed(case, renamed)) for case in self.set.cases)
        return replace(self.set, cases=cases)


def read_query_set(
    data: Path | bytes,
    name: str,
    *,
    collection: str = "",
    limit: int | None = None,
    known_sources: Collection[str] = (),
) -> ImportPlan:
    """Read a file, a BEIR folder or an upload as the set ``name``; blocks, writes nothing.

    ``collection`` is where documents go and what is asked; by default one named after the set where the data set brings
    documents, else the samples. At most ``limit`` cases are taken, evenly spread. ``known_sources`` help to tell
    a source's name from a text in CSV and JSONL. Lines that cannot be used are noted with their number and the reason,
    and the others go in. Raises ``EvaluationError.data_set_unusable`` or ``EvaluationError.data_set_too_large``.
    """
    name = plain_text(name)
    file = name if isinstance(data, bytes) else plain_text(data.name or str(data))
    made = Import(file, known_sources)
    _read(data, made)
    if not made.cases:
        first = f": {made.notes[0]}" if made.notes else ""
        raise EvaluationError.data_set_unusable(name=file, cause=f"no question in it can be used{first}")
    place = collection or (collection_name(name) if made.items else "samples")
    cases = tuple(made.cases) if limit is None else spread(tuple(made.cases), limit)
    return ImportPlan(QuerySet(name, cases, place, origin=file), tuple(made.items), made.notes)


def spread(cases: tuple[Case, ...], limit: int) -> tuple[Case, ...]:
    """Choose at most ``limit`` cases at even distances, so that a part speaks for the whole."""
    if limit >= len(cases):
        return cases
    return tuple(cases[place * len(cases) // limit] for place in range(max(limit, 0)))


def collection_name(name: str) -> str:
    """A valid collection name derived from a set's name; the same for the same name."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()[: _LONGEST_COLLECTION - 20]
    mark = sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    if not plain:
        return f"set_{mark}"
    # What was dropped may be the only difference of two names, e.g. in Chinese.
    exact = plain == re.sub(r"[\s._-]+", "_", name.lower())
    stem = plain if exact else f"{plain}_{mark}"
    return f"set_{stem}" if stem == "samples" or stem.startswith("workbench") or not stem[0].isalpha() else stem


def _read(data: Path | bytes, made: Import) -> None:
    if isinstance(data, Path) and data.is_dir():
        parse_beir(FolderFiles(data), made)
        return
    content = data if isinstance(data, bytes) else file_of(data, data.name, MOST_BYTES)
    if len(content) > MOST_BYTES:
        raise EvaluationError.data_set_too_large(name=made.name, what="megabytes", limit=MOST_BYTES // 1_000_000)
    if content.startswith(_ZIP) and not is_workbook(content):
        with zipped(io.BytesIO(content), made.name) as files:
            parse_beir(files, made)
    else:
        _read_text(list_of(made, content), made)


def _read_text(text: str, made: Import) -> None:
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        parse_csv(text, made)
        return
    if start == "{" and _is_jsonl(text, made.name):
        parse_jsonl(text, made)
        return
    plain = json_of(made.name, text)
    if is_squad(plain):
        parse_squad(plain, made)
    else:
        parse_list(plain if isinstance(plain, list) else [plain], made)


def _is_jsonl(text: str, file: str) -> bool:
    """Return whether a file is JSON Lines: by its suffix, or because its first line is a whole object and more come."""
    if file.lower().endswith((".jsonl", ".ndjson")):
        return True
    lines = [line.strip() for line in text.strip().split("\n", 2)]
    return len(lines) > 1 and lines[0].endswith("}") and lines[1][:1] in ("{", "")


def _renamed(case: Case, renamed: Mapping[str, str]) -> tuple[Expectation, ...]:
    return tuple(
        replace(item, value=renamed.get(item.value, item.value)) if item.kind == "source" else item
        for item in case.expected
    )
