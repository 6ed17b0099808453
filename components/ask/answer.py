"""The answer of a run: its text with citations as buttons, and on what it rests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from components.ask.answer_marks import answer_notes, basis_text, checking_text, standing_chips, writing_text
from components.ask.answer_text import Cite, CiteCell, answer_prose, doubts_of
from components.common.i18n import Words
from components.common.markup import OPEN, Node, chip, copy_button, draw, node, opened_passage
from components.common.outcomes import Tone, branch_text, end_mark, run_end_text
from components.common.phrases import model_label, place_text, probability_text
from engine.flow import workflow
from engine.messages import N_
from engine.model.decide import open_parts
from engine.model.language import language_of
from engine.model.values import ANSWERED, BY_HAND, CellCitation, Citation, PassageId, RunRecord
from engine.replay.admitted import refused_given

_ACROSS = N_(
    "Most passages are in another language than the question. The built-in grader compares words, so only names, "
    "numbers and code count there. A chat model as grader and generator reads both, and as rewriter can translate the "
    "question."
)
_WAITING = N_("The answer appears here as it is written.")
"""Stands in the card until there is an answer, or until a replay reaches it (``markup.css``)."""


def answer_card(record: RunRecord, words: Words, *, key: str, below: Sequence[Node] = ()) -> PassageId | None:
    """Draw the answer under how the run ended, with citations and sources; returns the passage of a pressed
    citation.

    While the run is in progress, the card is where the browser writes the answer as it comes (``answer_live.js``).
    ``below`` stands at its end.
    """
    if record.active:
        nodes = [_head(record, words), _growing(record, words)]
    elif record.answer:
        nodes = [_head(record, words), answer_body(record, words), *_footnotes(record, words), *_foot(record, words)]
    else:
        nodes = [_head(record, words), node("p", "muted", words("This run ended without an answer."))]
    marks = {"data_run": record.id, "data_waiting": words(_WAITING)}
    card = node("section", "card answer", *nodes, *below, aria_label=words("Answer"), **marks)
    return opened_passage(draw((card,), words, key=key))


def headline(record: RunRecord, words: Words) -> tuple[Tone, str]:
    """Tone and words of how a run ended: ``✓ Answered after 1 rewrite``; amber where a refused passage was given."""
    mark = end_mark(record.outcome, record.answer_note)
    said = run_end_text(record, words)
    if mark.tone == "pass" and refused_given(record):
        return "warn", f"! {said}"
    return mark.tone, f"{mark.glyph} {said}"


def _head(record: RunRecord, words: Words) -> Node:
    if record.active:
        which = writing_text(record, words) or checking_text(record, words)
        return node("div", "head", node("strong", "heading", words("Answer")), chip("accent", which) if which else "")
    tone, said = headline(record, words)
    chips = standing_chips(record, words)
    if refused := len(refused_given(record)):
        chips.append(chip("warn", words.count("uses 1 refused passage", "uses {n} refused passages", refused)))
    if basis := basis_text(record, words):
        chips.append(chip("grey", basis))
    if by_hand := _passed_by_hand(record):
        chips.append(chip("warn", words.count("1 verdict set by hand", "{n} verdicts set by hand", by_hand)))
    if record.origin is not None and record.answer:
        chips.append(chip("grey", words("written by the other program")))
    if record.fork is not None:
        chips.append(chip("grey", branch_text(record.fork, words)))
    ended = node("div", "head grow", node("strong", f"outcome {tone}-ink", said), *chips)
    return node("div", "ended", ended, copy_button(words, copied_text(record, words)) if record.answer else "")


def _passed_by_hand(record: RunRecord) -> int:
    """Passages given to the generator that passed by a person's judgement."""
    given = {passage.id for passage in record.context.passages} if record.context else set()
    set_by_hand = {
        name for current in record.rounds for name, verdict in current.verdicts.items() if verdict.grader == BY_HAND
    }
    return len(given & set_by_hand)


def _growing(record: RunRecord, words: Words) -> Node:
    # Nothing here changes while the answer grows: a redrawn card would lose what the browser has written into it.
    begin = node("p", "muted", words(_WAITING))
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
    return answer_prose(record.answer, citing(record.citations, words), cells, doubts_of(record, words, places=True))


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
        place = citation_text(cited[marker], words)
        return node(
            "button",
            "cite",
            str(marker),
            title=place,
            aria_label=words("Citation {n}: open {place}", n=marker, place=place),
            data_action=f"{OPEN}{cited[marker].passage_id}",
        )

    return cite


def citation_text(citation: Citation, words: Words) -> str:
    """The place of what is cited, and which of its surroundings the sentences stand in where it is not the passage."""
    place = place_text(citation.source, citation.section, words)
    if not citation.around:
        return place
    return words("{place}, from what surrounds it ({names})", place=place, names=words(", ").join(citation.around))


def _cell(cell: CellCitation, words: Words) -> Node:
    place = " · ".join(part for part in (cell.row_label, cell.column_label) if part)
    said = words("Table {table}, cell {cell}: {value}", table=cell.table, cell=cell.cell, value=cell.value)
    label = f"{said} ({place})" if place else said
    return node("span", "cite cell", cell.marker, title=label, aria_label=label)


