"""Passages that were embedded elsewhere: read from files, checked against the model, put in by blocks or by import."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.errors import SourceError, SourceUnsupported, StoreError
from engine.model.values import PassageContext, PassageId
from plugins.scale import loading
from plugins.scale.bulk import BulkImport, ImportFolder
from plugins.scale.errors import INDEX_FIXED, NO_ROW, VECTORS_UNLIKE
from plugins.scale.loading import LoadReport, load_vectors
from plugins.scale.vector_files import sources_of
from tests.contracts.stores import Case
from tests.support.errors import raises

EMBEDDER = HashingEmbedder(64)
Row = dict[str, Any]


def rows(sources: int = 6, each: int = 5, text: str = "words") -> list[Row]:
    """Rows with the vectors that the hashing embedder makes of their texts."""
    plain = [
        {"source": f"s{number}.md", "text": f"{text} {number} 第{ordinal}段", "title": "T", "section": 'S "x"'}
        for number in range(sources)
        for ordinal in range(each)
    ]
    vectors = asyncio.run(EMBEDDER.embed_passages([str(row["text"]) for row in plain]))
    return [{**row, "vector": vector.tolist()} for row, vector in zip(plain, vectors, strict=True)]


def jsonl(folder: Path, content: Sequence[Mapping[str, Any]], name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in content), encoding="utf-8")
    return path


def put(
    case: Case, *files: Path, folder: ImportFolder | None = None, context: PassageContext | None = None
) -> LoadReport:
    loaded = load_vectors(case.store, EMBEDDER, case.name, files, folder=folder, context=context)
    report: LoadReport = case.run(loaded)
    return report


def whole(case: Case, content: Sequence[Row]) -> None:
    """The collection has exactly these passages, each found by its own vector."""
    info = case.run(case.store.describe(case.name))
    assert (info.passages, info.sources) == (len(content), len({row["source"] for row in content}))
    assert info.embedding_model == EMBEDDER.model_id
    assert len(case.run(case.store.ids(case.name))) == len(content)
    for row in content[:: max(1, len(content) // 5)]:
        hits = case.run(case.store.search(case.name, np.asarray(row["vector"], dtype=np.float32), 3))
        # The embedder knows no order of words, so that two texts may have one vector.
        (found,) = (hit for hit in hits if hit.passage.text == row["text"])
        assert found.cosine == pytest.approx(1.0, abs=1e-3)
        assert [getattr(found.passage, field) for field in ("source", "title", "section")] == [
            row[field] for field in ("source", "title", "section")
        ]


def test_json_lines_and_parquet_hold_the_same(case: Case, tmp_path: Path) -> None:
    content = rows()
    table = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(content[15:]), table)
    report = put(case, jsonl(tmp_path, content[:15]), table)
    assert (report.sources, report.passages, report.skipped) == (6, 30, 0)
    whole(case, content)
    assert case.run(case.store.ids(case.name))[0] == PassageId("s0.md#1")


def test_vectors_of_texts_below_their_headings_make_a_collection_of_that_form(case: Case, tmp_path: Path) -> None:
    content = rows()
    below = asyncio.run(EMBEDDER.embed_passages([f"T > {row['section']}\n{row['text']}" for row in content]))
    content = [{**row, "vector": vector.tolist()} for row, vector in zip(content, below, strict=True)]
    put(case, jsonl(tmp_path, content[:15]), context="path")
    put(case, jsonl(tmp_path, content))
    assert case.run(case.store.describe(case.name)).context == "path"
    whole(case, content)


def test_the_same_command_again_puts_in_only_what_is_missing_or_other(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BLOCK", 10)
    content = rows()
    put(case, jsonl(tmp_path, content[:20]))
    other = rows(2, 3, "other")
    report = put(case, jsonl(tmp_path, [*other, *content[10:]]))
    assert (report.sources, report.passages, report.skipped) == (4, 16, 2)
    whole(case, [*other, *content[10:]])


def test_a_load_that_fails_half_way_is_completed_by_the_next(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "BLOCK", 10)
    content = rows()
    case.run(case.store.open())
    honest, calls = case.client().upsert, [0]

    def breaking(name: str, batch: list[Any], **named: Any) -> Any:
        calls[0] += name == case.name
        if name == case.name and calls[0] == 2:
            honest(name, batch[:4], **named)
            raise OSError(5, "gone")
        return honest(name, batch, **named)

    with monkeypatch.context() as patched:
        patched.setattr(case.client(), "upsert", breaking)
        with pytest.raises(StoreError):
            put(case, jsonl(tmp_path, content))
    report = put(case, jsonl(tmp_path, content))
    assert (report.sources, report.skipped) == (4, 2)
    whole(case, content)


def test_vectors_of_another_model_are_refused_before_anything_is_made(case: Case, tmp_path: Path) -> None:
    content = rows()
    draw = np.random.default_rng(1)
    for row in content:
        row["vector"] = draw.normal(size=64).tolist()
    with raises(VECTORS_UNLIKE):
        put(case, jsonl(tmp_path, content))
    assert case.name not in [info.name for info in case.run(case.store.collections())]


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        (lambda row: row.pop("text"), "Row 7 of 'rows.jsonl' has no text."),
        (lambda row: row.update(source=" "), "Row 7 of 'rows.jsonl' has no source."),
        (lambda row: row.update(vector=[1.0]), "The vector of row 7 of 'rows.jsonl' is not 64 finite numbers"),
        (lambda row: row.update(source="s0.md"), "Source 's0.md' comes a second time in row 7"),
    ],
)
def test_a_row_that_is_no_passage_is_named(change: Callable[[Row], Any], fact: str, tmp_path: Path) -> None:
    content = rows(3)
    change(content[6])
    with raises(NO_ROW) as raised:
        list(sources_of([jsonl(tmp_path, content)], 64, ""))
    assert raised.value.fact.startswith(fact)
    with pytest.raises(SourceUnsupported):
        list(sources_of([jsonl(tmp_path, content, "rows.txt")], 64, ""))


def test_separators_inside_a_text_end_no_line(tmp_path: Path) -> None:
    text = "first\u2028second\u2029third\u0085fourth"
    sources = list(sources_of([jsonl(tmp_path, rows(text=text))], 64, ""))
    assert len(sources) == 6
    assert all(text in passage.text for source in sources for passage in source.passages)


@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("how", ["zeros", "cut off", "other bytes", "half a character"])
def test_a_damaged_file_ends_in_words(how: str, place: float, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl" if how == "half a character" else tmp_path / "rows.parquet"
    content = rows(each=50)
    if file.suffix == ".jsonl":
        jsonl(tmp_path, content)
    else:
        pq.write_table(pa.Table.from_pylist(content), file)
    whole = file.read_bytes()
    at = max(1, int((len(whole) - 400) * place))
    rest = {
        "zeros": bytes(400) + whole[at + 400 :],
        "cut off": b"",
        "other bytes": b"\xff" * len(whole),
        "half a character": b"\xe6\x97" + whole[at:],
    }
    file.write_bytes(whole[:at] + rest[how])
    if how == "zeros" and 0.0 < place < 1.0:
        # Parquet has no sum over what it holds: zeros in the place of numbers are numbers.
        with suppress(SourceError):
            assert list(sources_of([file], 64, ""))
        return
    with pytest.raises(SourceError) as said:
        list(sources_of([file], 64, ""))
    assert file.name in said.value.fact


def test_an_embedded_store_imports_nothing(case: Case, tmp_path: Path) -> None:
    if not case.store.uri.endswith(".db"):
        pytest.skip("of the embedded store")
    with raises(INDEX_FIXED):
        put(case, jsonl(tmp_path, rows()), folder=ImportFolder(tmp_path / "bulk"))


def _on_server(case: Case) -> None:
    if case.store.uri.endswith(".db"):
        pytest.skip("of a server")


def test_a_server_with_local_storage_imports_from_a_folder_that_it_reads(case: Case, tmp_path: Path) -> None:
    """Tried with the server of the tests; the same command again finds everything there."""
    _on_server(case)
    content, folder = rows(30, 20), ImportFolder(tmp_path / "bulk")
    report = put(case, jsonl(tmp_path, content), folder=folder)
    assert (report.sources, report.passages) == (30, 600)
    whole(case, content)
    assert list(folder.path.iterdir()) == []
    assert put(case, jsonl(tmp_path, content), folder=folder).skipped == 30
    other = rows(4, 6, "other")
    put(case, jsonl(tmp_path, other), folder=folder)
    whole(case, [*other, *content[80:]])


def test_an_import_that_was_not_noted_is_not_there_twice(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after the server was given the file, before it was said what the sources hold."""
    _on_server(case)
    content, folder = rows(4, 20), ImportFolder(tmp_path / "bulk")
    case.run(case.store.open())
    session = case.store._session
    assert session is not None

    def dies(*_: Any, **__: Any) -> None:
        raise OSError(5, "gone")

    with monkeypatch.context() as patched:
        patched.setattr(session, "_settle", dies)
        with pytest.raises(StoreError):
            put(case, jsonl(tmp_path, content), folder=folder)
    put(case, jsonl(tmp_path, content), folder=folder)
    whole(case, content)


def test_rows_that_an_import_leaves_out_are_written(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen where an import follows a deletion of the same ids: it reports its completion, and rows are missing."""
    _on_server(case)
    content, wait = rows(4, 20), BulkImport._wait

    def loses_some(bulk: BulkImport, imports: Any, collection: str, job: str) -> None:
        wait(bulk, imports, collection, job)
        bulk._db.take_in(collection)
        bulk._db.delete(collection, "source", ["s1.md"])

    monkeypatch.setattr(BulkImport, "_wait", loses_some)
    assert put(case, jsonl(tmp_path, content), folder=ImportFolder(tmp_path / "bulk")).passages == 80
    whole(case, content)


def test_a_folder_that_the_server_cannot_read_is_said(case: Case, tmp_path: Path) -> None:
    _on_server(case)
    folder = ImportFolder(tmp_path / "bulk", "no/such/place")
    with pytest.raises(StoreError):
        put(case, jsonl(tmp_path, rows()), folder=folder)
    assert case.run(case.store.sources(case.name))[0].content_hash == ""
