"""What a mode could not do, said loudly: no mode silently becomes another (GH-02)."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, draw, node
from components.common.phrases import fault_text
from components.labels.runs import LIST_NAMES, MODE_NOTES
from components.labels.settings import choices_of
from engine.errors import RunWarning
from engine.model.values import GraphEvidence, PassageId, Round, RunRecord

MODE_FAULT = RunWarning.mode_fell_back.code
"""Code of the warning that a mode searched something else: the notes say it, and what to do."""


def searched_mode(record: RunRecord) -> str:
    """The mode that was searched: the newest round's, else the config's."""
    return next((item.graph.mode for item in reversed(record.rounds) if item.graph), record.config.mode)


def mode_notes(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the notes of the newest search above its answer; nothing where every list did its work."""
    nodes = mode_note_nodes(record, words)
    if nodes:
        draw(nodes, words, key=key)


def mode_note_nodes(record: RunRecord, words: Words) -> list[Node]:
    """One box, with the fallback first and every list that could not do its work below; empty where all could."""
    evidence = next((item.graph for item in reversed(record.rounds) if item.graph is not None), None)
    advice = _chain_advice(record, words)
    if evidence is None or not (evidence.notes or evidence.fell_back_to):
        return advice
    said = [node("p", "", text) for text in note_texts(evidence, words)]
    # The modes that have vectors beside the graph fall back on nothing; their warning says what they were without.
    fell = bool(evidence.fell_back_to) or any(item.code == MODE_FAULT for item in record.warnings)
    if evidence.fell_back_to:
        lists = words(", ").join(words(LIST_NAMES[name]) for name in evidence.fell_back_to)
        mode = words(choices_of("mode")[searched_mode(record)])
        said.insert(
            0,
            node(
                "p",
                "",
                node(
                    "strong",
                    "",
                    words("Mode {mode} could not do its own work: {lists} searched instead.", mode=mode, lists=lists),
                ),
            ),
        )
    said += [node("p", "muted", fault_text(item, words)[1]) for item in record.warnings if item.code == MODE_FAULT][:1]
    icon = node("span", "icon", "!", aria_hidden="true")
    return [node("div", f"box {'warn' if fell else 'plain'}", icon, node("div", "grow", *said), role="alert"), *advice]


def _chain_advice(record: RunRecord, words: Words) -> list[Node]:
    """What to try where the graph led on and the built-in grader, which reads words, did not follow."""
    if record.outcome not in ("abstained", "answered_forced") or not record.config.models.grader.built_in:
        return []
    led = {
        item.passage.id
        for current in record.rounds
        for item in current.candidates
        if item.gate == "kept" and item.via and _refused(current, item.passage.id)
    }
    if not led:
        return []
    icon = node("span", "icon", "i", aria_hidden="true")
    return [
        node(
            "div",
            "box plain",
            icon,
            node(
                "div",
                "grow",
                words.count(
                    "The graph led to a passage that the built-in grader, judging it by itself, did not pass. A chat "
                    "model as grader reads such chains further.",
                    "The graph led to {n} passages that the built-in grader, judging each by itself, did not pass. A "
                    "chat model as grader reads such chains further.",
                    len(led),
                ),
            ),
        )
    ]


def _refused(current: Round, passage_id: PassageId) -> bool:
    verdict = current.verdicts.get(passage_id)
    return verdict is not None and verdict.relevant is False


def note_texts(evidence: GraphEvidence, words: Words) -> list[str]:
    """A sentence for all lists that could not work for one reason, in the order they were noted."""
    lists: dict[str, dict[str, None]] = {}
    for item in evidence.notes:
        lists.setdefault(item.code, {})[words(LIST_NAMES[item.list])] = None
    joint = words(", ")
    return [words(MODE_NOTES[code], list=joint.join(named)) for code, named in lists.items()]
