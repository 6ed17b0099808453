"""The card of OpenTelemetry on the page System."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.model.events import RunFinished
from engine.model.noted_faults import NotedFaults
from engine.model.values import RunId
from engine.samples.demos import demo_record
from engine.settings import Settings
from pages.parts.system.programs import Way
from plugins.telemetry.card import runs_as_spans
from plugins.telemetry.plugin import PLUGIN
from plugins.telemetry.posting import Receiver
from plugins.telemetry.sending import Sources, Telemetry
from tests.api.served import engine_of
from tests.plugins.telemetry.otlp_receiver import OtlpReceiver
from tests.system.hosting import until


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with engine_of(tmp_path) as opened:
        yield opened


def test_the_card_is_in_the_view_of_other_programs() -> None:
    assert set(PLUGIN.panels) == {"programs"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_card_says_where_runs_go_what_they_hold_and_what_is_wrong(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, language: UiLanguage
) -> None:
    """TL-06"""
    words = words_for(language)

    def card() -> Way:
        return runs_as_spans(engine, words)

    assert not card().on
    assert card().turn_on.startswith("WORKBENCH_OTLP_ENDPOINT=")
    with OtlpReceiver() as receiver:
        receiver.answers = [401]
        settings = Settings(otlp_endpoint=receiver.url.replace("//", "//user:hunter2secret@"), otlp_content=True)
        sources = Sources(demo_record, lambda record: False)
        telemetry = Telemetry(settings, sources, NotedFaults(), Receiver.of(settings))
        monkeypatch.setattr(engine, "_parts", (telemetry,))
        telemetry.note(RunId("demo-rescue-en"), RunFinished(outcome="answered", reason="passed"))
        until(telemetry.state, lambda now: now.dropped == 1)
        fault = card().fault
        assert fault is not None and "WORKBENCH_OTLP_HEADERS" in fault.remedy
        telemetry.note(RunId("demo-chain-en"), RunFinished(outcome="answered", reason="passed"))
        until(telemetry.state, lambda now: now.sent == 1)
        shown = card()
        telemetry.close()
    assert (shown.on, shown.fault) == (True, None)
    sent = words.count("1 run sent", "{n} runs sent", 1)
    assert [*shown.facts] == [
        f"`{receiver.url}/v1/traces`",
        words("with content, that of collections limited to groups left out"),
        f"{sent} · {words.count('1 was not taken', '{n} were not taken', 1)}",
    ]
