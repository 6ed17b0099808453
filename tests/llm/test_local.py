"""Models in GGUF files, run by llama.cpp: tiny ones that are made here, in real processes."""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import ModelError, ModelInterrupted, TextTooLong
from engine.llm import local
from engine.llm.chat import ChatModel, Said
from engine.llm.embedder import make_embedder
from engine.llm.grader import ChatGrader
from engine.llm.scorers import scorer_of
from engine.model.config import RoleModel
from engine.model.values import Message
from engine.roles import SILENT
from engine.settings import Settings
from tests.support.errors import raises
from tests.support.gates import until
from tests.support.loop_fakes import passage
from tests.support.tiny_gguf import CONTEXT, WIDTH, WORDS, write_chat, write_embedder, write_gguf, write_reranker

CHAT, EMBED, RANK = "local:chat.gguf", "local:embed.gguf", "cross_encoder:rank.gguf"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_chat(folder / "models/chat.gguf")
    write_embedder(folder / "models/embed.gguf")
    write_reranker(folder / "models/rank.gguf")
    return folder


@pytest.fixture
def settings(files: Path) -> Iterator[Settings]:
    yield (given := Settings(data_dir=files))
    local.stop_all(given)
    local._all.clear()


def say(settings: Settings, text: str = "Is it so?", *, tokens: int = 4) -> Said:
    chat = ChatModel(RoleModel(CHAT), settings, "generator", think=False, reply_tokens=tokens)
    return asyncio.run(chat.say((Message("user", text),), SILENT, lambda _: None))


def child_of(settings: Settings, name: str) -> int:
    (running,) = [item for (_, path), item in local._all.items() if path.name == name]
    assert running._process is not None
    return running._process.child.pid


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_file_says_what_its_model_can_do_and_what_it_needs(settings: Settings) -> None:
    chat, embed, rank = local.local_models(settings)
    assert [model.kind for model in (chat, embed, rank)] == ["chat", "embedding", "scores"]
    assert [model.role_name for model in (chat, embed, rank)] == [CHAT, EMBED, RANK]
    assert (chat.architecture, chat.licence, chat.context_length, chat.embedding_length) == (
        "llama",
        "apache-2.0",
        CONTEXT,
        WIDTH,
    )
    # Two vectors of 16-bit numbers for each of two heads of half the width.
    assert chat.token_bytes == 2 * 2 * WIDTH
    usual = RoleModel().num_ctx * local.SLOTS
    assert chat.needs == chat.size + usual * chat.token_bytes + local._OVERHEAD
    assert chat.loaded is None and chat.fault is None


def test_a_chat_model_of_a_file_writes_and_its_memory_is_shown(settings: Settings) -> None:
    said = say(settings)
    assert said.text.startswith(WORDS)
    assert said.prompt_tokens and said.reply_tokens == 4
    loaded = local.local_models(settings)[0].loaded
    assert loaded is not None and (loaded > 10_000_000 or not Path("/proc").exists())


def test_the_process_gives_the_probabilities_of_words_to_who_has_its_key(settings: Settings) -> None:
    async def asked() -> tuple[int, list[str]]:
        async with local.serving(CHAT, settings, "chat") as server, httpx.AsyncClient() as client:
            body = {"messages": [{"role": "user", "content": "So?"}], "max_tokens": 1, "logprobs": True}
            post = partial(client.post, f"{server.address}/chat/completions", json={**body, "top_logprobs": 6})
            refused = await post()
            given = await post(headers={"Authorization": f"Bearer {server.key}"})
            first = given.json()["choices"][0]["logprobs"]["content"][0]
            return refused.status_code, [item["token"] for item in first["top_logprobs"]]

    status, words = asyncio.run(asked())
    assert status == 401
    assert {*words} == {*WORDS}


def test_an_embedder_of_a_file_gives_vectors_and_cuts_nothing(settings: Settings) -> None:
    embedder = make_embedder(EMBED, settings)

    async def embedded() -> tuple[np.ndarray, np.ndarray]:
        rows = await embedder.embed_passages([f"text {number}" for number in range(20)])
        with pytest.raises(TextTooLong):
            await embedder.embed_query("word " * local.TEXT_TOKENS)
        return rows, await embedder.embed_query("text 7")

    rows, seventh = asyncio.run(embedded())
    assert rows.shape == (20, WIDTH) and embedder.dim == WIDTH
    assert int(np.argmax(rows @ seventh)) == 7


