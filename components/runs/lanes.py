"""Parts shared by all columns of runs, whichever setting differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from components.ask.answer_text import answer_prose, doubts_of, still_markers
from components.ask.what_if_text import collection_text
from components.common.amounts import beginning
from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from components.common.outcomes import run_badge
from components.common.phrases import begun, fault_text, node_text, section_text
from engine.messages import N_
from engine.model.values import Passage, RunRecord
from engine.replay.side_by_side import shared_time

_ROWS = {
    "time": N_("Time"),
    "calls": N_("Calls"),
    "searches": N_("searches"),
    "rewrites": N_("Rewrites"),
    "answers": N_("Answers"),
    "kept": N_("passages kept"),
    "passed": N_("passed"),
    "best": N_("Best similarity"),
    "cited": N_("cited"),
    "entities": N_("begun from"),
}


def notes_on(records: Sequence[RunRecord], words: Words) -> Node:
    """Describe the search, and that the runs shared the machine if they did."""
    said = [words("{what}: {why}", what=words("Searched in"), why=searched_text(records, words))]
    if shared_time(records):
        said.append(words("Times are of runs side by side on this machine."))
    return node("p", "muted small", " · ".join(said))


def searched_text(records: Sequence[RunRecord], words: Words) -> str:
    """The collections of these runs; a link may bring together runs of several."""
    names = dict.fromkeys(record.config.collection for record in records)
    return words(", ").join(collection_text(name, words) for name in names)


def outcome_chip(record: RunRecord, words: Words) -> Node:
    """Chip with the outcome of a run, or that it is running."""
    return chip(*run_badge(record, words))


def at_node(record: RunRecord, words: Words) -> Node:
    """The node where a run is."""
    at = next((item.node for item in reversed(record.nodes) if item.duration_ms is None), "")
    if not at:
        return node("p", "muted small", words("starting"))
    named = node_text(at, record.workflow, words)
    return node("p", "muted small", words("at {node}", node=named))


def number_grid(rows: Iterable[tuple[str, str, str]], words: Words) -> Node:
    """Figures of a run by name, value and note."""
    cells: list[Node] = []
    for name, value, note in rows:
        small = (node("span", "muted small", note),) if note else ()
        cells += [node("span", "muted", begun(words(_ROWS[name]))), node("span", "value num", value, *small)]
    return node("div", "numbers", *cells)


def answer_part(record: RunRecord, words: Words, longest: int | None = None) -> Node:
    """The answer, or why there is none; one longer than ``longest`` is folded to its beginning."""
    title = node("span", "subheading", words("Answer"))
    if record.error is not None:
        fact, remedy = fault_text(record.error, words)
        return node("div", "said", title, node("p", "fault", f"✗ {fact} {remedy}"))
    if not record.answer:
        return node("div", "said", title, node("p", "muted", "…" if record.active else words("no answer")))
    if record.active:
        return node("div", "said", title, node("p", "prose", record.answer[:longest]))
    prose = answer_prose(record.answer, still_markers(record, words), doubts=doubts_of(record, words))
    if longest is not None and len(record.answer) > longest:
        short = node("p", "muted", beginning(record.answer, longest))
        prose = fold(f"answer-{record.id}", node("span", "", short, node("span", "all", words("Whole answer"))), prose)
    return node("div", "said", title, prose)


def passage_cell(passage: Passage, longest: int, words: Words, *marks: Node) -> Node:
    """A passage in the first column of a table: its source, where in it, and its beginning."""
    return node(
        "td",
        "",
        node("strong", "", passage.source),
        node("span", "muted", f" § {section_text(passage.section, words)}" if passage.section else ""),
        node("div", "muted small", beginning(passage.text, longest)),
        *([node("div", "marks", *marks)] if marks else []),
    )


def shared_table(names: Iterable[str], rows: Iterable[Node], words: Words) -> Node:
    """Passages by column; a wide one scrolls."""
    heads = (node("th", "", name, scope="col") for name in (words("Passage"), *names))
    table = node("table", "shared", node("thead", "", node("tr", "", *heads)), node("tbody", "", *rows))
    return node("div", "scroll", table)
