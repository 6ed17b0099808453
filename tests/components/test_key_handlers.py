"""Scripts of the inline components leave keys alone that an input method needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ASSETS = Path(__file__).resolve().parents[2] / "components" / "assets"
HEARS = re.compile(r"onkey|Listener\(\"key")
LISTENING = sorted(path.name for path in ASSETS.glob("*.js") if HEARS.search(path.read_text("utf-8")))


@pytest.mark.parametrize("name", LISTENING)
def test_every_handler_of_keys_passes_over_those_of_an_input_method(name: str) -> None:
    """Enter and Escape choose or drop what is being composed: ``dom.js`` tells, and stands before every script."""
    text = (ASSETS / name).read_text(encoding="utf-8")
    handlers = len(re.findall(r"\.onkey\w+ =|addEventListener\(\"key", text))
    assert 0 < handlers <= text.count("composing(event)")


def test_composing_is_recognised_by_the_event_or_by_its_code() -> None:
    text = (ASSETS / "dom.js").read_text(encoding="utf-8")
    assert "return event.isComposing || event.keyCode === 229;" in text
    assert LISTENING == [
        "decision_map.js",
        "graph_view.js",
        "graph_view_moves.js",
        "path.js",
        "path_replay.js",
        "presenter.js",
        "tour.js",
        "verdicts.js",
        "workflow_picture.js",
    ]