def _footnotes(record: RunRecord, words: Words) -> list[Node]:
    notes = answer_notes(record, words)
    still_open = open_parts(record.rounds, record.config) if record.outcome in ANSWERED else ()
    # The built-in generator says it in the answer itself; a model is asked to.
    if still_open and not record.config.models.generator.built_in:
        notes.append(words("No passage that passed answers: {parts}", parts=words("; ").join(still_open)))
    if record.outcome == "answered_forced" and not (notes or still_open):
        notes.append(words("Too few passages passed; this is the best that they allow."))
    if record.outcome == "answered_unverified" and record.rounds:
        notes.append(
            words(
                "No passage passed the grader: check this answer."
                if workflow(record.workflow).grades and any(item.verdicts for item in record.rounds)
                else "No passage was graded: check this answer."
            )
        )
    notes += dict.fromkeys(item.said for item in doubts_of(record, words).values())
    if workflow(record.workflow).grades and record.config.models.grader.built_in and _across_languages(record):
        notes.append(words(_ACROSS))
    if record.removed_markers:
        notes.append(removed_text(record.removed_markers, words))
    if record.unsupported:
        notes.append(
            words.count(
                "1 citation removed, its passage does not support the sentence: {markers}",
                "{n} citations removed, their passages do not support the sentences: {markers}",
                len(record.unsupported),
                markers=" ".join(dict.fromkeys(item.marker for item in record.unsupported)),
            )
        )
    if record.context and record.context.cut:
        notes.append(
            words.count(
                "1 relevant passage did not fit into {budget} tokens.",
                "{n} relevant passages did not fit into {budget} tokens.",
                len(record.context.cut),
                budget=record.context.token_budget,
            )
        )
    return [node("p", "note", "! ", text) for text in notes]


def _across_languages(record: RunRecord) -> bool:
    """Whether more than half of what an answer was written from, or else of what was found, is in another language."""
    given = record.context.passages if record.context else ()
    found = [item.passage for current in record.rounds for item in current.candidates[: record.config.top_k]]
    asked, texts = language_of(record.question), [item.text for item in given or found]
    return 2 * sum(language_of(text) != asked for text in texts) > len(texts)


def removed_text(markers: Sequence[str], words: Words) -> str:
    """How many citations of an answer were removed because they pointed to no passage."""
    return words.count(
        "1 citation removed, it pointed to no passage: {markers}",
        "{n} citations removed, they pointed to no passage: {markers}",
        len(markers),
        markers=" ".join(dict.fromkeys(markers)),
    )


def _foot(record: RunRecord, words: Words) -> list[Node]:
    # The markers in the text open the same passages: no second stop for the keyboard.
    chips = [
        node(
            "button",
            "chip link",
            f"{item.marker} · {citation_text(item, words)}",
            data_action=f"{OPEN}{item.passage_id}",
            tabindex="-1",
        )
        for item in sorted(record.citations, key=lambda item: item.marker)
    ]
    spare = (len(record.context.passages) if record.context else 0) - len(record.citations)
    if chips and spare > 0:
        chips.append(node("span", "muted small", words.count("1 more read", "{n} more read", spare)))
    if chips and (around := around_text(record, words)):
        chips.append(node("span", "muted small", around))
    if checked := checked_text(record, words):
        chips.append(node("span", "muted small", checked, title=_chances(record)))
    return [node("div", "foot", *chips)] if chips else []


def checked_text(record: RunRecord, words: Words) -> str:
    """How many sentences a model found supported, of those it checked, and how many it did not; empty for neither."""
    checked = [item for item in record.checks or () if item.kind != "builtin" and item.p_supported is not None]
    unchecked = sum(item.p_supported is None for item in record.checks or ())
    doubted = {item.sentence for item in record.unsupported_sentences or ()}
    supported = sum(item.sentence not in doubted for item in checked)
    verifier = model_label(record.config.models.verifier.model, words)
    said = words("{n} of {of} sentences supported, says {verifier}", n=supported, of=len(checked), verifier=verifier)
    parts = [said] if checked else []
    if unchecked:
        parts.append(words.count("1 sentence not checked", "{n} sentences not checked", unchecked))
    return words(" · ").join(parts)


def _chances(record: RunRecord) -> str:
    """P(supported) of each sentence, a line each."""
    found = ((item.p_supported, item.sentence) for item in record.checks or ())
    return "\n".join(f"{'?' if p is None else probability_text(p)} · {sentence}" for p, sentence in found)


def around_text(record: RunRecord, words: Words) -> str:
    """How much was given around the passages, and what of it did not fit; empty where nothing was to be."""
    context = record.context
    if context is None or not (context.around or context.around_cut or context.emptied):
        return ""
    given = sum(map(len, context.around.values()))
    said = words.count("1 passage given around them", "{n} passages given around them", given)
    if emptied := len(context.emptied):
        said += words.count(
            ", 1 left out because nothing in it bears on the question",
            ", {n} left out because nothing in them bears on the question",
            emptied,
        )
    left_out = len(context.around_cut)
    return said + (words.count(", 1 did not fit", ", {n} did not fit", left_out) if left_out else "")


def copied_text(record: RunRecord, words: Words) -> str:
    """The answer with its sources below, as the clipboard gets it."""
    sources = [f"[{item.marker}] {citation_text(item, words)}" for item in record.citations]
    return "\n".join([record.answer, "", *sources]) if sources else record.answer
