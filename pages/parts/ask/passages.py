"""The tab Passages: every candidate of every round with its scores, verdict, reason and history."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components.ask.diagnosis import blind_note
from components.ask.passage_rows import COLUMNS, gate_text, names_of, passage_row, stage_cells
from components.common.controls import download, table_csv
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.life_lines import LifeLine, Sighting, life_lines
from components.common.markup import CONTEXT, nothing
from components.common.outcomes import GATES, round_text
from components.common.phrases import bar_text, begun, probability_text, section_text, verdict_label, verdict_reason
from components.common.terms import question_terms
from components.labels import GRAPH_LISTS, NOTHING_FOUND, SOURCE_KIND_NAMES
from components.sentences.rounds import round_names
from engine.builtin.answer_note import nearest_strips
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.messages import N_, NC_
from engine.model.config import RunConfig
from engine.model.decide import gate_of
from engine.model.values import NO_SCALE, RETRIEVAL_LISTS, THEIR_SCALE, Passage, PassageId, Round, RunRecord, Verdict
from engine.people import current_user
from engine.replay.values import WhatIf
from pages.parts.common.rights import may

_CSV = {
    "round": COLUMNS["round"],
    "rank": COLUMNS["rank"],
    "source": N_("source"),
    "section": N_("section"),
    "similarity": COLUMNS["similarity"],
    "raw": N_("raw score"),
    "floor": COLUMNS["floor"],
    "gate": COLUMNS["gate"],
    "margin": COLUMNS["margin"],
    "verdict": COLUMNS["verdict"],
    "confidence": N_("P(relevant)"),
    "reason": N_("reason"),
    "kind": N_("kind of source"),
    "marker": N_("marker"),
    "vector_rank": N_("rank by meaning"),
    "text_rank": N_("rank by words"),
    "text_score": N_("BM25 score"),
    "text": N_("text"),
}

_LABELS = {
    **COLUMNS,
    "passage": N_("Passage"),
    "why": _CSV["reason"],
    "line": NC_("passages", "History"),
    "filters": N_("Filter"),
    "sort": N_("Sort"),
    "sort_path": N_("By use in the answer"),
    "sort_source": _CSV["source"],
    "filter_round": COLUMNS["round"],
    "filter_state": COLUMNS["verdict"],
    "filter_source": _CSV["source"],
    "filter_kind": _CSV["kind"],
    "filter_list": N_("Found by"),
    "all": NC_("passages", "All"),
    "shown": N_("{n} of {of}"),
    "no_match": N_("No passage matches these filters."),
    "full_text": N_("Full text"),
    "own_words": N_("The grader's own words"),
    "rounds": N_("In every round"),
    "state_passed": N_("passed"),
    "state_failed": N_("not passed"),
    "state_unreadable": N_("unreadable"),
    "state_ungraded": N_("not graded"),
    "state_below_threshold": N_("dropped: similarity"),
    "state_beyond_top_k": N_("dropped: top-k"),
    "state_below_graph": N_("dropped: graph score"),
    "state_below_rerank": N_("dropped: rerank score"),
    "label_title": N_("Does it help to answer?"),
    "label_yes": N_("✓ helps"),
    "label_no": N_("✗ does not help"),
    "yours_yes": N_("you: helps"),
    "yours_no": N_("you: does not help"),
    "would": N_("What if:"),
    "only_graph": N_("only the graph"),
    "via": N_("Via"),
    "moves": NC_("passages", "Order"),
    "context_tip": CONTEXT,
    "around": N_("in grey around it: what was given of its surroundings"),
    "around_cited": N_("cited from here"),
    "near_sentences": N_("underlined: comes nearest to a sentence of the answer that is not supported, or not checked"),
    "cut_sentences": N_("greyed: left out before the answer was written"),
}

_component = component(
    "passages",
    html='<div class="wb passages"></div>',
    css=script("tokens.css", "passages.css"),
    js=script("dom.js", "passages.js"),
)


@dataclass(frozen=True, slots=True)
class PassageLabel:
    """The reader's own judgement of a passage: whether it helps to answer; None takes it back."""

    passage_id: PassageId
    relevant: bool | None


