"""The table of life-lines: every candidate of every round, with its similarity, verdict, reason and fate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components.ask.passage_stages import (
    cut_text,
    found_in_both,
    moves_text,
    names_of,
    ranks_text,
    ranks_tip,
    scores_text,
    stage_cells,
    stage_drop,
)
from components.common.controls import download, table_csv
from components.common.i18n import Words
from components.common.life_lines import LifeLine, Sighting, life_lines
from components.common.markup import nothing, script
from components.common.outcomes import GATES, round_text
from components.common.phrases import (
    bar_text,
    probability_text,
    section_text,
    verdict_label,
    verdict_reason,
    verdict_text,
)
from components.common.terms import question_terms, segments
from components.labels import LIST_NAMES, NOTHING_FOUND, SOURCE_KIND_NAMES, WEB_PASSAGE
from engine.flow import workflow
from engine.messages import N_, NC_
from engine.model.config import RunConfig
from engine.model.values import (
    NO_SCALE,
    RETRIEVAL_LISTS,
    THEIR_SCALE,
    Comparison,
    PassageId,
    RunRecord,
    Verdict,
    operands,
)

_CSV = {
    "round": N_("round"),
    "rank": N_("rank"),
    "source": N_("source"),
    "section": N_("section"),
    "similarity": N_("similarity"),
    "raw": N_("raw score"),
    "floor": N_("floor"),
    "gate": N_("gate"),
    "margin": N_("margin"),
    "verdict": N_("verdict"),
    "confidence": N_("P(relevant)"),
    "reason": N_("reason"),
    "kind": N_("kind of source"),
    "marker": N_("marker"),
    "vector_rank": N_("rank by meaning"),
    "text_rank": N_("rank by words"),
    "text_score": N_("BM25 score"),
    "text": N_("text"),
}

_KIND_PLACES = {
    "vector": N_("knowledge base #{rank}"),
    "graph": N_("entities and relations #{rank}"),
    "temporal": N_("dated history #{rank}"),
}

_SNIPPET = 220
_DROPPED = ("below_threshold", "below_graph", "below_rerank", "beyond_top_k")
_LABELS = {
    "rank": N_("Rank"),
    "passage": N_("Passage"),
    "similarity": N_("Similarity"),
    "verdict": N_("Verdict"),
    "why": N_("Why"),
    "line": N_("Life-line"),
    "sort": N_("Sort"),
    "sort_path": N_("By use in the answer"),
    "sort_source": N_("Source"),
    "filter_round": N_("Round"),
    "filter_state": N_("Verdict or gate"),
    "filter_source": N_("Source"),
    "all": N_("All verdicts"),
    "all_rounds": N_("All rounds"),
    "all_sources": N_("All sources"),
    "shown": N_("{n} of {of}"),
    "show_all": N_("Show {n} more"),
    "no_match": N_("No passage matches these filters."),
    "clear": N_("Clear filters"),
    "full_text": N_("Full text"),
    "own_words": N_("The grader's own words"),
    "rounds": N_("In every round"),
    "round": N_("Round"),
    "query": N_("Query"),
    "cosine": N_("Cosine"),
    "floor": N_("Floor"),
    "gate": N_("Gate"),
    "margin": N_("Margin"),
    "ranks": N_("Lists"),
    "state_passed": N_("✓ Passed"),
    "state_failed": N_("✗ Not passed"),
    "state_unreadable": N_("? Unreadable"),
    "state_ungraded": N_("Not graded"),
    "state_below_threshold": N_("Below threshold"),
    "state_beyond_top_k": N_("Beyond top-k"),
    "state_below_graph": N_("dropped: graph score"),
    "state_below_rerank": N_("dropped: rerank score"),
    "open": N_("Show the full text"),
    "label_title": N_("Does it help to answer?"),
    "label_yes": N_("✓ It helps"),
    "label_no": N_("✗ It does not"),
    "label_clear": N_(
        "Your judgement is kept with the question; the grader bench on the page Tune measures the grader by it. Press "
        "again to take it back."
    ),
    "yours_yes": N_("you: helps"),
    "yours_no": N_("you: does not help"),
    "would": N_("What if:"),
    "kind": N_("Kind of source"),
    "filter_kind": N_("Kind of source"),
    "all_kinds": N_("All kinds of sources"),
    "filter_list": N_("Found by"),
    "all_lists": N_("any list"),
    "only_graph": N_("only the graph"),
    "via": N_("Via"),
    "moves": NC_("passages", "Order"),
    "cut_sentences": N_("greyed: left out before the answer was written"),
}


@dataclass(frozen=True, slots=True)
class PassageLabel:
    """The reader's own judgement of a passage: whether it helps to answer; None takes it back."""

    passage_id: PassageId
    relevant: bool | None


