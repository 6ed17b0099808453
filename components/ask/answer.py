"""The answer of a run: its text with citations as buttons, and on what it rests."""

from __future__ import annotations

from collections.abc import Iterable

from components.ask.answer_marks import answer_notes, direct_badge, standing_chips, writing_text
from components.ask.answer_text import Cite, CiteCell, answer_prose, doubts_of
from components.common.i18n import Words
from components.common.markup import OPEN, Node, button, chip, copy_button, draw, node, opened_passage
from components.common.outcomes import end_badge, round_text
from components.common.phrases import place_text
from engine.flow import workflow
from engine.model.values import ANSWERED, BY_HAND, CellCitation, Citation, PassageId, RunRecord
from engine.replay.admitted import refused_given


def answer_card(record: RunRecord, words: Words, *, key: str) -> PassageId | None:
    """Draw the answer with its badge, citations and sources; returns the passage whose citation was pressed.

    While the run is in progress, the card is where the browser writes the answer as it comes (``answer_live.js``).
    """
    if record.active:
        nodes = [_head(record, words), _growing(record, words), node("div", "foot")]
    elif record.answer:
        nodes = [_head(record, words), answer_body(record, words), *_footnotes(record, words), _foot(record, words)]
    else:
        nodes = [_head(record, words), node("p", "muted", words("This run ended without an answer."))]
    pressed = draw((node("section", "card answer", *nodes),), words, key=key)
    return opened_passage(pressed)


def answer_badge(record: RunRecord, words: Words) -> tuple[str, str]:
    """Look and words of the badge: how many of the passages given to it passed, or why none did."""
    given = len(record.context.passages) if record.context else 0
    unsearched = direct_badge(record, words)
    if unsearched is not None:
        return unsearched
    if record.answer_note:
        return end_badge(record.outcome, words, record.answer_note)
    if record.origin is not None and record.context is None and record.outcome in ANSWERED:
        return "grey", words("given passages not recorded")
    match record.outcome:
        case "answered" if refused := len(refused_given(record)):
            return "warn", words.count("! rests on 1 refused passage", "! rests on {n} refused passages", refused)
        case "answered":
            return "pass", words.count("✓ 1 passage passed", "✓ {n} passages passed", given)
        case "answered_forced":
            return "warn", words.count(
                "! below the bar · 1 passage passed", "! below the bar · {n} passages passed", given
            )
        case "answered_unverified":
            return "fault", words("! not verified")
        case "abstained":
            return "grey", words("– abstained")
        case "cancelled" | "failed" | "interrupted":
            return "fault", words("✗ incomplete")
        case "fallback" | "unanswered":
            return "grey", words("– no answer")
        case _:
            return "accent", words("… writing")


def _head(record: RunRecord, words: Words) -> Node:
    look, text = answer_badge(record, words)
    badge = [chip(look, text)] if record.answer or (record.active and record.context is not None) else []
    if record.active:
        which = writing_text(record, words)
        badge = [chip("accent", which)] if which else badge
    else:
        badge += standing_chips(record, words)
    by_hand = _passed_by_hand(record)
    if by_hand:
        badge.append(chip("warn", words.count("1 verdict set by hand", "{n} verdicts set by hand", by_hand)))
    if record.origin is not None and record.answer:
        badge.append(chip("grey", words("written by the other program")))
    if record.fork is not None:
        badge.append(
            chip(
                "grey",
                words("branch, from {round}", round=round_text(record.fork.round, words)),
                words("What was changed stands in the decision path."),
            )
        )
    return node("div", "head", node("strong", "heading", words("Answer")), *badge)


def _passed_by_hand(record: RunRecord) -> int:
    """Passages given to the generator that passed by a person's judgement."""
    given = {passage.id for passage in record.context.passages} if record.context else set()
    set_by_hand = {
        name for current in record.rounds for name, verdict in current.verdicts.items() if verdict.grader == BY_HAND
    }
    return len(given & set_by_hand)


def _growing(record: RunRecord, words: Words) -> Node:
    # Nothing here changes while the answer grows: a redrawn card would lose what the browser has written into it.
    begin = node("p", "muted", words("The answer appears here as it is written."))
    return node("div", "prose growing", begin, aria_busy="true", data_live=record.id)