def view(
    record: RunRecord,
    words: Words,
    *,
    key: str,
    opened: PassageId | None = None,
    shows: Callable[[LifeLine], bool] = lambda _line: True,
    labels: Mapping[PassageId, bool] | None = None,
    would: Mapping[PassageId, str] | None = None,
) -> PassageLabel | None:
    """Draw one row per distinct passage of the run; below 600 px of width the rows become cards.

    ``opened`` scrolls to a passage and opens its row; pass it in the rerun of the click only, or every rerun scrolls.
    ``shows`` chooses among the passages. What is marked in the text are the terms that the grader named, else the
    question's words.
    Sorting, filtering and opening happen in the browser and cause no rerun. With ``labels``, the reader's own
    judgements, every opened row asks for one; the one given in this rerun is returned. ``would`` says of a passage
    what other settings would make of it.
    """
    found = life_lines(record)
    lines = tuple(line for line in found if shows(line))
    if not lines:
        if found:
            st.caption(words("No passage matches these filters."))
        else:
            st.caption(words(NOTHING_FOUND if record.rounds else "Every candidate of the run appears here."))
        return None
    rows = zip(_rows(lines, record, words), lines, strict=True)
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "rows": [{**row, **_said(line.passage.id, labels, would)} for row, line in rows],
            "labels": labels is not None,
            "rounds": list(round_names(record, words).items()),
            "lists": {name: words(GRAPH_LISTS[name]) for name in RETRIEVAL_LISTS},
            "threshold": record.config.similarity_threshold,
            "opened": opened,
            # The same citation clicked twice has to be a change of data, or the browser is not asked again.
            "asked": time.time_ns() if opened else 0,
            "words": {name: begun(words(text)) for name, text in _LABELS.items()},
        },
        on_label_change=nothing,
    )
    if not record.active:
        # While the run is in progress, each change would replace the file behind the button.
        download(
            words("Passages as CSV"),
            lambda: passages_csv(lines, words),
            f"passages-{record.id}.csv",
            key=f"{key}_csv",
            type="tertiary",
        )
    return _given_label(result.label)


def panel(
    engine: Engine,
    record: RunRecord,
    words: Words,
    *,
    found: WhatIf | None,
    opened: PassageId | None,
    shows: Callable[[LifeLine], bool],
) -> None:
    """Draw the passages with what ``found`` would make of them, and keep the judgement that is given."""
    if not record.active:
        blind_note(record, words, key="blind")
    given = view(
        record,
        words,
        key="passages",
        opened=opened,
        shows=shows,
        would=counterfactual_notes(record, found, words) if found is not None else None,
        labels=_own_labels(engine, record) if not record.active and may("editor") else None,
    )
    if given is not None:
        engine.evaluation.set_label(record.question, given.passage_id, given.relevant)
        st.rerun()


def _own_labels(engine: Engine, record: RunRecord) -> dict[PassageId, bool] | None:
    """The reader's own judgements for this question; None where they cannot be kept."""
    try:
        found, me = engine.evaluation.labels(record.question), current_user().author
        return {item.passage_id: item.relevant for item in found if item.judge in ("", me)}
    except WorkbenchError:
        return None


def _rows(lines: Sequence[LifeLine], record: RunRecord, words: Words) -> list[dict[str, Any]]:
    marked, names = question_terms(record), names_of(record)
    near: dict[PassageId, set[str]] = {}
    for passage_id, strip in nearest_strips(record).values():
        near.setdefault(passage_id, set()).add(strip)
    return [
        {
            **passage_row(line, record, marked, words, near.get(line.passage.id, ())),
            **stage_cells(line, record, names, words),
        }
        for line in lines
    ]


def _said(
    passage_id: PassageId, labels: Mapping[PassageId, bool] | None, would: Mapping[PassageId, str] | None
) -> dict[str, str]:
    """Return the reader's judgement of a passage and the effect of other settings; empty if there is none."""
    given = (labels or {}).get(passage_id)
    label = "" if given is None else "yes" if given else "no"
    return {"label": label, "would": (would or {}).get(passage_id, "")}


def _given_label(sent: Any) -> PassageLabel | None:
    if not isinstance(sent, Mapping):
        return None
    relevant = {"yes": True, "no": False}.get(str(sent.get("value")))
    return PassageLabel(PassageId(str(sent.get("id"))), relevant)


def passages_csv(lines: Sequence[LifeLine], words: Words) -> bytes:
    """One row per passage and round, UTF-8 with a byte order mark; cells cannot start a formula."""
    rows = (_cells(line, seen, words) for line in lines for seen in line.sightings)
    return table_csv([words(text) for text in _CSV.values()], rows)