def test_a_reranker_of_a_file_scores_each_text_apart_from_the_others(settings: Settings) -> None:
    scorer = scorer_of(RoleModel(RANK), settings)

    async def scored() -> tuple[list[float], list[float]]:
        return list(await scorer.score("1 2", ["1 2", "7 8 9"])), list(await scorer.score("1 2", ["7 8 9"]))

    both, alone = asyncio.run(scored())
    assert both[0] != both[1]
    assert both[1] == pytest.approx(alone[0], abs=1e-3)
    # As its calls are recorded, so they are foretold.
    assert scorer.scale == "logit" and scorer.in_process is RoleModel(RANK).in_process is False


def test_a_process_that_is_killed_fails_its_call_and_the_next_call_starts_another(settings: Settings) -> None:
    chat = ChatModel(RoleModel(CHAT), settings, "generator", think=False, reply_tokens=7000)

    def kill(_: str) -> None:
        os.kill(child_of(settings, "chat.gguf"), signal.SIGKILL)

    with pytest.raises(ModelInterrupted) as raised:
        asyncio.run(chat.say((Message("user", "Go on."),), SILENT, kill))
    assert raised.value.params["why"] == "it ended with -9."
    assert say(settings).text.startswith(WORDS)


def test_a_file_that_is_replaced_is_not_answered_for_by_the_one_before(settings: Settings, tmp_path: Path) -> None:
    """BE-03: a run names the digest of the file that is there, and verdicts are kept under it."""
    own, path = Settings(data_dir=tmp_path), tmp_path / "models/chat.gguf"
    shutil.copytree(settings.data_dir / "models", path.parent)
    say(own)
    former = child_of(own, "chat.gguf")
    say(own)
    assert child_of(own, "chat.gguf") == former
    shutil.copy(path, tmp_path / "newer.gguf")
    (tmp_path / "newer.gguf").replace(path)
    say(own)
    assert gone(former) and child_of(own, "chat.gguf") != former
    local.stop_all(own)


def test_a_process_that_dies_again_and_again_is_left_alone_for_a_while(settings: Settings) -> None:
    for _ in range(3):
        say(settings)
        os.kill(child_of(settings, "chat.gguf"), signal.SIGKILL)
        until(lambda: local.local_models(settings)[0].loaded is None)
    with pytest.raises(ModelError) as raised:
        say(settings)
    assert raised.value.code == "WB429"


