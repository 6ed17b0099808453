"""The mode race in the view Loops: one question in every mode of graph + vector retrieval, by a link as well."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.ask.what_if_text import collection_mark
from components.common.i18n import Words
from components.common.markup import Drawer, Node, box, chip, node
from components.common.outcomes import GATES, reason_text
from components.common.phrases import duration_text
from components.common.run_link import run_link
from components.common.url_state import base_path
from components.labels import choices_of
from components.runs.lanes import (
    answer_part,
    at_node,
    notes_on,
    number_grid,
    outcome_chip,
    passage_cell,
    shared_table,
)
from components.sentences.calls import calls_text
from components.workflows.mode_notes import notes_box
from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import first_that, workflow
from engine.messages import N_
from engine.model.config import SETTINGS, Mode, RunConfig
from engine.model.values import Candidate, Comparison, RunRecord, operands
from engine.running.mode_race import MODES, ModeLane, ModeRace, RacedPassage, mode_race
from engine.samples import multi_hop_questions
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.state import aim_at
from pages.parts.runs.run_columns import RunColumns, together_view
from pages.parts.system.health import models_played

_SHOWN_SAMPLES = 3
_PROPOSED = {"en": "What did Best and Macleod do for Banting?", "zh": "贝斯特和麦克劳德是什么关系？"}
FINDINGS = {
    "nothing": N_("Vectors alone kept everything that any mode kept."),
    "unable": N_("No mode could use a graph here; the columns say why."),
    "no_baseline": N_("Without the mode Naive, what only the graph found is unknown."),
    "cut_short": N_("Not every run ended, so they cannot be compared."),
}

_SIGNS = {"cited": ("pass", "✓"), "found": ("plain", "→"), "nothing": ("plain", "→")}
_SNIPPET = 130
_LONG = 260
"""Characters of an answer that stand open in a column as narrow as these."""
_NAMED = 6
"""Entities that a column names; a search that begins from passages may begin from dozens."""

_draw = Drawer("mode_race", "loops.css", "side_by_side.css", "mode_race.css", look="side race")


def modes_view(engine: Engine, words: Words) -> None:
    """The question, the modes, and a column for each."""

    def draw(records: list[RunRecord], active: bool) -> None:
        asked = (engine.instance, [record.id for record in records])
        race = mode_race(records) if active else cached_in_session("race", asked, lambda: mode_race(records))
        mode_race_view(race, words, key="mode_race", base=base_path())

    samples = _samples(words)
    view: RunColumns[Mode] = RunColumns(
        address="race",
        key="race",
        offered={mode: mode_text(mode, words) for mode in MODES},
        config_of=config_of,
        takes=lambda record: workflow(record.workflow).in_modes,
        draw=draw,
        about=lambda collection: _about_graph(engine, collection, words),
        first=samples[0][0],
        samples=samples,
        asked=words("Question"),
        choice=("race_modes", words("Modes")),
        run=(":material/sports_score:", words("Run all")),
        none_chosen=words("Choose at least one."),
        nothing_yet=(":material/sports_score:", words("Ask a question: all of them answer it at once.")),
    )
    together_view(engine, words, view)


def _samples(words: Words) -> list[tuple[str, str]]:
    """Questions that need two passages joined by an entity: they are what a graph is for."""
    own = [item for item in multi_hop_questions() if item.language == words.declared.closest]
    # The recorded demo's question first: the first thing tried should show an answer that the graph helped to.
    chain = _PROPOSED[words.declared.closest]
    return [(chain, "multi_hop"), *((item.question, item.kind) for item in own[: _SHOWN_SAMPLES - 1])]


def _about_graph(engine: Engine, collection: str, words: Words) -> None:
    """Name what is searched, and say if there is no graph."""
    try:
        state = engine.graphs.describe(collection) if engine.ready else None
    except WorkbenchError:
        # Each run says for itself what it could not reach.
        return
    named = collection_mark(collection, words)
    if state is not None or not engine.ready:
        st.caption(words("Each with its defaults and the models chosen on Ask."))
        return
    lacking = words("{collection} has no knowledge graph: modes that need one fall back on vectors.", collection=named)
    with st.container(horizontal=True, vertical_alignment="center", key="race_no_graph"):
        st.caption(f":material/warning: {lacking}", width="content")
        if may("editor") and st.button(
            words("Build its graph"), type="tertiary", icon=":material/hub:", key="race_build"
        ):
            aim_at("graph", collection)
            st.switch_page("knowledge.py")


def config_of(mode: Mode, collection: str) -> RunConfig:
    """The defaults of the workflow in one mode, with the models of the workbench."""
    name = first_that(lambda own: own.in_modes)
    models = models_played(workflow(name).roles)
    usual = get_engine().settings.defaults_of_runs.of(name)
    return replace(usual, mode=mode, collection=collection, models=models)


def mode_race_view(race: ModeRace, words: Words, *, key: str, base: str = "") -> None:
    """Draw what the race showed, a column for each mode, and the passages by mode; ``base`` begins the links."""
    _draw(mode_race_nodes(race, words, base=base), words, key=key)


def mode_race_nodes(race: ModeRace, words: Words, *, base: str = "") -> tuple[Node, ...]:
    """The whole race as trees of text, in reading order."""
    lanes = node("div", "lanes", *(_lane(lane, race, words, base) for lane in race.lanes))
    found = () if race.finding == "running" else (_finding(race, words),)
    return (*found, lanes, *([_passages(race, words)] if race.passages else []))


def mode_text(mode: Mode, words: Words) -> str:
    return words(choices_of("mode")[mode])


def _finding(race: ModeRace, words: Words) -> Node:
    look, sign = _SIGNS.get(race.finding, ("warn", "!"))
    said = [node("strong", "", finding_text(race, words))]
    if race.finding in ("cited", "found"):
        said.append(node("p", "", found_before_text(race, words)))
    said.append(notes_on([lane.record for lane in race.lanes], words))
    return box(look, sign, *said)


def finding_text(race: ModeRace, words: Words) -> str:
    """Describe the benefit of the graph in a sentence with its counts."""
    if race.finding not in ("cited", "found"):
        return words(FINDINGS[race.finding])
    return words.count(
        "The graph added 1 passage to what vectors keep; answers cite {cited}.",
        "The graph added {n} passages to what vectors keep; answers cite {cited}.",
        len(race.led),
        cited=sum(any(name in lane.cited for lane in race.lanes) for name in race.led),
    )


def found_before_text(race: ModeRace, words: Words) -> str:
    """Describe how many of the graph's passages vector searches missed, and where the others were."""
    return words(
        "Found by no vector search: {only}. Found and dropped by vectors alone: {rescued}. Kept by another mode's "
        "vectors: {others}.",
        only=len(race.only_graph),
        rescued=len(race.rescued),
        others=len(race.led) - len(race.only_graph) - len(race.rescued),
    )


