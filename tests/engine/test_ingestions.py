"""The facade of ingestions over a real engine: a folder as people have it, previewed, ingested and said in full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import JobError, StoreError, UnknownCollection
from engine.knowledge.ingest import IngestItem, items_of
from engine.library.values import ChunkOptions
from engine.settings import Settings
from tests.support.errors import raises
from tests.support.gates import PATIENCE_S
from tests.support.mixed_folder import make_mixed_folder

WORDS = b"# Tea\n\n" + b"Green tea is brewed at 80 degrees for two minutes, and never longer. " * 40


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), embedding_model="hashing")
    with Engine.open(settings) as opened:
        yield opened


def test_a_folder_of_60_mixed_files_goes_in_with_every_broken_one_named(engine: Engine, tmp_path: Path) -> None:
    """What the preview says is what happens; only whether a picture holds words is not known before it is read."""
    mixed = make_mixed_folder(tmp_path / "mixed", 60)
    items, failed = items_of([mixed.path])
    assert (len(items), failed) == (60, [])
    shown = engine.ingestions.preview(items, "mixed")
    job_id = engine.ingestions.start(items, "mixed", description="All sorts.")
    status = engine.ingestions.wait(job_id, 10 * PATIENCE_S)
    assert status.state == "done", status.fault
    assert sorted(status.added) == sorted(mixed.good)
    assert {name: fault.code for name, fault in status.failed} == mixed.broken
    assert all(fault.remedy for _, fault in status.failed)
    assert (status.files, status.files_done) == (60, 60)
    picture = "broken/scanned.pdf"
    assert sorted(item.name for item in shown.sources) == sorted([*mixed.good, picture])
    assert [item.passages for item in shown.sources if item.name == picture] == [()]
    assert {name: fault.code for name, fault in shown.failed} == {
        name: code for name, code in mixed.broken.items() if name != picture
    }
    assert shown.passages == status.passages == engine.describe("mixed").passages
    assert sorted(item.source for item in engine.sources("mixed")) == sorted(mixed.good)
    assert engine.describe("mixed").description == "All sorts."
    few = [item for item in items if item.name in mixed.good][:5]
    again = engine.ingestions.preview(few, "mixed")
    assert (again.passages, [item.same_as for item in again.sources]) == (0, [item.name for item in few])


def test_a_source_is_cut_again_when_the_options_are_others_and_skipped_when_they_are_not(engine: Engine) -> None:
    item = IngestItem("tea.md", data=WORDS)
    fine = ChunkOptions(80, 120, 20)

    def added(chunks: ChunkOptions) -> tuple[str, int, set[str]]:
        status = engine.ingestions.wait(engine.ingestions.start([item], "cut", chunks=chunks), PATIENCE_S)
        fate = "added" if status.added else "replaced" if status.replaced else "skipped"
        keys = {str(passage.meta.get("chunks", "")) for passage in engine.passages("cut", "tea.md")}
        return fate, engine.describe("cut").passages, keys

    default = added(ChunkOptions())
    assert default[0] == "added" and default[2] == {""}
    assert added(ChunkOptions()) == ("skipped", default[1], {""})
    recut = added(fine)
    assert recut[0] == "replaced" and recut[1] > default[1] and recut[2] == {fine.key}
    assert engine.sources("cut")[0].chunks == fine.key
    assert added(fine) == ("skipped", recut[1], {fine.key})
    assert added(ChunkOptions()) == ("replaced", default[1], {""})


def test_what_cannot_become_an_ingestion_is_said_before_anything_is_written(engine: Engine) -> None:
    item = IngestItem("tea.md", data=WORDS)
    with raises(StoreError.embedding_mismatch, match="samples"):
        engine.ingestions.start([item], "samples", embedding_model="hashing")
    with raises(StoreError.invalid_collection_name):
        engine.ingestions.start([item], "no name")
    with raises(StoreError.invalid_collection_name):
        engine.ingestions.preview([item], "no name")
    with pytest.raises(UnknownCollection):
        engine.ingestions.start_reembed("nowhere", "there", "hashing")
    with pytest.raises(UnknownCollection):
        engine.ingestions.start_add_full_text("nowhere")
    assert [job.collection for job in engine.ingestions.jobs() if job.collection not in ("cut", "mixed")] == []


def test_a_collection_is_embedded_again_as_a_job(engine: Engine) -> None:
    begun = engine.ingestions.start([IngestItem("tea.md", data=WORDS)], "first", embedding_model="hashing")
    engine.ingestions.wait(begun, PATIENCE_S)
    job_id = engine.ingestions.start_reembed("first", "second", "builtin")
    status = engine.ingestions.wait(job_id, PATIENCE_S)
    assert (status.kind, status.state, status.added) == ("reembed", "done", ("tea.md",)), status.fault
    old, new = engine.describe("first"), engine.describe("second")
    assert (new.passages, new.fingerprint) == (old.passages, old.fingerprint)
    assert new.embedding_model != old.embedding_model


def test_a_folder_with_too_many_files_is_said_and_not_walked_through(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.md").write_text("words")
    assert len(items_of([tmp_path], most=6)[0]) == 6
    with raises(JobError.too_many_files, match="more than 5 files"):
        items_of([tmp_path], most=5)