def test_a_process_that_is_ended_while_it_is_loading_is_no_death(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = local._asked

    def asked_and_ended(child: subprocess.Popen[bytes], *request: Any) -> tuple[bytes, bool]:
        local.stop("chat.gguf", settings)
        return usual(child, *request)

    with monkeypatch.context() as patched:
        patched.setattr(local, "_asked", asked_and_ended)
        for _ in range(local._DEATHS):
            with raises(ModelError.local_unloaded):
                say(settings)
    assert say(settings).text.startswith(WORDS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
def test_a_process_ends_with_the_app_even_when_that_is_killed(files: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from engine.llm import local\nfrom engine.settings import Settings\n"
        "async def go():\n"
        f"    async with local.serving({CHAT!r}, Settings(data_dir=Path(sys.argv[1])), 'chat'):\n"
        "        print(next(iter(local._all.values()))._process.child.pid, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(go())"
    )
    app = subprocess.Popen([sys.executable, "-c", program, str(files)], stdout=subprocess.PIPE)
    assert app.stdout is not None
    child = int(app.stdout.readline())
    assert not gone(child)
    app.kill()
    app.communicate(timeout=60)
    until(lambda: gone(child))
    assert app.returncode == -9


def test_a_process_ends_with_its_engine(files: Path) -> None:
    settings = Settings(data_dir=files)
    with Engine.open(settings) as engine:
        assert engine.host.try_model(CHAT).fault is None
        child = child_of(settings, "chat.gguf")
        assert not gone(child)
        engine.host.unload(CHAT)
        until(lambda: gone(child))
        assert engine.host.try_model(CHAT).fault is None
        child = child_of(settings, "chat.gguf")
    until(lambda: gone(child))
    assert local.local_models(settings)[0].loaded is None


def test_a_grader_of_a_file_judges_by_the_probability_of_its_first_token(settings: Settings) -> None:
    grader = ChatGrader(RoleModel(CHAT), settings)
    passages = [passage("a", text="A tree has n - 1 edges."), passage("b", text="Keep insulin in a refrigerator.")]
    verdicts = asyncio.run(grader.grade("How many edges has a tree?", passages))
    assert [verdict.kind for verdict in verdicts] == ["token", "token"]
    assert verdicts[0].raw != verdicts[1].raw


def test_a_process_ends_after_a_while_without_calls(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "IDLE_S", 0.05)
    say(settings)
    until(lambda: local.local_models(settings)[0].loaded is None)
    assert say(settings).text.startswith(WORDS)


def test_a_call_with_a_longer_context_starts_a_larger_process(settings: Settings) -> None:
    async def address(context: int) -> str:
        async with local.serving(CHAT, settings, "chat", context) as server:
            return server.address

    async def both() -> tuple[str, str, str]:
        return await address(1024), await address(512), await address(2048)

    first, same, other = asyncio.run(both())
    assert first == same != other


def test_more_calls_than_can_wait_are_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "MOST_WAITING", 1)

    async def hold(release: asyncio.Event) -> None:
        async with local.serving(CHAT, settings, "chat"):
            await release.wait()

    async def crowd() -> str:
        release = asyncio.Event()
        calls = [asyncio.create_task(hold(release)) for _ in range(local.SLOTS + 2)]
        done, _ = await asyncio.wait(calls, timeout=60, return_when=asyncio.FIRST_EXCEPTION)
        release.set()
        await asyncio.wait(calls, timeout=60)
        (refused,) = (call.exception() for call in done)
        assert isinstance(refused, ModelError)
        return refused.code

    assert asyncio.run(crowd()) == "WB430"


def test_a_model_that_does_not_fit_the_memory_is_not_loaded(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "free_memory", lambda: 100_000_000)
    with pytest.raises(ModelError) as raised:
        say(settings)
    assert raised.value.code == "WB428"
    assert raised.value.params["free"] == "100"


@pytest.mark.parametrize("keep", [2, 400, 3000, 104_000], ids=["magic", "header", "tokens", "last-tensor"])
def test_a_file_that_is_cut_off_is_refused_with_a_remedy(settings: Settings, tmp_path: Path, keep: int) -> None:
    whole = (settings.data_dir / "models/chat.gguf").read_bytes()
    path = tmp_path / "chat.gguf"
    path.write_bytes(whole[:keep])
    # The file of the setting stands before the one of the folder.
    with pytest.raises(ModelError) as raised:
        say(Settings(data_dir=settings.data_dir, model_file=str(path)))
    assert raised.value.code == "WB427"


@pytest.mark.parametrize(
    "about",
    [{"llama.context_length": math.inf}, {"llama.attention.head_count_kv": ["a", "b"]}, None],
    ids=["endless", "words for numbers", "lists in lists"],
)
def test_a_file_with_senseless_values_hides_no_other_one(
    settings: Settings, tmp_path: Path, about: dict[str, float | list[str]] | None
) -> None:
    shutil.copytree(settings.data_dir / "models", tmp_path / "models")
    odd = tmp_path / "models/odd.gguf"
    if about is None:
        nested = struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"a", 9) + struct.pack("<IQ", 9, 1) * 3000
        odd.write_bytes(b"GGUF" + nested)
    else:
        write_gguf(odd, {"general.architecture": "llama", **about}, {})
    found = {model.name: model.fault and model.fault.code for model in local.local_models(Settings(data_dir=tmp_path))}
    assert found == {"chat.gguf": None, "embed.gguf": None, "odd.gguf": "WB427", "rank.gguf": None}


def test_a_file_of_another_kind_is_refused_before_it_is_loaded(settings: Settings) -> None:
    with pytest.raises(ModelError) as raised:
        asyncio.run(make_embedder(CHAT, settings).embed_query("a"))
    assert raised.value.fact == "The model in the file of local:chat.gguf is of another kind."
    assert local.local_models(settings)[0].loaded is None


def test_a_file_that_is_not_here_is_named_with_its_folder(settings: Settings) -> None:
    with pytest.raises(ModelError) as raised:
        asyncio.run(make_embedder("local:no.gguf", settings).embed_query("a"))
    assert raised.value.params["folder"].endswith("models")


def test_without_its_package_the_command_that_installs_it_is_said(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError) as raised:
        say(settings)
    assert raised.value.code == "WB406"
    assert "xllamacpp langchain-openai" in raised.value.remedy


def test_the_digest_of_a_file_is_that_of_its_bytes(settings: Settings) -> None:
    import hashlib

    whole = (settings.data_dir / "models/chat.gguf").read_bytes()
    assert local.digest_of(CHAT, settings) == f"sha256:{hashlib.sha256(whole).hexdigest()}"
    assert local.digest_of("local:no.gguf", settings) == ""
