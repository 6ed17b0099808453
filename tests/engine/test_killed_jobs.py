"""A process that is killed at its jobs: the list says so, nothing kept is lost, and what is resumed ends (SC-10).

Ingestions and graphs are killed at many more places in ``tests/knowledge``, batches in ``tests/evaluation``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.drafting.drafting import Step
from engine.drafting.store import DraftStore
from engine.drafting.values import Draft
from engine.engine import Engine
from engine.knowledge.ingest import IngestItem
from engine.library.values import Job, JobStatus
from engine.settings import Settings
from tests.drafting.documents import ITEMS, asked_of
from tests.support.forks import killed_at_the_end
from tests.support.gates import PATIENCE_S
from tests.support.ollama_stand_in import Gate, OllamaStandIn, Slow
from tests.system.hosting import until

MANY = tuple(
    IngestItem(f"{name}.md", data="".join(f"## {name} {n}\n\nNumber {n}.\n\n" for n in range(150)).encode())
    for name in "abc"
)
CHAT, SMALL = "ollama:qwen3:8b", "qwen3:0.6b"
Say = Callable[[str], None]


def opened(folder: Path, url: str = "http://127.0.0.1:1") -> Engine:
    return Engine.open(Settings(data_dir=folder, ollama_url=url, embedding_model="hashing"))


def killed(work: Callable[..., None], *given: Any) -> None:
    """Run ``work`` in a process of its own, and kill that as soon as it says something."""
    with killed_at_the_end(work, *given) as heard:
        assert heard.poll(PATIENCE_S) and heard.recv() == "there"


def resumed(engine: Engine) -> tuple[Job, JobStatus]:
    """The one job as it was found, and as it ended after it was resumed."""
    (found,) = engine.jobs.all()
    assert (found.state, found.fault) == ("interrupted", None)
    engine.jobs.resume(found.id)
    return found, engine.ingestions.wait(found.id, PATIENCE_S)


def drafting(say: Say, folder: Path, url: str, place: str) -> None:
    """Draft, and stall after two replies, or before or after the drafts are kept."""

    def stall(*_: object) -> None:
        say("there")
        threading.Event().wait()

    def note(step: Step) -> None:
        if (place, step.stage, step.done) == ("writing", "writing", 2):
            stall()

    with opened(folder, url) as engine:
        engine.ingest(ITEMS, "own")
        honest = DraftStore.add

        def add(store: DraftStore, drafts: Iterable[Draft]) -> None:
            if place == "kept":
                honest(store, drafts)
            stall()

        if place != "writing":
            DraftStore.add = add  # type: ignore[assignment, method-assign]
        engine.drafting.start("own", 6, CHAT, note).result()


@pytest.mark.parametrize("place", ["writing", "keeping", "kept"])
def test_a_killed_drafting_is_resumed_without_asking_twice(place: str, tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b"], reply=asked_of) as server:
        killed(drafting, tmp_path, server.url, place)
        asked = len(server.requests_to("chat"))
        with opened(tmp_path, server.url) as engine:
            assert len(engine.drafting.list()) == (6 if place == "kept" else 0)
            found, ended = resumed(engine)
            assert (found.kind, found.title, ended.state, ended.fault) == ("draft", "own", "done", None)
            assert [item.draft.id for item in engine.drafting.list("own")] == list(ended.added)
            assert len(ended.added) == 6
        asked_again = len(server.requests_to("chat")) - asked
        # Two are asked at a time: one reply may have been on its way.
        assert asked_again == 0 if place != "writing" else 6 - asked <= asked_again <= 4


def pulling(say: Say, folder: Path, url: str) -> None:
    with opened(folder, url) as engine:
        engine.host.start_pull(SMALL)
        until(lambda: engine.host.pulls()[0], lambda status: status.done > 0)
        say("there")
        threading.Event().wait()


def test_a_killed_download_of_a_model_continues_where_it_was(tmp_path: Path) -> None:
    gate = Gate()
    with OllamaStandIn([], registry=[SMALL]) as server:
        server.script("pull", Slow(gate=gate))
        gate.allow(4)
        killed(pulling, tmp_path, server.url)
        server.wait_for(lambda seen: seen.requests_to("pull")[0].aborted)
        with opened(tmp_path, server.url) as engine:
            assert [item.state for item in engine.host.pulls()] == ["interrupted"]
            found, ended = resumed(engine)
            assert (found.kind, found.title, ended.state, ended.fault) == ("pull", SMALL, "done", None)
            assert [model.name for model in engine.host.models(fresh=True)] == [SMALL]


def embedding(say: Say, folder: Path) -> None:
    """Embed a collection into another one, and stall at the twelfth batch."""
    honest, batches = HashingEmbedder.embed_passages, []

    async def counted(self: HashingEmbedder, texts: Any) -> Any:
        if texts:
            batches.append(len(texts))
            if len(batches) == 12:
                say("there")
                threading.Event().wait()
        return await honest(self, texts)

    with opened(folder) as engine:
        engine.ingest(MANY, "own")
        HashingEmbedder.embed_passages = counted  # type: ignore[method-assign]
        engine.ingestions.wait(engine.ingestions.start_reembed("own", "other", "hashing"))


def test_a_killed_reembedding_is_resumed_and_copies_every_passage(tmp_path: Path) -> None:
    killed(embedding, tmp_path)
    with opened(tmp_path) as engine:
        found, ended = resumed(engine)
        assert (found.kind, ended.state, ended.fault) == ("reembed", "done", None)
        for source in ("a.md", "b.md", "c.md"):
            assert engine.passages("other", source) == engine.passages("own", source) != []
        assert 0 < found.done < found.total == ended.done