def _cells(line: LifeLine, seen: Sighting, words: Words) -> list[str]:
    verdict = seen.verdict
    return [
        str(seen.round.index),
        str(seen.found.rank),
        line.passage.source,
        section_text(line.passage.section, words),
        f"{seen.passage.similarity:.4f}" if seen.round.scaled else "",
        "" if seen.passage.raw_score is None else f"{seen.passage.raw_score:.4f}",
        "" if seen.round.anchors in (THEIR_SCALE, NO_SCALE) else f"{seen.round.floor_of(seen.found):.4f}",
        gate_text(seen, words),
        f"{seen.found.margin:.4f}" if seen.round.scaled else "",
        verdict_label(verdict, words),
        "" if verdict is None or verdict.known_p is None else probability_text(verdict.known_p),
        "" if verdict is None else verdict_reason(verdict, words),
        words(SOURCE_KIND_NAMES[line.kind]) if line.kind else "",
        "" if line.marker is None else f"[{line.marker}]",
        "" if seen.passage.vector_rank is None else str(seen.passage.vector_rank),
        "" if seen.passage.text_rank is None else str(seen.passage.text_rank),
        "" if seen.passage.text_score is None else f"{seen.passage.text_score:.4f}",
        line.passage.text,
    ]


def counterfactual_notes(record: RunRecord, found: WhatIf, words: Words) -> Mapping[PassageId, str]:
    """A short note for every passage to which something else would happen; empty where nothing is known to change."""
    if found.config == record.config or not found.steps:
        return {}
    tried = [step.round for step in found.steps]
    notes: dict[PassageId, str] = {}
    for passage_id, passage in record.passages.items():
        note = _note(record, found, tried, passage, words)
        if note:
            notes[passage_id] = note
    return notes


def _note(record: RunRecord, found: WhatIf, tried: list[Round], passage: Passage, words: Words) -> str:
    # Only rounds that would happen are compared with themselves; no one knows what comes after an open one.
    same = record.rounds[: len(tried)]
    kept_then, kept_now = _kept(same, passage.id), _kept(tried, passage.id)
    if kept_then and not kept_now:
        return _dropped(tried, passage.id, found.config, words)
    if not kept_now:
        gone = found.path_known and _kept(record.rounds, passage.id)
        return words("its round does not happen") if gone else ""
    verdict = _verdict(tried, passage.id)
    if not kept_then:
        kept = words(NC_("what-if", "kept"))
        return kept if verdict is not None else words(", ").join((kept, words("not graded")))
    former = _verdict(same, passage.id)
    if verdict is not None and former is not None:
        changed = _passing(verdict, former, record.config, found.config, words)
        if changed:
            return changed
    return _given(record, found, passage, words)


def _kept(rounds: Sequence[Round], passage_id: PassageId) -> bool:
    return any(passage.id == passage_id for current in rounds for passage in current.kept)


def _verdict(rounds: Sequence[Round], passage_id: PassageId) -> Verdict | None:
    found = [current.verdicts[passage_id] for current in reversed(rounds) if passage_id in current.verdicts]
    return next((item for item in found if item.relevant is not None), found[0] if found else None)


def _dropped(tried: Sequence[Round], passage_id: PassageId, config: RunConfig, words: Words) -> str:
    """The drop that came closest to being none."""
    places = [
        (item, current.index) for current in tried for item in current.candidates if item.passage.id == passage_id
    ]
    best, place = max(places, key=lambda seen: (seen[0].rank <= config.top_k, seen[0].passage.similarity))
    gate, compared = gate_of(best.rank, best.passage.similarity, config), f"{best.rank} > {config.top_k}"
    if gate != "beyond_top_k":
        value, bound = _apart(best.passage.similarity, config.similarity_threshold)
        compared = f"{value} < {bound}"
    said = f"{words(GATES[gate].label)} · {compared}"
    return words("{what}: {why}", what=begun(round_text(place, words)), why=said)


def _passing(now: Verdict, then: Verdict, old: RunConfig, new: RunConfig, words: Words) -> str:
    passes = now.passes(new.min_confidence)
    if passes == then.passes(old.min_confidence):
        return ""
    said = words("passed" if passes else "not passed")
    return words("{what}: {why}", what=said, why=bar_text(now, new, words))


def _given(record: RunRecord, found: WhatIf, passage: Passage, words: Words) -> str:
    if not found.path_known or record.context is None or not (found.passages or found.outcome == "abstained"):
        return ""
    # What the token budget cut was offered all the same.
    then = {item.id for item in record.context.passages} | set(record.context.cut)
    now = {item.id for item in found.passages}
    if (passage.id in now) == (passage.id in then):
        return ""
    return words("goes to the generator" if passage.id in now else "does not go to the generator")


def _apart(value: float, bound: float) -> tuple[str, str]:
    """Both with as many digits as it takes to tell them apart."""
    digits = 2
    while digits < 4 and value != bound and f"{value:.{digits}f}" == f"{bound:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f}", f"{bound:.{digits}f}"