def drop_text(item: Candidate, lane: ModeLane, words: Words) -> str:
    """``dropped: similarity · 0.28 < 0.30``."""
    config, said = lane.record.config, words(GATES[item.gate].label)
    if item.gate == "below_threshold":
        left, right = operands(Comparison("pass_rate", item.passage.similarity, "<", config.similarity_threshold))
        return f"{said} · {left} < {right}"
    return f"{said} · {item.rank} > {config.top_k}" if item.gate == "beyond_top_k" else said


def _lane(lane: ModeLane, race: ModeRace, words: Words, base: str) -> Node:
    record = lane.record
    head = node("div", "head", node("strong", "heading", mode_text(lane.mode, words)), outcome_chip(record, words))
    about = node("p", "muted small about", words(SETTINGS["mode"].notes[lane.mode]))
    flag = notes_box(lane.notes, lane.mode, lane.fell_back_to, words)
    link = node("a", "open small", words("Open on Ask"), href=run_link(record.id, record.config, words, base))
    parts = (
        *([flag] if flag else []),
        _now(lane, words),
        _numbers(lane, race, words),
        answer_part(record, words, _LONG),
    )
    return node("section", "card lane", head, about, *parts, link, aria_label=mode_text(lane.mode, words))


def _now(lane: ModeLane, words: Words) -> Node | str:
    """Describe the current step of a run, why it ended early, or that it deliberately searched nothing."""
    record = lane.record
    if record.active:
        return at_node(record, words)
    if lane.skipped:
        return node("p", "small", chip("grey", words("without a search")))
    if record.outcome in ("cancelled", "interrupted") and record.reason:
        return node("p", "muted small", reason_text(record.reason, words))
    return ""


