"""What a mode could not do, said loudly: no mode silently becomes another (SPEC GH-02)."""

from __future__ import annotations

from components.i18n import Words
from components.markup import Node, draw, node
from components.phrases import fault_text
from components.presenter_graph import searched_mode
from engine.values import GraphEvidence, RunRecord

MODE_FAULT = "WB120"
"""Code of the warning that a mode searched something else: the notes say it, and what to do."""


def mode_notes(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the notes of the newest search above its answer; nothing where every list did its work."""
    nodes = mode_note_nodes(record, words)
    if nodes:
        draw(nodes, words, key=key)


def mode_note_nodes(record: RunRecord, words: Words) -> list[Node]:
    """One box, with the fallback first and every list that could not do its work below; empty where all could."""
    evidence = next((item.graph for item in reversed(record.rounds) if item.graph is not None), None)
    if evidence is None or not (evidence.notes or evidence.fell_back_to):
        return []
    said = [node("p", "", text) for text in note_texts(evidence, words)]
    fell = bool(evidence.fell_back_to)
    if fell:
        lists = words("list.joint").join(words(f"list.{name}") for name in evidence.fell_back_to)
        mode = words(f"settings.mode.{searched_mode(record)}")
        said.insert(0, node("p", "", node("strong", "", words("mode.fell_back", mode=mode, lists=lists))))
    said += [node("p", "muted", fault_text(item, words)[1]) for item in record.warnings if item.code == MODE_FAULT][:1]
    icon = node("span", "icon", "!", aria_hidden="true")
    return [node("div", f"box {'warn' if fell else 'plain'}", icon, node("div", "grow", *said), role="alert")]


def note_texts(evidence: GraphEvidence, words: Words) -> list[str]:
    """A sentence for all lists that could not work for one reason, in the order they were noted."""
    lists: dict[str, dict[str, None]] = {}
    for item in evidence.notes:
        lists.setdefault(item.code, {})[words(f"list.{item.list}")] = None
    joint = words("list.joint")
    return [words(f"mode.note.{code}", list=joint.join(named)) for code, named in lists.items()]
