"""Jobs of the knowledge base: one at a time, stopped and resumed, found again, and given up."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.database.instance import Instance
from engine.errors import HostError, JobDamaged, JobError, UnknownJob
from engine.knowledge import manifest as manifests
from engine.knowledge.ingest import EMBED_BATCH, IngestItem
from engine.knowledge.job_steps import knowledge_kinds
from engine.knowledge.jobs import Jobs
from engine.knowledge.journal import Entry, Journal
from engine.knowledge.manifest import Manifest
from engine.library.values import ChunkOptions, JobState, JobStatus
from engine.model.values import Account, Fault, SourceNote
from engine.roles import Vector
from tests.support.errors import raises
from tests.support.plain_knowledge import PlainKnowledge, StallingEmbedder, knows

BROKEN_NAME = "broken\udcff.md"


def text(count: int, word: str) -> bytes:
    return ("# T\n\n" + "".join(f"## S{n}\n{word} {n}\n\n" for n in range(count))).encode()


def wanted(*items: IngestItem, collection: str = "notes", **more: Any) -> Manifest:
    return Manifest("", "ingest", collection, "", "", items=items, **more)


def within(
    folder: Path, work: Callable[[Jobs, PlainKnowledge], Awaitable[Any]], embedder: StallingEmbedder | None = None
) -> Any:
    """Run something with the jobs of a folder, as one process would."""

    async def main() -> Any:
        knowledge = PlainKnowledge(folder, embedder)
        jobs = Jobs(folder, knowledge_kinds(knows(knowledge)))
        try:
            return await work(jobs, knowledge)
        finally:
            await jobs.close()
            await knowledge.close()

    return asyncio.run(main())


async def ended(jobs: Jobs, job_id: str) -> JobStatus:
    return await asyncio.to_thread(jobs.wait, job_id)


async def stalled(embedder: StallingEmbedder) -> None:
    """Until the embedder waits."""
    there = asyncio.Event()
    embedder.on_stall = there.set
    await there.wait()


def test_a_job_goes_through_and_leaves_nothing_but_its_passages_and_its_report(tmp_path: Path) -> None:
    fault = Fault("WB301", "There is no file.", "Correct the path.")
    items = [
        IngestItem("a.md", data=text(3, "tea")),
        IngestItem(BROKEN_NAME, data=b"words"),
        IngestItem("c.md", data=text(3, "tea")),
    ]

    async def work(jobs: Jobs, knowledge: PlainKnowledge) -> JobStatus:
        job_id = await jobs.begin(jobs.kept(wanted(*items, failed=(("gone.md", fault),), description="Of tea.")))
        status = await ended(jobs, job_id)
        assert jobs.all() == (status,)
        assert (await knowledge.describe("notes")).passages == 3
        return status

    status = within(tmp_path, work)
    assert (status.kind, status.collection, status.state, status.fault) == ("ingest", "notes", "done", None)
    assert (status.added, status.skipped) == (("a.md",), (("c.md", "a.md"),))
    assert [(name, item.code) for name, item in status.failed] == [("gone.md", "WB301"), (BROKEN_NAME, "WB308")]
    assert (status.files, status.files_done, status.done, status.total, status.passages) == (4, 4, 3, 3, 3)
    assert not status.resumable
    left = [path for path in (tmp_path / "ingest").iterdir() if path.name != "owners"]
    assert left == []
    assert within(tmp_path, lambda jobs, _: _all(jobs)) == ()


async def _all(jobs: Jobs) -> tuple[JobStatus, ...]:
    return jobs.all()


def test_a_job_of_a_plug_in_that_is_gone_names_it_and_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.plugins.plugins", tuple)

    async def work(jobs: Jobs, _: PlainKnowledge) -> JobStatus:
        return await ended(jobs, await jobs.begin(jobs.kept(Manifest("", "index", "notes", "", ""))))

    status = within(tmp_path, work)
    assert status.state == "failed" and status.fault is not None and status.resumable
    assert status.fault.fact == "This is the work of the plug-in scale, which is not here."


def test_the_second_of_two_jobs_waits_for_the_first(tmp_path: Path) -> None:
    embedder = StallingEmbedder(stall_at=0)

    async def work(jobs: Jobs, _: PlainKnowledge) -> list[JobState]:
        first = await jobs.begin(jobs.kept(wanted(IngestItem("a.md", data=b"tea"))))
        await stalled(embedder)
        second = await jobs.begin(jobs.kept(wanted(IngestItem("b.md", data=b"milk"), collection="other")))
        assert [item.id for item in jobs.all()] == [second, first]
        states = [jobs.status(first).state, jobs.status(second).state]
        embedder.stall_at = -1
        await jobs.stop(first)
        states += [jobs.status(first).state, (await ended(jobs, second)).state]
        with raises(JobError.over):
            await jobs.resume(second)
        return states

    assert within(tmp_path, work, embedder) == ["embedding", "waiting", "stopped", "done"]


def test_a_job_that_waits_can_be_stopped_and_continues_when_it_is_resumed(tmp_path: Path) -> None:
    embedder = StallingEmbedder(stall_at=0)

    async def work(jobs: Jobs, _: PlainKnowledge) -> None:
        first = await jobs.begin(jobs.kept(wanted(IngestItem("a.md", data=b"tea"))))
        await stalled(embedder)
        second = await jobs.begin(jobs.kept(wanted(IngestItem("b.md", data=b"milk"))))
        assert (await jobs.stop(second)).state == "stopped"
        with raises(JobError.active):
            await jobs.resume(first)
        with raises(JobError.active):
            await jobs.discard(first)
        embedder.stall_at = -1
        assert (await jobs.stop(first)).state == "stopped"
        for job_id in (second, first):
            await jobs.resume(job_id)
            status = await ended(jobs, job_id)
            assert (status.state, status.passages) == ("done", 1)

    within(tmp_path, work, embedder)


def test_a_stopped_job_keeps_its_vectors_and_another_process_continues_with_it(tmp_path: Path) -> None:
    embedder = StallingEmbedder(stall_at=3)
    item = IngestItem("a.md", data=text(EMBED_BATCH * 4, "tea"))

    async def stop(jobs: Jobs, _: PlainKnowledge) -> JobStatus:
        job_id = await jobs.begin(jobs.kept(wanted(item)))
        await stalled(embedder)
        return await jobs.stop(job_id)

    before = within(tmp_path, stop, embedder)
    assert (before.state, before.resumable, before.done, before.total) == ("stopped", True, 48, 64)
    assert (before.passages, before.per_second, before.remaining_s) == (0, 0.0, None)

    later = StallingEmbedder()

    async def go_on(jobs: Jobs, _: PlainKnowledge) -> tuple[JobStatus, JobStatus]:
        (found,) = jobs.all()
        await jobs.resume(found.id)
        return found, await ended(jobs, found.id)

    found, after = within(tmp_path, go_on, later)
    assert (found.id, found.state, found.files, found.done, found.total) == (before.id, "stopped", 1, 48, 64)
    assert (after.state, after.added, after.passages, after.done) == ("done", ("a.md",), 64, 64)
    assert sum(embedder.batches) == 3 * EMBED_BATCH
    assert later.batches[0] == EMBED_BATCH  # the fourth batch: three were kept


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_the_next_process_knows_how_a_job_ended(state: JobState, tmp_path: Path) -> None:
    async def end(jobs: Jobs, knowledge: PlainKnowledge) -> JobStatus:
        job_id = await jobs.begin(jobs.kept(wanted(IngestItem("a.md", data=text(3, "tea")))))
        if state == "stopped":
            return await jobs.stop(job_id)
        return await ended(jobs, job_id)

    class Failing(StallingEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vector:
            raise HostError.busy(subject="nobody" if texts else "")

    before = within(tmp_path, end, StallingEmbedder(0) if state == "stopped" else Failing())
    assert before.state == state

    async def found(jobs: Jobs, _: PlainKnowledge) -> JobStatus:
        (status,) = jobs.all()
        assert (status.state, status.fault) == (before.state, before.fault)
        return await ended(jobs, (await jobs.resume(status.id)).id)

    done = within(tmp_path, found)
    assert (done.state, done.fault, done.added) == ("done", None, ("a.md",))


def test_the_same_files_again_take_over_what_an_unfinished_job_has_embedded(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(text(EMBED_BATCH * 3, "tea"))
    embedder = StallingEmbedder(stall_at=2)
    item = IngestItem("a.md", path=tmp_path / "a.md")

    async def twice(jobs: Jobs, _: PlainKnowledge) -> tuple[JobStatus, ...]:
        first = await jobs.begin(jobs.kept(wanted(item)))
        await stalled(embedder)
        await jobs.stop(first)
        embedder.stall_at = -1
        other = await jobs.begin(jobs.kept(wanted(item, chunks=ChunkOptions(target_tokens=150), collection="other")))
        await ended(jobs, other)
        embedder.batches.clear()
        second = await jobs.begin(jobs.kept(wanted(item)))
        await ended(jobs, second)
        with pytest.raises(UnknownJob):
            jobs.status(first)
        return jobs.all()

    second, other = within(tmp_path, twice, embedder)
    assert (second.state, other.state) == ("done", "done")
    # Three batches of passages and the summary of the whole: the first two batches were there.
    assert embedder.batches == [EMBED_BATCH, 1]


def test_a_discarded_job_leaves_what_it_wrote_and_nothing_else(tmp_path: Path) -> None:
    embedder = StallingEmbedder(stall_at=1)

    async def work(jobs: Jobs, knowledge: PlainKnowledge) -> list[str]:
        items = [IngestItem("a.md", data=b"tea"), IngestItem("b.md", data=text(2, "milk"))]
        job_id = await jobs.begin(jobs.kept(wanted(*items)))
        await stalled(embedder)
        assert (await jobs.stop(job_id)).added == ("a.md",)
        await jobs.discard(job_id)
        assert jobs.all() == ()
        assert not (tmp_path / "ingest" / job_id).exists()
        with pytest.raises(UnknownJob):
            jobs.status(job_id)
        return [item.source for item in await knowledge.sources("notes")]

    assert within(tmp_path, work, embedder) == ["a.md"]


def test_only_the_last_twenty_that_are_done_stay_listed(tmp_path: Path) -> None:
    async def work(jobs: Jobs, _: PlainKnowledge) -> list[str]:
        begun = [await jobs.begin(jobs.kept(wanted(IngestItem("a.md", data=b"")))) for _ in range(23)]
        await ended(jobs, begun[-1])
        assert [item.id for item in jobs.all()] == begun[:-21:-1]
        return begun

    assert len(within(tmp_path, work)) == 23


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", '{"format": 9}', '{"format": 1, "id": "x", "kind": "ingest"}', "\u00e9"],
)
def test_a_damaged_manifest_is_listed_with_a_remedy_and_can_only_be_discarded(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "ingest" / "0123456789ab"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(damage, encoding="utf-8")
    (tmp_path / "ingest" / "stray.txt").write_text("not ours")
    (tmp_path / "ingest" / "being-written").mkdir()

    async def work(jobs: Jobs, _: PlainKnowledge) -> JobStatus:
        (status,) = jobs.all()
        with pytest.raises(JobDamaged):
            await jobs.resume(status.id)
        await jobs.discard(status.id)
        assert jobs.all() == ()
        assert not folder.exists()
        assert (tmp_path / "ingest" / "being-written").exists()
        return status

    status = within(tmp_path, work)
    assert (status.state, status.id) == ("failed", "0123456789ab")
    assert status.fault is not None and status.fault.code == "WB324" and "Discard it" in status.fault.remedy


def test_a_damaged_journal_is_started_over(tmp_path: Path) -> None:
    async def begun(jobs: Jobs, _: PlainKnowledge) -> str:
        return jobs.kept(wanted(IngestItem("a.md", data=b"tea"))).id

    job_id = within(tmp_path, begun)
    (tmp_path / "ingest" / job_id / "journal.db").write_bytes(b"no database " * 1000)

    async def go_on(jobs: Jobs, _: PlainKnowledge) -> JobStatus:
        assert jobs.status(job_id).state == "interrupted"
        await jobs.resume(job_id)
        return await ended(jobs, job_id)

    assert within(tmp_path, go_on).added == ("a.md",)


def test_jobs_are_listed_while_others_come_and_go(tmp_path: Path) -> None:
    """A page lists them in a thread of its own."""

    async def work(jobs: Jobs, _: PlainKnowledge) -> None:
        ids = [await jobs.begin(jobs.kept(wanted(IngestItem(f"{n}.md", data=text(1, "tea"))))) for n in range(3)]
        first, *others = [await ended(jobs, job_id) for job_id in ids]
        known = jobs._known()

        class Looked:
            """A job during the look at which another thread discards one."""

            @property
            def status(self) -> JobStatus:
                known.pop(ids[1], None)
                return first

        known[ids[0]] = Looked()  # type: ignore[assignment]
        assert len(others) == 2 and [status.id for status in jobs.all()] == ids[::-1]
        assert [status.id for status in jobs.all()] == [ids[2], ids[0]]

    within(tmp_path, work)


def test_the_job_of_a_living_process_is_left_to_it(tmp_path: Path) -> None:
    other = Instance(tmp_path / "ingest" / "owners")
    try:
        kept = Manifest("0123456789ab", "ingest", "notes", "2026-01-01T00:00:00+00:00", other.id)
        manifests.keep(tmp_path / "ingest" / kept.id, kept)
        assert within(tmp_path, lambda jobs, _: _all(jobs)) == ()
    finally:
        other.end()
    (left,) = within(tmp_path, lambda jobs, _: _all(jobs))
    assert (left.id, left.state) == ("0123456789ab", "interrupted")


def test_a_full_disk_while_uploads_are_kept_begins_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    async def work(jobs: Jobs, _: PlainKnowledge) -> None:
        monkeypatch.setattr(Path, "write_bytes", full)
        with raises(JobError.disk_full, match="Free some space"):
            jobs.kept(wanted(IngestItem("a.md", data=b"tea")))
        monkeypatch.undo()
        assert jobs.all() == ()
        assert [path.name for path in (tmp_path / "ingest").iterdir()] == ["owners"]

    within(tmp_path, work)


def test_a_full_disk_in_the_middle_fails_the_job_and_it_continues_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Journal.keep

    def full(self: Journal, *args: Any) -> None:
        # The file may not grow: SQLite then says itself that the disk is full.
        (pages,) = self._db.execute("PRAGMA page_count").fetchone()
        self._db.execute(f"PRAGMA max_page_count = {pages}")
        honest(self, *args)

    async def work(jobs: Jobs, _: PlainKnowledge) -> None:
        items = [IngestItem("a.md", data=b"tea"), IngestItem("b.md", data=text(300, "milk"))]
        monkeypatch.setattr(Journal, "keep", full)
        job_id = await jobs.begin(jobs.kept(wanted(*items)))
        status = await ended(jobs, job_id)
        assert status.state == "failed" and status.resumable
        assert status.fault is not None and status.fault.code == "WB325"
        monkeypatch.undo()
        await jobs.resume(job_id)
        status = await ended(jobs, job_id)
        assert (status.state, status.added, status.passages) == ("done", ("a.md", "b.md"), 301)

    within(tmp_path, work)


def test_a_manifest_comes_back_as_it_was_written_whatever_its_files_are_called(tmp_path: Path) -> None:
    fault = Fault("WB301", "事实", "补救", {"name": BROKEN_NAME})
    written = Manifest(
        "0123456789ab",
        "ingest",
        "notes",
        "2026-01-01T00:00:00+00:00",
        "f" * 32,
        items=(
            IngestItem(BROKEN_NAME, path=tmp_path / BROKEN_NAME),
            IngestItem("nowhere.md"),
            IngestItem("b.xlsx", tmp_path / "b", hidden=True),
        ),
        failed=((BROKEN_NAME, fault),),
        chunks=ChunkOptions(100, 200, 0),
        embedding_model="ollama:bge-m3",
        query_prefix="",
        passage_prefix=None,
        description="茶",
    )
    kept = manifests.keep(tmp_path / written.id, written)
    assert kept == written
    assert manifests.read(tmp_path / written.id) == written
    assert json.loads((tmp_path / written.id / "manifest.json").read_text())["format"] == 1


def test_a_job_keeps_how_its_uploads_are_read_and_one_of_an_earlier_version_leaves_hidden_content_out(
    tmp_path: Path,
) -> None:
    items = (IngestItem("a.xlsx", data=b"a", hidden=True), IngestItem("b.xlsx", data=b"b"))
    folder = tmp_path / "0123456789ab"
    kept = manifests.keep(folder, Manifest(folder.name, "ingest", "notes", "", "", items=items))
    assert [(item.name, item.data, item.hidden) for item in kept.items] == [
        ("a.xlsx", None, True),
        ("b.xlsx", None, False),
    ]
    assert manifests.read(folder) == kept
    plain = json.loads((folder / "manifest.json").read_text())
    plain["items"] = [item[:2] for item in plain["items"]]
    (folder / "manifest.json").write_text(json.dumps(plain))
    assert [item.hidden for item in manifests.read(folder).items] == [False, False]


def test_a_journal_keeps_what_was_read_of_a_file_and_one_of_an_earlier_version_its_notes(tmp_path: Path) -> None:
    note = SourceNote("sheets_hidden", {"count": "1", "sheets": "密"})
    written = Entry(0, "a.xlsx", "read", "hash", 3, account=Account({"sheets": 2}, (note,), hidden=True))
    journal = Journal(tmp_path / "journal.db")
    journal.note(written)
    assert journal.entries() == [written]
    journal.close()
    with sqlite3.connect(tmp_path / "journal.db") as db:
        kept = {"name": "b.xlsx", "same_as": "", "fault": None, "notes": [[note.code, note.params]]}
        db.execute("INSERT INTO entries VALUES (1, 'read', 'hash', 3, ?)", (json.dumps(kept),))
        kept = {"name": "c.md", "same_as": "", "fault": None, "notes": []}
        db.execute("INSERT INTO entries VALUES (2, 'read', 'hash', 3, ?)", (json.dumps(kept),))
    db.close()
    again = Journal(tmp_path / "journal.db")
    assert [entry.account for entry in again.entries()] == [written.account, Account(notes=(note,)), None]
    again.close()


def test_a_journal_gives_vectors_for_a_whole_batch_or_not_at_all(tmp_path: Path) -> None:
    import numpy as np

    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    journal = Journal(tmp_path / "journal.db")
    journal.keep("model", ["a", "b", "c"], rows)
    journal.close()
    again = Journal(tmp_path / "journal.db")
    found = again.vectors("model", ["b", "c"], 4)
    assert found is not None and found.tolist() == rows[1:].tolist()
    assert again.vectors("model", ["c", "d"], 4) is None
    assert again.vectors("other model", ["b"], 4) is None
    assert again.vectors("model", ["b"], 8) is None
    again.finish(Entry(0, "a.md", "added"))
    assert again.vectors("model", ["b"], 4) is None
    again.close()
