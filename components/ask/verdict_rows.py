"""Verdicts of a run by rounds, as a page shows them and as the stream of a running run carries them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from components.common.i18n import Words
from components.common.phrases import (
    WANTED,
    bar_text,
    parts_text,
    place_text,
    probability_text,
    screened_text,
    verdict_label,
    verdict_reason,
)
from components.sentences.rounds import round_names
from engine.messages import N_
from engine.model.config import BUILTIN, RunConfig
from engine.model.decide import cut_of, screening
from engine.model.values import BY_HAND, Candidate, Gate, Round, RunRecord, SetVerdict, Verdict

DROPPED: dict[Gate, str] = {
    "beyond_top_k": N_("{n} beyond top-{top_k}"),
    "below_threshold": N_("{n} below similarity {similarity}"),
    "below_graph": N_("{n} below the graph score"),
    "below_rerank": N_("{n} below the rerank score"),
}
_TOGETHER = {
    "yes": ("pass", N_("Together: they answer it")),
    "part": ("warn", N_("Together: they answer part of it")),
    "no": ("warn", N_("Together: they do not answer it")),
}
_BY_WORDS = {
    "yes": ("grey", N_("Together: cover the words of the question")),
    "part": ("warn", N_("Together: cover some words of the question")),
    "no": ("warn", N_("Together: cover no word of the question")),
}
"""What the built-in judge can tell: words are not meaning."""


def shown_rounds(record: RunRecord, words: Words) -> list[dict[str, Any]]:
    """Return each round with its name, a row for each passage graded or kept, and what else was found.

    Kept passages come first; ``rest`` counts the other candidates by the gate that dropped them, ``dropped`` in all.
    """
    names = round_names(record, words)
    return [_round(current, names[current.index], record, words) for current in record.rounds]


def verdict_values(record: RunRecord, words: Words) -> dict[str, Any]:
    """The same as flat values, row by row, so that a stream sends each verdict once."""
    values: dict[str, Any] = {}
    for place, current in enumerate(shown_rounds(record, words)):
        values |= {f"row.{place}.{number}": row for number, row in enumerate(current["rows"])}
        values[f"round.{place}"] = {**current, "rows": len(current["rows"])}
    return values


def _round(current: Round, name: str, record: RunRecord, words: Words) -> dict[str, Any]:
    kept = [item for item in current.candidates if item.gate == "kept"]
    graded = [item for item in current.candidates if item.gate != "kept" and item.passage.id in current.verdicts]
    rest = [item for item in current.candidates if item.gate != "kept" and item.passage.id not in current.verdicts]
    return {
        "name": name,
        "rows": [_row(item, current, record, words) for item in (*kept, *graded)],
        "dropped": len(rest),
        "rest": " · ".join(filter(None, (_band(current, words), _rest(rest, record.config, words)))),
        "whole": [] if current.whole is None else list(together(current.whole, words)),
    }


def dropped_text(dropped: Sequence[Candidate], config: RunConfig, words: Words) -> str:
    """``12 beyond top-5 · 3 below similarity 0.40``; empty for none."""
    counts = Counter(item.gate for item in dropped)
    similarity = probability_text(config.similarity_threshold)
    return " · ".join(
        words(DROPPED[gate], n=counts[gate], top_k=config.top_k, similarity=similarity)
        for gate in DROPPED
        if counts[gate]
    )


def _band(current: Round, words: Words) -> str:
    """Say how many of the kept passages the screener left to the grader; empty without a cascade."""
    judged, settled = screening([current])
    text = words("{n} of {all} kept passages that were screened went to the grader", n=judged - settled, all=judged)
    return text if judged else ""


def _rest(dropped: Sequence[Candidate], config: RunConfig, words: Words) -> str:
    return words("{n} not graded: {why}", n=len(dropped), why=dropped_text(dropped, config, words)) if dropped else ""


def _row(item: Candidate, current: Round, record: RunRecord, words: Words) -> dict[str, Any]:
    passage, verdict = item.passage, current.verdicts.get(item.passage.id)
    row: dict[str, Any] = {
        "id": passage.id,
        "place": place_text(passage.source, passage.section, words),
        "dropped": item.gate != "kept",
    }
    if verdict is None:
        waiting = record.active and current is record.rounds[-1]
        return {**row, "look": "wait" if waiting else "none", "said": words("grading …" if waiting else "not graded")}
    said: dict[str, Any] = {
        "look": _look(verdict, record.config),
        "said": verdict_label(verdict, words),
        "reason": _reason(verdict, record.config, words),
    }
    if (screened := record.screened.get(passage.id)) and not verdict.by_cut and verdict.grader != BY_HAND:
        said["reason"] = words("; ").join((screened_text(screened, words), said["reason"]))
    if passage.id in current.reused:
        said["reason"] = words("{what}: {why}", what=words("reused"), why=said["reason"])
    if verdict.known_p is not None:
        said |= {"p": probability_text(verdict.known_p).removeprefix("0"), "share": verdict.known_p}
        said["bar"] = bar_text(verdict, record.config, words)
        if verdict.by_cut:
            said["cut"] = cut_of(verdict, record.config)
    return row | said


def _look(verdict: Verdict, config: RunConfig) -> str:
    if verdict.relevant is None:
        return "fault"
    return "pass" if verdict.passes(config.min_confidence) else "fail"


def _reason(verdict: Verdict, config: RunConfig, words: Words) -> str:
    """The grader's reason; before it why the threshold decided otherwise than the grader, where it did."""
    of_parts = parts_text(verdict, config.min_confidence, words)
    reason = words("; ").join(part for part in (of_parts, verdict_reason(verdict, words)) if part)
    odd = verdict.relevant is not None and verdict.relevant != verdict.passes(config.min_confidence)
    if not (odd or verdict.by_cut or verdict.held_back(config.min_confidence)):
        return reason
    return words("; ").join((bar_text(verdict, config, words), reason))


def together(whole: SetVerdict, words: Words) -> tuple[str, str]:
    """Look and sentence of the verdict on all passages that had passed until then."""
    table = _BY_WORDS if whole.grader == BUILTIN else _TOGETHER
    look, said = table.get(whole.answered or "", ("fault", N_("Together: reply not readable")))
    lacks = [words("missing: {terms}", terms=words(", ").join(whole.missing))] if whole.missing else []
    if whole.wanted_found is False:
        lacks.append(words("does not name {kind}", kind=words(WANTED[whole.wanted])))
    reason = [whole.reason] if whole.grader != BUILTIN and whole.reason else lacks
    return look, words("; ").join((words(said), *(reason if whole.answered != "yes" else ())))