def _numbers(lane: ModeLane, race: ModeRace, words: Words) -> Node:
    record = lane.record
    alone = len(race.unique.get(lane.mode, ()))
    own = words("{n} only here", n=alone) if alone else ""
    rows = [
        ("time", duration_text(record.duration_ms), ""),
        ("calls", calls_text(record, words), ""),
        ("searches", str(lane.searches), ""),
    ]
    if not lane.skipped:
        best = "–" if lane.best_similarity is None else f"{lane.best_similarity:.2f}"
        rows += [
            ("kept", str(len(lane.kept)), own),
            ("passed", str(len(lane.passed)), ""),
            ("best", best, ""),
            ("cited", str(len(lane.cited)), ""),
        ]
    if lane.entities:
        further = len(lane.entities) - _NAMED
        named = words(", ").join(lane.entities[:_NAMED])
        rows.append(("entities", named, f"+{further}" if further > 0 else ""))
    return number_grid(rows, words)


def _passages(race: ModeRace, words: Words) -> Node:
    """Every passage that a mode kept, with its rank there: shared ones first, the graph's own marked."""
    searched = [lane for lane in race.lanes if not lane.skipped]
    names = (mode_text(lane.mode, words) for lane in searched)
    rows = (_row(item, race, searched, words) for item in race.passages)
    return node(
        "section",
        "card",
        node("strong", "heading", words("Passages by mode")),
        node("p", "muted small", words("# rank · ✓ passed · ✗ did not · [1] cited")),
        shared_table(names, rows, words),
    )


def _row(item: RacedPassage, race: ModeRace, lanes: list[ModeLane], words: Words) -> Node:
    passage = item.passage
    chips = []
    if item.by_graph:
        chips.append(chip("accent", words("only the graph")))
    if passage.id in race.shared:
        chips.append(chip("grey", words("in every mode")))
    if item.dropped is not None:
        naive = next(lane for lane in race.lanes if lane.mode == "naive")
        chips.append(chip("grey", drop_text(item.dropped, naive, words)))
    if passage.id not in race.shared and len(item.modes) == 1:
        chips.append(chip("plain", words("only {mode}", mode=mode_text(item.modes[0], words))))
    said = passage_cell(passage, _SNIPPET, words, *chips)
    return node("tr", "of-graph" if item.by_graph else "", said, *(_mark(lane, item, words) for lane in lanes))


def _mark(lane: ModeLane, item: RacedPassage, words: Words) -> Node:
    name = item.passage.id
    label = mode_text(lane.mode, words)
    if name not in lane.kept:
        return node("td", "mark", node("span", "muted", "–", aria_label=words("not kept")), data_label=label)
    rank = node("span", "num", f"#{lane.kept[name]}", title=words("Rank"))
    if name in lane.cited:
        marker = lane.cited[name]
        return node("td", "mark", rank, " ", chip("pass", f"✓ [{marker}]", words("cited as [{n}]", n=marker)),
                    data_label=label)  # fmt: skip
    verdict = ("pass-ink", "✓", N_("passed")) if name in lane.passed else ("warn-ink", "✗", N_("not passed"))
    sign = node("span", verdict[0], verdict[1], title=words(verdict[2]), aria_label=words(verdict[2]))
    return node("td", "mark", rank, " ", sign, data_label=label)