def answer_so_far(record: RunRecord, words: Words) -> Node | None:
    """The answer while it is being written, its markers as buttons that open what it is written from."""
    if not record.answer:
        return None
    given = enumerate(record.context.passages if record.context else (), start=1)
    markers = [Citation(place, passage.id, passage.source, passage.section) for place, passage in given]
    # Where one marker has two, the answer's own citation counts.
    cite = citing([*markers, *record.citations], words)
    return answer_prose(record.answer, cite, cells_of(record.cell_citations, words))


def answer_body(record: RunRecord, words: Words) -> Node:
    """The finished answer as paragraphs and lists, its markers as buttons whose press is ``open:<passage id>``."""
    cells = cells_of(record.cell_citations, words)
    return answer_prose(record.answer, citing(record.citations, words), cells, doubts_of(record, words))


def cells_of(cells: Iterable[CellCitation], words: Words) -> CiteCell:
    """Markers of these cells, which say their value at a touch; there is nothing to open."""
    named = {cell.marker: cell for cell in cells}
    return lambda marker: _cell(named[marker], words) if marker in named else None


def citing(citations: Iterable[Citation], words: Words) -> Cite:
    """Markers of these citations as buttons whose press is ``open:<passage id>``; any other marker stays text."""
    cited = {citation.marker: citation for citation in citations}

    def cite(marker: int) -> Node | None:
        if marker not in cited:
            return None
        place = place_text(cited[marker].source, cited[marker].section, words)
        return node(
            "button",
            "cite",
            str(marker),
            title=place,
            aria_label=words("Citation {n}: open {place}", n=marker, place=place),
            data_action=f"{OPEN}{cited[marker].passage_id}",
        )

    return cite


def _cell(cell: CellCitation, words: Words) -> Node:
    place = " · ".join(part for part in (cell.row_label, cell.column_label) if part)
    said = words("Table {table}, cell {cell}: {value}", table=cell.table, cell=cell.cell, value=cell.value)
    told = f"{said} ({place})" if place else said
    return node("span", "cite cell", cell.marker, title=told, aria_label=told)


def _footnotes(record: RunRecord, words: Words) -> list[Node]:
    notes = answer_notes(record, words)
    if record.outcome == "answered_forced" and not notes:
        notes.append(words("The gate was never met: this is the best that the passages which did pass allow."))
    if record.outcome == "answered_unverified" and record.rounds:
        notes.append(
            words(
                "No passage passed the grader. The answer is based on unverified passages; check it yourself."
                if workflow(record.workflow).grades and any(item.verdicts for item in record.rounds)
                else "No passage was graded. The answer is based on unverified passages; check it yourself."
            )
        )
    notes += [f"{said} — {sentence}" for sentence, said in doubts_of(record, words).items()]
    if record.removed_markers:
        count = len(record.removed_markers)
        notes.append(
            words.count(
                "1 citation pointed to no passage and was removed: {markers}.",
                "{n} citations pointed to no passage and were removed: {markers}.",
                count,
                markers=" ".join(dict.fromkeys(record.removed_markers)),
            )
        )
    if record.unsupported:
        markers = " ".join(dict.fromkeys(item.marker for item in record.unsupported))
        notes.append(
            words.count(
                "1 marker taken out, because the passage does not bear the sentence out: {markers}",
                "{n} markers taken out, because the passage does not bear the sentence out: {markers}",
                len(record.unsupported),
                markers=markers,
            )
        )
    if record.context and record.context.cut:
        budget = record.context.token_budget
        notes.append(
            words.count(
                "1 passage that passed did not fit into the generator's {budget} tokens.",
                "{n} passages that passed did not fit into the generator's {budget} tokens.",
                len(record.context.cut),
                budget=budget,
            )
        )
    return [node("p", "note", "! ", text) for text in notes]


def _foot(record: RunRecord, words: Words) -> Node:
    chips = [
        button(
            f"{item.marker} · {place_text(item.source, item.section, words)}",
            f"{OPEN}{item.passage_id}",
            "chip link",
        )
        for item in sorted(record.citations, key=lambda item: item.marker)
    ]
    given = len(record.context.passages) if record.context else 0
    spare = given - len(record.citations)
    if chips and spare > 0:
        chips.append(
            node("span", "muted small", words.count("1 more read, not cited", "{n} more read, not cited", spare))
        )
    return node("div", "foot", *chips, node("span", "grow"), copy_button(words, copied_text(record, words)))


def copied_text(record: RunRecord, words: Words) -> str:
    """The answer with its sources below, as the clipboard gets it."""
    sources = [f"[{item.marker}] {place_text(item.source, item.section, words)}" for item in record.citations]
    return "\n".join([record.answer, "", *sources]) if sources else record.answer
