"""A record as a terminal shows it: the path, what could not be done, the answer and what it is based on."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from engine.attachments.admission import attachment_line
from engine.model.values import RunRecord
from engine.running.seed_response import decision_sentence


def print_record(record: RunRecord) -> None:
    console = Console(soft_wrap=True)
    for attachment in record.attachments:
        console.print(escape(f"attached: {attachment_line(attachment)}"), style="dim")
    for decision in record.decisions:
        console.print(escape(decision_sentence(decision)), style="dim")
    for item in record.rewrites:
        console.print(escape(f"rewrite: {item.query} → {item.rewritten_query}"), style="dim")
    for note in mode_notes(record):
        console.print(escape(note), style="yellow")
    for warning in record.warnings:
        console.print(f"[yellow]{escape(warning.fact)}[/] {escape(warning.remedy)}")
    if record.error:
        console.print(f"[red]{escape(record.error.fact)}[/] {escape(record.error.remedy)}")
    if record.answer:
        console.print()
        console.print(escape(record.answer))
    for citation in record.citations:
        place = " § ".join(part for part in (citation.source, citation.section) if part)
        around = f", from what surrounds it ({', '.join(citation.around)})" if citation.around else ""
        console.print(escape(f"[{citation.marker}] {place}{around}"), style="cyan")
    for cell in record.cell_citations:
        console.print(escape(f"[{cell.marker}] {cell.value}"), style="cyan")
    for said in record.unsupported_sentences or ():
        lacks = f": {', '.join(said.missing)}" if said.missing else ""
        console.print(escape(f"not in what it cites{lacks} — {said.sentence}"), style="yellow")
    for check in record.checks or ():
        if check.p_supported is None:
            console.print(escape(f"not checked — {check.sentence}"), style="yellow")
    cost = f"{record.calls} model calls · {record.duration_ms / 1000:.2f} s"
    note = f" · {_ANSWER_NOTES[record.answer_note]}" if record.answer_note else ""
    console.print(escape(f"\n{record.outcome} ({record.reason}){note} · {cost}"), style="dim")


_ANSWER_NOTES = {
    "cannot_tell": "says it cannot tell",
    "uncited": "names no passage",
    "unsupported": "not supported",
    "unchecked": "not checked in full",
}

_NOTES = {
    "no_graph": "the collection has no knowledge graph",
    "no_entity": "the question names no entity of the graph",
    "no_passages": "the passages that the graph leads to are gone",
    "no_communities": "the graph has no communities",
    "graph_unfinished": "the graph is not finished yet",
    "graph_stale": "the collection has changed since its graph was built",
    "graph_unreachable": "the graph cannot be reached, or not in time",
}


def mode_notes(record: RunRecord) -> tuple[str, ...]:
    """List what a mode's lists could not do, each once (GH-02)."""
    found = (item.graph for item in record.rounds if item.graph is not None)
    notes = ((note.list, _NOTES[note.code]) for graph in found for note in graph.notes)
    return tuple(dict.fromkeys(f"mode {record.config.mode}, list {name}: {said}" for name, said in notes))
