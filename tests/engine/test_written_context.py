"""Sentences of context by a chat model: ingestion and re-embedding write them, and nothing is asked twice (BE-04)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import InvalidConfig
from engine.knowledge.items import IngestItem
from engine.knowledge.kept_replies import KeptReplies
from engine.llm.sizes import estimate_tokens
from engine.model.config import RunConfig
from engine.settings import Settings
from tests.contracts.chat_models import fenced
from tests.support.errors import raises
from tests.support.forks import killed_at_the_end
from tests.support.gates import PATIENCE_S
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest, ServerError

CHAT = "ollama:qwen3:8b"
NAMES = ("host", "port", "open", "proxy", "hmr")
ITEMS = tuple(
    IngestItem(
        f"{source}.md",
        data="\n\n".join(
            f"# {source}\n\n## server.{name}\n\nDefault: {source} {place}." for place, name in enumerate(NAMES)
        ).encode(),
    )
    for source in ("vite", "webpack")
)
REFUSED = "proxy"


def described(request: RecordedRequest) -> str:
    """Says what a setting of a server is, of every one but the proxy."""
    heading = fenced("headings", str(request.messages[1]["content"]))[0].splitlines()[0]
    sentence = "I cannot say." if REFUSED in heading else f"What a development server does for {heading}."
    return json.dumps({"sentence": sentence})


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"], reply=described) as running:
        yield running


def opened(folder: Path, url: str) -> Engine:
    return Engine.open(Settings(data_dir=folder, ollama_url=url, embedding_model="hashing"))


def ended(engine: Engine, job: str, state: str = "done") -> str:
    status = engine.ingestions.wait(job, PATIENCE_S)
    assert (status.state, status.fault and status.fault.code) == (state, None if state == "done" else "WB403")
    return job


def sentences(engine: Engine, collection: str) -> dict[str, str]:
    found = [item for source in ("vite.md", "webpack.md") for item in engine.passages(collection, source)]
    assert all(item.written not in item.text for item in found if item.written)
    return {item.id: item.written for item in found}


def calls(server: OllamaStandIn) -> int:
    return len(server.requests_to("chat"))


def test_files_go_in_with_sentences_that_are_searched_recorded_and_no_part_of_the_text(
    server: OllamaStandIn, tmp_path: Path
) -> None:
    with opened(tmp_path, server.url) as engine:
        job = ended(engine, engine.ingestions.start(ITEMS, "own", context="written", context_model=CHAT))
        written = sentences(engine, "own")
        assert sum(map(bool, written.values())) == 8 == 2 * (len(NAMES) - 1)
        assert engine.ingestions.job(job).unreadable == 2
        info = engine.describe("own")
        assert (info.context, info.context_model) == ("written", CHAT)
        (found, *_) = engine.library.search("own", "development", 5, method="full_text")
        assert "development" not in found.passage.text and "development" in found.passage.written
        record = engine.run("What is the default of server.port?", replace(RunConfig(), collection="own"))
        assert (record.manifest["context"], record.manifest["context_model"]) == ("written", CHAT)
        assert any(item.written == written[item.id] != "" for item in record.passages.values())
        before = calls(server)
        more = IngestItem("more.md", data=b"# more\n\n## server.cors\n\nDefault: on.")
        ended(engine, engine.ingestions.start([more], "own"))
        assert engine.passages("own", "more.md")[0].written and calls(server) == before + 1


def test_a_collection_gets_sentences_keeps_them_under_another_model_and_loses_them_without(
    server: OllamaStandIn, tmp_path: Path
) -> None:
    with opened(tmp_path, server.url) as engine:
        engine.ingest(ITEMS, "own", context="path")
        assert not any(sentences(engine, "own").values())
        price = engine.ingestions.context_price("own", CHAT)
        assert (price.model, price.calls, price.seconds) == (CHAT, 10, None) and 2_000 < price.tokens < 10_000
        start = engine.ingestions.start_reembed
        ended(engine, start("own", "copy", "hashing", switch=True, context="written", context_model=CHAT))
        written, asked = sentences(engine, "own"), calls(server)
        sent = [
            sum(map(estimate_tokens, (item["content"] for item in request.messages[:2])))
            for request in server.requests_to("chat")
        ]
        assert abs(price.tokens / sum(sent[:10]) - 1) < 0.1
        assert sum(map(bool, written.values())) == 8 and engine.describe("own").context == "written"
        ended(engine, start("own", "same", "hashing"))
        # Only those that were refused are asked for again: no sentence of theirs is there to keep.
        assert sentences(engine, "same") == written and calls(server) - asked == 2 * 2
        ended(engine, start("own", "bare", "hashing", context="path"))
        assert not any(sentences(engine, "bare").values())
        assert engine.describe("bare").context_model == ""


def test_a_model_that_fails_ends_the_job_which_resumes_without_asking_twice(
    server: OllamaStandIn, tmp_path: Path
) -> None:
    with opened(tmp_path, server.url) as engine:
        engine.ingest(ITEMS, "own")
        server.script("chat", *[ServerError()] * 40)
        job = engine.ingestions.start_reembed("own", "copy", "hashing", context="written", context_model=CHAT)
        status = engine.ingestions.wait(job, PATIENCE_S)
        assert status.state == "failed" and status.fault is not None and status.fault.remedy
        server.forget_script("chat")
        engine.ingestions.resume(job)
        ended(engine, job)
        assert sum(map(bool, sentences(engine, "copy").values())) == 8


def describing(say: Callable[[str], None], folder: Path, url: str) -> None:
    """Re-embed with sentences, and stall when the seventh was kept."""
    honest, count = KeptReplies.keep, []

    def keep(replies: KeptReplies, key: str, *values: object) -> None:
        honest(replies, key, *values)
        count.append(key)
        if len(count) == 7:
            say("there")
            threading.Event().wait()

    with opened(folder, url) as engine:
        engine.ingest(ITEMS, "own")
        KeptReplies.keep = keep  # type: ignore[method-assign, assignment]
        start = engine.ingestions.start_reembed
        engine.ingestions.wait(start("own", "copy", "hashing", context="written", context_model=CHAT))


def test_a_killed_job_is_resumed_and_asks_for_no_sentence_twice(server: OllamaStandIn, tmp_path: Path) -> None:
    with killed_at_the_end(describing, tmp_path, server.url) as heard:
        assert heard.poll(PATIENCE_S) and heard.recv() == "there"
    asked = calls(server)
    with opened(tmp_path, server.url) as engine:
        (found,) = engine.jobs.all()
        engine.jobs.resume(found.id)
        ended(engine, found.id)
        assert sum(map(bool, sentences(engine, "copy").values())) == 8
        assert engine.ingestions.job(found.id).unreadable == 2
    # Of ten, seven were kept; a refusal is asked for a second time.
    assert asked >= 7 and calls(server) - asked <= 3 + 2


def test_only_a_chat_model_writes(tmp_path: Path) -> None:
    with opened(tmp_path, "http://127.0.0.1:1") as engine:
        with raises(InvalidConfig.no_context_writer):
            engine.library.create("empty", context="written")
        assert engine.library.create("empty", context="written", context_model=CHAT).context_model == CHAT
        with raises(InvalidConfig.no_context_writer, match="builtin"):
            engine.ingestions.start(ITEMS, "own", context="written")
        engine.ingest(ITEMS, "own", context="path")
        with raises(InvalidConfig.no_context_writer):
            engine.ingestions.start_reembed(
                "own", "copy", "hashing", context="written", context_model="cross_encoder:x"
            )
        with raises(InvalidConfig.other_context):
            engine.ingestions.start(ITEMS, "own", context="written", context_model=CHAT)
