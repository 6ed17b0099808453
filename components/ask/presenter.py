"""A recorded run on a stage: the workflow picture, one sentence a step, and a bar to play, step and scrub.

Every moment is the fold of the events up to it, drawn as a live run is, so that it looks as it did to a person who
watched the run. Nothing is executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from components.ask.admitted import admits_text
from components.ask.live_view import PICTURE_SCRIPT, plan_of
from components.ask.what_if_text import consequence_text
from components.common.amounts import beginning
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import box, draw, nothing
from components.common.phrases import begun, inequality_text, section_text
from components.labels import DEMO_NAMES
from components.picture.drawing import Paint, painted, shapes_of
from components.picture.picture import picture_of
from components.sentences.rounds import round_names
from components.sentences.steps import decision_of, sentence
from engine.flow.graph import WorkflowGraph
from engine.messages import N_
from engine.model.events import Event, PassageGraded, fold
from engine.model.values import Candidate, Round, RunId, RunRecord
from engine.replay import WhatIf
from engine.replay.playback import ReplayStep
from engine.samples.demos import all_demos

_MOST_CARDS = 8
_LONGEST_LINE = {"en": 150, "zh": 70}
_LABELS = {
    "label": N_("Replay of the run"),
    "play": N_("Play"),
    "pause": N_("Pause"),
    "previous": N_("Back"),
    "next": N_("Next"),
    "scrub": N_("Replay of the run"),
    "speed": N_("Speed"),
    "keys": N_("← → step · space plays · Home, End"),
}
_OF_ROUND = ("searched", "judged", "checked", "rewritten")
"""Steps that belong to a round."""
_DRAWN = "presenter_drawings"
_SHEET = Path(__file__).parents[1] / "assets" / "present_page.css"

_HTML = """
<section class="wb presenter">
  <p class="sentence"><span class="round"></span><span class="said" role="status" aria-live="polite"></span></p>
  <p class="muted num detail"></p>
  <div class="bar">
    <button type="button" class="back">
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M15 5 8 12l7 7z"/></svg>
    </button>
    <button type="button" class="play">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path class="one" d="M8 5v14l11-7z"/><path class="two" d="M7 5h4v14H7zm6 0h4v14h-4z"/>
      </svg>
    </button>
    <button type="button" class="next">
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="m9 5 7 7-7 7z"/></svg>
    </button>
    <div class="track">
      <input class="scrub" type="range" min="0" max="0" step="1" value="0"><div class="marks"></div>
    </div>
    <span class="place num"></span>
    <select class="speed">
      <option value="0.5">0.5×</option><option value="1" selected>1×</option><option value="2">2×</option>
    </select>
  </div>
  <div class="live"><div class="canvas"></div></div>
  <div class="cards"></div>
  <div class="keys"></div>
</section>
"""

_draw = component(
    "presenter",
    html=_HTML,
    css=script("tokens.css", "workflow_picture.css", "presenter.css"),
    js=script("dom.js", PICTURE_SCRIPT, "presenter.js"),
)


def stage_style() -> None:
    """Make the page a stage: large type, full width, no frame around it."""
    st.html(_SHEET)


def presenter(
    graph: WorkflowGraph,
    record: RunRecord,
    events: Sequence[Event],
    steps: Sequence[ReplayStep],
    words: Words,
    *,
    start: int,
    key: str,
) -> int:
    """Draw a run at its step ``start`` (from 0) and return the step that the viewer has come to.

    ``events`` are those that ``record`` is the fold of, and ``steps`` what ``engine.replay.playback`` makes of them.
    """
    stored = [event for event in events if event.stored]
    labels = {name: words(text) for name, text in _LABELS.items()}
    # The browser fills the places: they change with every step.
    names = round_names(record, words)
    labels["position"] = "{step} / {total}"
    result = _draw(
        key=key,
        data={
            "run": record.id,
            "lang": words.declared.html,
            "drawings": _kept_drawings(graph, record, stored, words),
            "steps": [_step(item, stored, record, names, words) for item in steps],
            "cards": [_cards(item, stored, record, words) for item in record.rounds],
            "start": start,
            "labels": labels,
        },
        on_step_change=nothing,
    )
    shown = result.step
    if isinstance(shown, Mapping) and shown.get("run") == record.id and isinstance(shown.get("step"), int):
        return max(0, min(int(shown["step"]), len(steps) - 1))
    return max(0, min(start, len(steps) - 1))


def demo_buttons(words: Words, *, current: str = "") -> RunId | None:
    """Draw a button for each recorded demo in the language of the page; the id of the one pressed.

    With a demo open (``current``) the buttons are without tooltips, which would cover the stage.
    """
    picked = None
    for demo in all_demos():
        if demo.language != words.declared.closest:
            continue
        look: Any = "primary" if demo.id == current else "secondary"
        name = words(DEMO_NAMES[demo.scenario])
        hint = None if current else demo.question
        if st.button(name, key=f"demo_{demo.scenario}", help=hint, type=look):
            picked = demo.id
    return picked


def what_if_slider(record: RunRecord, words: Words, *, key: str) -> tuple[float, int]:
    """Draw the slider of the run's own gate; the pass threshold and the count of passages that it stands for."""
    config = record.config
    if config.gate == "min_relevant":
        chosen = st.slider(words("Min. relevant passages"), 1, 20, config.min_relevant, key=key)
        return config.grade_pass_threshold, chosen
    own = round(config.grade_pass_threshold * 100)
    label = words("Min. pass rate")
    share = st.slider(label, 0, 100, own, key=key, format=words("{n} %", n="%d") + "%")
    return (config.grade_pass_threshold if share == own else share / 100), config.min_relevant


