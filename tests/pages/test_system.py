"""The page System with a made-up machine: every part of it, its presses, its address, and what a newcomer sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.llm.discovery import OllamaStatus
from engine.model.system import CatalogueModel, LocalModel, ModelTrial, PartHealth
from engine.model.values import Fault
from pages.parts.system import files, ollama
from pages.parts.system import health as system_hint
from pages.parts.system import models as system_models
from pages.parts.system.ollama import FIRST, ModelEvent
from tests.pages.driving import button, given, inline, opened, setting, visible
from tests.support.fake_host import CHAT, EMBEDDING, HOSTILE, NOT_THERE, BrokenHost, FakeHost, sound_parts

EN, ZH = words_for("en"), words_for("zh")
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
Give = Callable[[FakeHost], FakeHost]


@pytest.fixture
def give(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Give:
    """Puts a machine under the engine; Ollama answers where that machine has models."""

    def put(host: FakeHost) -> FakeHost:
        monkeypatch.setattr(engine, "host", host)
        monkeypatch.setattr(engine, "ollama", lambda fresh=False: status(host))
        monkeypatch.setattr(system_hint, "_last", system_hint._Last())
        return host

    return put


def status(host: FakeHost) -> OllamaStatus:
    if not host.installed:
        return OllamaStatus(False, "http://127.0.0.1:1", fault=NOT_THERE)
    model = replace(host.installed[0], capabilities=("chat",))
    return OllamaStatus(True, "http://127.0.0.1:11434", "0.9.0", (model,))


def played_by(app: AppTest, model: str) -> AppTest:
    """The page with a model chosen for the grader."""
    app.session_state["grader"] = model
    app.run()
    assert not app.exception, app.exception
    return app


@LANGUAGES
def test_a_newcomer_without_ollama_sees_that_all_is_well_and_how_to_get_it(give: Give, language: UiLanguage) -> None:
    give(FakeHost())
    words = words_for(language)
    app = opened("system", language)
    assert words("Everything in use works.") in inline(app)
    assert f"{words('not set up').capitalize()} (2)" in inline(app)
    app = opened("system", language, part="models")
    shown = inline(app)
    for said in (
        words("No Ollama answers here. Built-in models work without it; with it, language models can take over."),
        "ollama serve",
        "ollama pull qwen3:8b",
        "install.sh",
    ):
        assert said in shown
    assert given(app, "part") == "models"
    assert words("Other providers") in visible(app)


def test_where_ollama_has_no_model_two_are_offered(give: Give, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    give(FakeHost())
    empty = OllamaStatus(True, "http://127.0.0.1:11434", "0.9.0", ())
    monkeypatch.setattr(engine, "ollama", lambda fresh=False: empty)
    shown = inline(opened("system", part="models"))
    assert "It has no model yet." in shown
    assert all(f"{EN('Pull')} {name}" in shown for name in FIRST)


def test_what_does_not_work_comes_first_with_its_remedy(give: Give) -> None:
    fault = replace(NOT_THERE, remedy="Start Ollama with `ollama serve`.", params={"command": "ollama serve"})
    give(FakeHost(parts=(*sound_parts(), PartHealth("connection", "down", {}, fault, "wiki", 12.0))))
    shown = inline(opened("system"))
    assert "Not working: Connected wiki" in shown
    assert shown.index("Connected wiki", shown.index("parts card")) < shown.index("Knowledge base")
    assert "ollama serve" in shown


def test_checking_again_looks_again(give: Give) -> None:
    host = give(FakeHost())
    app = opened("system")
    before = host.calls.count("health")
    button(app, lambda label: label == EN("Check again")).click().run()
    assert host.calls.count("health") == before + 1


def test_a_machine_of_which_nothing_can_be_learned_is_said_so(give: Give) -> None:
    give(BrokenHost())
    app = opened("system")
    assert "The engine is closed." in inline(app)


def test_the_navigation_says_when_something_needed_is_down(give: Give, engine: Engine) -> None:
    host = give(FakeHost(parts=(PartHealth("disk", "down", {}, NOT_THERE),)))
    system_hint.note_parts(engine, host.parts)
    assert system_hint.trouble(engine)
    assert "health" not in host.calls, "what is known is not asked again"
    links = [item.proto.label for item in opened().get("page_link")]
    assert EN("System: something needs attention") in links, "and so does the corner, where the navigation is folded"
    system_hint.note_parts(engine, sound_parts())
    assert not system_hint.trouble(engine)
    assert EN("System: something needs attention") not in [item.proto.label for item in opened().get("page_link")]


def test_each_part_of_the_page_has_an_address_and_an_unknown_one_is_health(give: Give) -> None:
    give(FakeHost(installed=(CHAT,)))
    for part in ("models", "settings", "programs", "diagnosis"):
        app = opened("system", part=part)
        assert given(app, "part") == part
        assert not app.exception
    assert EN("Everything in use works.") in inline(opened("system", part="<script>"))


@pytest.mark.parametrize("part", ["speed", "self_test", "people"])
def test_the_address_of_a_part_that_is_not_here_says_so(give: Give, part: str) -> None:
    give(FakeHost())
    app = opened("system", part=part)
    said = EN("This link names a part of System that is not here.")
    assert said in visible(app) and EN("Everything in use works.") in inline(app)
    assert said not in visible(opened("system"))


def test_roles_are_chosen_here_and_count_on_the_workbench(give: Give) -> None:
    give(FakeHost(installed=(CHAT, EMBEDDING)))
    app = opened("system", "zh", part="models")
    setting(app, "grader").set_value("ollama:qwen3:8b").run()
    assert ZH("not loaded") in visible(app)
    app.switch_page("workbench.py").run()
    assert setting(app, "grader").value == "ollama:qwen3:8b"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("builtin", ""),
        ("ollama:qwen3:8b", "not loaded"),
        ("ollama:missing:1b", "model missing"),
        ("ollama:nomic-embed-text:latest", "cannot chat"),
        ("anthropic:claude", "not set up"),
        ("openai:local", ""),
    ],
)
def test_a_role_says_what_its_model_lacks(model: str, said: str) -> None:
    host = FakeHost(installed=(CHAT, EMBEDDING))
    assert system_models.role_state(model, system_models.Seen(status(host), host.installed, host.providers())) == said


def test_the_table_of_models_says_what_each_is(give: Give) -> None:
    give(FakeHost(installed=(CHAT, replace(EMBEDDING, loaded=True, vram=274_302_450))))
    shown = inline(opened("system", part="models"))
    for said in ("8.2B · Q4_K_M", "40,960 tokens", "801dcad02f38", "4.9 GB", "768 dimensions", "loaded · 262 MB"):
        assert said in shown
    assert "unload:nomic-embed-text:latest" in shown
    assert "unload:qwen3:8b" not in shown


def test_a_model_is_tried_and_its_reply_is_text(give: Give) -> None:
    host = give(FakeHost(installed=(CHAT,)))
    app = played_by(opened("system", part="models"), "ollama:qwen3:8b")
    button(app, lambda label: label == EN("Try")).click().run()
    assert "try ollama:qwen3:8b" in host.calls
    assert HOSTILE.replace('"', '\\"') in inline(app)
    assert HOSTILE not in "".join(str(item.value) for item in app.markdown)
    host.trial = ModelTrial("ollama:qwen3:8b", "", 20.0, fault=NOT_THERE)
    button(app, lambda label: label == EN("Try")).click().run()
    assert "✗ ollama:qwen3:8b" in inline(app)


def test_a_pull_shows_how_far_it_is_and_a_name_that_is_none_is_refused(give: Give) -> None:
    host = give(FakeHost(installed=(CHAT,)))
    app = opened("system", part="models")
    app.text_input(key="pull_name").set_value("qwen3:1.7b")
    button(app, lambda label: label == EN("Pull")).click().run()
    shown = inline(app)
    assert "pull qwen3:1.7b" in host.calls
    assert "40 B of 100 B · 10 B/s · 6.0 s left" in shown
    app.text_input(key="pull_name").set_value("no model")
    button(app, lambda label: label == EN("Pull")).click().run()
    assert "WB611" in inline(app)


def test_settings_are_filtered_and_secrets_stay_dots(give: Give) -> None:
    give(FakeHost())
    app = opened("system", "zh", part="settings")
    shown = inline(app)
    assert "••••••" in shown
    assert "Ollama 的地址。" in shown
    app.text_input(key="settings_q").set_value("token").run()
    assert "WORKBENCH_PORT" not in inline(app)
    app.text_input(key="settings_q").set_value("nothing of that kind").run()
    assert ZH("Nothing matches.") in visible(app)


def test_the_diagnosis_is_shown_as_text_with_one_button_that_copies_it(give: Give) -> None:
    give(FakeHost())
    app = opened("system", part="diagnosis")
    shown = inline(app)
    assert "# Diagnosis" in shown
    assert EN("Copy") in shown
    assert HOSTILE not in "".join(str(item.value) for item in app.markdown)
    assert [item.proto.label for item in app.get("download_button")] == [EN("Download")]


@pytest.mark.parametrize(
    ("press", "call"),
    [
        ("unload", "unload qwen3:8b"),
        ("try", "try ollama:qwen3:8b"),
        ("pull", "pull qwen3:8b"),
        ("stop", "stop qwen3:8b"),
    ],
)
def test_a_press_in_the_table_does_what_it_says(
    give: Give, monkeypatch: pytest.MonkeyPatch, press: str, call: str
) -> None:
    host = give(FakeHost(installed=(replace(CHAT, loaded=True, vram=0),)))
    app = opened("system", part="models")
    assert "loaded · main memory" in inline(app)
    events = [ModelEvent(press, "qwen3:8b")]
    monkeypatch.setattr(ollama, "view", lambda *_, **__: events.pop() if events else None)
    app.run()
    assert not app.exception
    assert call in host.calls


def test_models_in_files_say_what_they_take_and_those_that_can_be_fetched_what_they_are(
    give: Give, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = LocalModel("a.gguf", 2 * 1024**3, "chat", "qwen2", "1.5B", "mit", 4096, 64, 1, needs=3 * 1024**3)
    broken = replace(chat, name="cut.gguf", kind="", fault=Fault("WB427", "It is cut off.", "Fetch it again."))
    loaded = replace(chat, name="b.gguf", loaded=4 * 1024**3)
    offer = CatalogueModel("local:c.gguf", "chat", 5 * 1024**3, "apache-2.0", "en", "x/c", "ab12" * 16, here=False)
    host = give(FakeHost(files=(chat, broken, loaded), offered_files=(offer, replace(offer, name="d", here=True))))
    app = opened("system", part="models")
    shown = inline(app)
    for said in ("local:a.gguf", "needs about 3.0 GB", "loaded · 4.0 GB", "It is cut off.", "Fetch it again."):
        assert said in shown
    for said in ("local:c.gguf", "apache-2.0", "5.0 GB", "sha256 ab12ab12ab12", "pull:local:c.gguf"):
        assert said in shown
    assert "pull:d" not in shown and "try:local:cut.gguf" not in shown
    events = [ModelEvent("pull", "local:c.gguf"), ModelEvent("try", "local:a.gguf")]
    monkeypatch.setattr(files, "view", lambda *_, **__: events.pop() if events else None)
    app.run()
    assert not app.exception
    assert {"try local:a.gguf", "pull local:c.gguf"} <= {*host.calls}


def test_without_the_package_the_command_that_installs_it_is_there(give: Give) -> None:
    give(FakeHost())
    shown = inline(opened("system", part="models"))
    assert "xllamacpp langchain-openai" in shown
    assert "Known to work" not in shown


def test_other_programs_have_a_card_each_with_lines_to_copy(give: Give) -> None:
    give(FakeHost())
    shown = inline(opened("system", "zh", part="programs"))
    assert ZH("Ask a question") in shown
    assert "/api/runs -d" in shown


def test_without_jobs_the_list_leads_to_files_that_make_one(give: Give) -> None:
    """FV-04"""
    give(FakeHost())
    app = opened("system", part="jobs")
    assert EN("Add files") in [item.proto.label for item in app.get("page_link")]