_component = st.components.v2.component(
    "workbench_passages",
    html='<div class="wb passages"></div>',
    css=script("tokens.css", "passages.css"),
    js=script("dom.js", "passages.js"),
)


def passages_table(
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
        st.caption(
            words(
                "No passage matches these filters."
                if found
                else NOTHING_FOUND
                if record.rounds
                else "No passages yet: run a question and every candidate appears here, dropped ones included."
            )
        )
        return None
    rows = zip(_rows(lines, record, words), lines, strict=True)
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "rows": [{**row, **_said(line.passage.id, labels, would)} for row, line in rows],
            "labels": labels is not None,
            "rounds": [item.index for item in record.rounds],
            "lists": {name: words(LIST_NAMES[name]) for name in RETRIEVAL_LISTS},
            "threshold": record.config.similarity_threshold,
            "opened": opened,
            # The same citation clicked twice has to be a change of data, or the browser is not asked again.
            "asked": time.time_ns() if opened else 0,
            "words": _labels(words),
        },
        on_label_change=nothing,
    )
    if not record.active:
        # While the run is in progress, each change would replace the file behind the button.
        download(
            words("Passages as CSV"),
            lambda: passages_csv(lines, record.config, words),
            f"passages-{record.id}.csv",
            key=f"{key}_csv",
            type="tertiary",
        )
    return _given_label(result.label)


