"""What other settings would change for single passages: kept or dropped, passed or not, given or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.common.i18n import Words
from components.common.phrases import bar_text
from engine.messages import NC_
from engine.model.config import RunConfig
from engine.model.decide import gate_of
from engine.model.values import Passage, PassageId, Round, RunRecord, Verdict
from engine.replay.values import WhatIf


def counterfactual_notes(record: RunRecord, found: WhatIf, words: Words) -> Mapping[PassageId, str]:
    """A short note for every passage to which something else would happen; empty where nothing is known to change."""
    if found.config == record.config or not found.steps:
        return {}
    tried = [step.round for step in found.steps]
    notes: dict[PassageId, str] = {}
    for passage_id, passage in _all_seen(record).items():
        note = _note(record, found, tried, passage, words)
        if note:
            notes[passage_id] = note
    return notes


def _all_seen(record: RunRecord) -> dict[PassageId, Passage]:
    return {item.passage.id: item.passage for current in record.rounds for item in current.candidates}


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
        return words("kept, without a verdict so far" if verdict is None else NC_("what-if", "kept"))
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
    if gate_of(best.rank, best.passage.similarity, config) == "beyond_top_k":
        return words("dropped in r{round}: rank {rank} > {top_k}", round=place, rank=best.rank, top_k=config.top_k)
    value, bound = _apart(best.passage.similarity, config.similarity_threshold)
    return words("dropped in r{round}: {value} < {bound}", round=place, value=value, bound=bound)


def _passing(now: Verdict, then: Verdict, old: RunConfig, new: RunConfig, words: Words) -> str:
    passes = now.passes(new.min_confidence)
    if passes == then.passes(old.min_confidence):
        return ""
    return words("passes: {why}" if passes else "does not pass: {why}", why=bar_text(now, new.min_confidence, words))


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