def what_if_stage(given: WhatIf, record: RunRecord, words: Words, *, key: str) -> None:
    """Draw what the slider's bar would have done, and below it what an answer would rest on that was held back."""
    st.markdown(what_if_line(given, record, words))
    if given.admits:
        draw((box("warn", "!", admits_text(given.admits, words)),), words, key=key)


def what_if_line(given: WhatIf, record: RunRecord, words: Words) -> str:
    """Describe the effect of the slider's threshold, or its purpose where it equals the run's own."""
    if given.config == record.config:
        return words("Move a setting: its effect shows here.")
    said = consequence_text(given, record, words)
    return f"**{begun(said[2:])}" if said.startswith("**") else begun(said)


def _kept_drawings(graph: WorkflowGraph, record: RunRecord, events: Sequence[Event], words: Words) -> Mapping[str, Any]:
    """:func:`_drawings`, made once for a run: the page is drawn again at every step."""
    key = (record.id, record.last_seq, words.language)
    kept: tuple[object, Mapping[str, Any]] | None = st.session_state.get(_DRAWN)
    if kept is None or kept[0] != key:
        kept = (key, _drawings(graph, events, words))
        st.session_state[_DRAWN] = kept
    return kept[1]


def _drawings(graph: WorkflowGraph, events: Sequence[Event], words: Words) -> dict[str, Any]:
    """By width of the stage the shapes of the picture, and for each event what it changes in them."""
    plans = {name: plan_of(graph, name) for name in ("wide", "narrow")}
    before: dict[str, Paint] = {name: {} for name in plans}
    moments: dict[str, list[Paint]] = {name: [] for name in plans}
    record = None
    for event in events:
        record = fold(record, event)
        picture = picture_of(graph, record, words)
        for name, plan in plans.items():
            paint = painted(plan, picture)
            moments[name].append({part: now for part, now in paint.items() if before[name].get(part) != now})
            before[name] = paint
    return {name: {"shapes": shapes_of(plan, words).plain(), "moments": moments[name]} for name, plan in plans.items()}


def _step(
    step: ReplayStep, events: Sequence[Event], record: RunRecord, names: Mapping[int, str], words: Words
) -> dict[str, Any]:
    asked = step.kind in ("asked", "ended")
    decision = decision_of(step, record)
    return {
        "end": sum(event.seq <= step.seq for event in events) - 1,
        "node": step.node,
        "sentence": sentence(step, record, words),
        "detail": inequality_text(decision, words) if decision is not None and decision.comparisons else "",
        "head": begun(names.get(step.round, "")) if step.kind in _OF_ROUND else "",
        "cards": None if asked else step.round,
    }


def _cards(current: Round, events: Sequence[Event], record: RunRecord, words: Words) -> dict[str, Any]:
    """The passages that went to the grader, best first; on a stage a few are enough."""
    kept = [item for item in current.candidates if item.gate == "kept"]
    left = len(kept) - _MOST_CARDS
    judged = {
        event.passage_id: place
        for place, event in enumerate(events)
        if isinstance(event, PassageGraded) and event.round == current.index
    }
    return {
        "shown": [_card(item, judged.get(item.passage.id), current, record, words) for item in kept[:_MOST_CARDS]],
        "more": words("and {n} more", n=left) if left > 0 else "",
    }


def _card(
    item: Candidate, judged: int | None, current: Round, record: RunRecord, words: Words
) -> dict[str, str | int | None]:
    passage, verdict = item.passage, current.verdicts.get(item.passage.id)
    look, chip = "grey", ""
    if verdict is not None and verdict.relevant is None:
        look, chip = "warn", f"? {words('unreadable')}"
    elif verdict is not None:
        passed = verdict.passes(record.config.min_confidence)
        look, chip = ("pass", f"✓ {words('passed')}") if passed else ("grey", f"✗ {words('not passed')}")
    title = section_text(passage.section, words) or passage.title or passage.source
    line = _first_line(passage.text)
    return {"id": passage.id, "title": title, "line": line, "look": look, "chip": chip, "judged": judged}


def _first_line(text: str) -> str:
    """The beginning of a passage; a Han character is about twice as wide as a Latin letter."""
    from engine.model.language import language_of

    return beginning(text, _LONGEST_LINE["zh" if language_of(text) == "zh" else "en"])