def _rows(lines: Sequence[LifeLine], record: RunRecord, words: Words) -> list[dict[str, Any]]:
    marked, names = question_terms(record), names_of(record)
    return [
        {
            **passage_row(line, record.config, marked, words),
            **stage_cells(line, record, names, words),
            "cut": cut_text(line, record, marked),
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


def passages_csv(lines: Sequence[LifeLine], config: RunConfig, words: Words) -> bytes:
    """One row per passage and round, UTF-8 with a byte order mark; cells cannot start a formula."""
    rows = (_cells(line, seen, config, words) for line in lines for seen in line.sightings)
    return table_csv([words(text) for text in _CSV.values()], rows)


def _cells(line: LifeLine, seen: Sighting, config: RunConfig, words: Words) -> list[str]:
    verdict = seen.verdict
    return [
        str(seen.round.index),
        str(seen.found.rank),
        line.passage.source,
        section_text(line.passage.section, words),
        f"{seen.passage.similarity:.4f}" if seen.round.scaled else "",
        "" if seen.passage.raw_score is None else f"{seen.passage.raw_score:.4f}",
        "" if _theirs(seen) else f"{seen.round.floor:.4f}",
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


def gate_text(seen: Sighting, words: Words) -> str:
    """``kept``, ``dropped: similarity`` or ``dropped: top-k``."""
    return words(GATES[seen.found.gate].label)


def drop_reason(seen: Sighting, config: RunConfig, words: Words) -> str:
    """Explain why a candidate was dropped and by how much, its rank first (SC-02)."""
    if staged := stage_drop(seen, config, words):
        return staged
    if seen.found.gate == "beyond_top_k" and not seen.round.scaled:
        return words("rank {rank} > top-k {top_k}", rank=seen.found.rank, top_k=config.top_k)
    if seen.found.gate == "beyond_top_k":
        return words(
            "rank {rank} > top-k {top_k}; similarity {similarity}",
            rank=seen.found.rank,
            top_k=config.top_k,
            similarity=probability_text(seen.passage.similarity),
        )
    left, right = operands(Comparison("pass_rate", seen.passage.similarity, "<", config.similarity_threshold))
    missed = max(0.0, config.similarity_threshold - seen.passage.similarity)
    digits = max(2, len(left) - 2)
    return words("{value} < {bound}, missed by {missed}", value=left, bound=right, missed=f"{missed:.{digits}f}")


def _labels(words: Words) -> dict[str, str]:
    return {name: words(text) for name, text in _LABELS.items()}


def similarity_value(seen: Sighting) -> str:
    """The similarity; a dash where an imported trace gives no scale for it."""
    return probability_text(seen.passage.similarity) if seen.round.scaled else "–"


def _theirs(seen: Sighting) -> bool:
    """Return whether another program searched, whose scores are no cosines."""
    return seen.round.anchors in (THEIR_SCALE, NO_SCALE)


def score_value(seen: Sighting, words: Words) -> str:
    """The cosine, or the score that another program gave; empty where it gave none."""
    score = seen.passage.raw_score
    if score is None:
        return ""
    if _theirs(seen):
        return words("score {value}", value=f"{score:.4g}")
    return words("cos {value}", value=probability_text(score))


def _similarity_tip(seen: Sighting, config: RunConfig, words: Words) -> str:
    if not seen.round.scaled:
        return words("The imported trace gives no scale for its scores, so no similarity is known.")
    if seen.round.anchors == THEIR_SCALE:
        return words(
            "The score of the other program, taken as it is. Threshold {threshold}.",
            threshold=probability_text(config.similarity_threshold),
        )
    return words(
        "Cosine {cosine}. Cosine {floor} counts as similarity 0 for this query (anchors {anchors}); that makes "
        "{similarity}. Threshold {threshold}.",
        cosine=f"{seen.passage.raw_score:.3f}",
        floor=f"{seen.round.floor:.3f}",
        anchors=seen.round.anchors or "–",
        similarity=probability_text(seen.passage.similarity),
        threshold=probability_text(config.similarity_threshold),
    )


def passage_row(line: LifeLine, config: RunConfig, terms: Sequence[str], words: Words) -> dict[str, Any]:
    """Build the row that the browser draws; every value is text or a number, all words are rendered."""
    best, passage, verdict = line.best, line.passage, line.verdict
    snippet = " ".join(passage.text[:_SNIPPET].split()) + ("…" if len(passage.text) > _SNIPPET else "")
    return {
        "id": passage.id,
        "rank": best.found.rank,
        "round": best.round.index,
        "rounds": [seen.round.index for seen in line.sightings],
        "source": passage.source,
        "section": section_text(passage.section, words),
        "snippet": segments(snippet, terms),
        "text": segments(passage.text, terms),
        "similarity": best.passage.similarity if best.round.scaled else 0.0,
        "bar": best.round.scaled,
        "value": similarity_value(best),
        "cosine": score_value(best, words),
        "tip": _similarity_tip(best, config, words),
        "ranks": ranks_text(best, config, words),
        "ranks_tip": ranks_tip(best, config, words),
        "dropped": line.dropped,
        "state": _state(line),
        "chip": _chip(line, config, words),
        # A yes or no alone is no share, and sorts as one all the same.
        "p": -1.0 if verdict is None or verdict.relevant is None else verdict.p_relevant,
        "reason": drop_reason(best, config, words) if line.dropped else _reason(verdict, config, words),
        "steps": _steps(line, config, words),
        "grader": _grader(verdict, words),
        "own": verdict_reason(verdict, words) if verdict else "",
        "seen": [_seen(seen, config, words) for seen in line.sightings],
        "kind": line.kind or "",
        "kind_text": words(SOURCE_KIND_NAMES[line.kind]) if line.kind else "",
        "kind_tip": words(WEB_PASSAGE) if line.kind == "web" else "",
    }


def _state(line: LifeLine) -> str:
    if line.dropped:
        return line.fate if line.fate in _DROPPED else line.best.found.gate
    if line.verdict is None:
        return "ungraded"
    if line.verdict.relevant is None:
        return "unreadable"
    return "passed" if line.passes else "failed"


def _reason(verdict: Verdict | None, config: RunConfig, words: Words) -> str:
    if verdict:
        return verdict_reason(verdict, words)
    return words("the grader has not judged it" if workflow(config.workflow).grades else "no grader judges it")


def _grader(verdict: Verdict | None, words: Words) -> str:
    if verdict is None:
        return ""
    name = words("built-in") if verdict.grader.split(":")[0] == "builtin" else verdict.grader
    return f"{name} · {verdict_text(verdict, words)}"


def _chip(line: LifeLine, config: RunConfig, words: Words) -> dict[str, str]:
    verdict = line.verdict
    if verdict is None:
        text = gate_text(line.best, words) if line.dropped else words("not graded")
        return {"look": "plain", "text": text, "note": ""}
    if verdict.relevant is None:
        return {"look": "fault", "text": verdict_text(verdict, words), "note": ""}
    odd = verdict.relevant != line.passes or verdict.held_back(config.min_confidence)
    note = bar_text(verdict, config.min_confidence, words) if odd else ""
    return {"look": "pass" if line.passes else "warn", "text": verdict_text(verdict, words), "note": note}


def _steps(line: LifeLine, config: RunConfig, words: Words) -> list[dict[str, str]]:
    """The line ``r0 #3 → ✓ → kept → [2]`` as pieces with the kind that colours them."""
    steps: list[dict[str, str]] = []
    for place, seen in enumerate(line.sightings):
        found = _found(seen, config, words)
        # Where lists were fused, a round is long enough for a line of its own.
        joint = "\n" if len(found) > 1 else ", "
        steps += found if place == 0 else [{**found[0], "joint": joint}, *found[1:]]
        steps.append(_step(seen, line.passes, words))
        if seen.place is not None and seen.verdict is not None:
            p = probability_text(seen.verdict.p_relevant)
            steps.append({"kind": "kept", "text": words("reranked #{place} · P {p}", place=seen.place, p=p)})
    if line.fate in ("cited", "uncited"):
        steps.append({"kind": "kept", "text": words(NC_("life-line", "kept"))})
        steps.append({"kind": line.fate, "text": str(line.marker)})
    elif line.fate == "cut":
        steps.append({"kind": "gate", "text": words("cut: no room")})
    return steps


def _found(seen: Sighting, config: RunConfig, words: Words) -> list[dict[str, str]]:
    """List the ranks of a passage in a search; for fused lists, the rank in each list and in the result."""
    if not seen.found.found_at:
        alone = {"kind": "seen", "text": f"{round_text(seen.round.index, words)} · #{seen.found.rank}"}
        return found_in_both(seen, config, words) or [alone]
    places = [words(_KIND_PLACES[kind], rank=rank) for kind, rank in seen.found.found_at.items()]
    return [
        {"kind": "seen", "text": f"{round_text(seen.round.index, words)} · {' + '.join(places)}"},
        {"kind": "seen", "text": words("fused #{rank}", rank=seen.found.rank)},
    ]


def _step(seen: Sighting, passes: bool, words: Words) -> dict[str, str]:
    if seen.found.gate != "kept":
        return {"kind": "gate", "text": words(GATES[seen.found.gate].label)}
    if seen.reused:
        return {"kind": "reused", "text": words("reused")}
    if seen.verdict is None:
        return {"kind": "gate", "text": words("not graded")}
    if seen.verdict.relevant is None:
        return {"kind": "unreadable", "text": "?"}
    return {"kind": "pass", "text": "✓"} if passes else {"kind": "fail", "text": "✗"}


def _stages(seen: Sighting, words: Words) -> tuple[str, str]:
    return moves_text(seen, words), scores_text(seen, words)


def _seen(seen: Sighting, config: RunConfig, words: Words) -> dict[str, str]:
    verdict = verdict_text(seen.verdict, words) if seen.verdict else verdict_label(None, words)
    query = seen.round.query
    return {
        "round": round_text(seen.round.index, words),
        "query": query if seen.round.searched else words("not searched again: {query}", query=query),
        "rank": f"#{seen.found.rank}",
        "ranks": ranks_text(seen, config, words) or " · ".join(filter(None, _stages(seen, words))),
        "similarity": similarity_value(seen),
        "cosine": score_value(seen, words) or "–" if _theirs(seen) else f"{seen.passage.raw_score:.3f}",
        "floor": "–" if _theirs(seen) else f"{seen.round.floor:.3f}",
        "gate": gate_text(seen, words),
        "margin": f"{seen.found.margin:+.2f}".replace("-", "−") if seen.round.scaled else "–",
        "verdict": f"{verdict} ({words('reused')})" if seen.reused else verdict,
    }
