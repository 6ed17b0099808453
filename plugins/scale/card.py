"""The index of a collection: what it is, what was measured of it, and what another one would take."""

from __future__ import annotations

from components.common.amounts import count_text, moment
from components.common.i18n import Words
from components.common.markup import Node, button, chip, node, table
from components.common.phrases import duration_text
from components.knowledge.draw import draw_knowledge
from engine.messages import N_
from plugins.scale.values import BreadthFigures, IndexOption, IndexState, IndexView, RecallFigures

INDEX_NAMES = {
    "FLAT": N_("FLAT: compares with every passage, finds all"),
    "IVF_FLAT": N_("IVF_FLAT: looks into the nearest of many cells"),
    "IVF_SQ8": N_("IVF_SQ8: cells, with one byte a dimension"),
    "HNSW": N_("HNSW: walks a graph of neighbours in memory"),
    "DISKANN": N_("DISKANN: walks a graph on the disk of the server"),
    "AUTOINDEX": N_("AUTOINDEX: the server chose"),
}

_BREADTH = "breadth:"


def index_card(view: IndexView, words: Words, *, key: str) -> int | None:
    """Draw the index and its figures; returns the breadth whose button was pressed in this rerun."""
    parts = [_state(view.state, words)]
    if view.recall is not None:
        parts += _measured(view.recall, view.state, words)
    else:
        parts.append(node("p", "muted small", words("Not measured yet.")))
    pressed = draw_knowledge(parts, words, key=key)
    return int(pressed.removeprefix(_BREADTH)) if pressed and pressed.startswith(_BREADTH) else None


def index_name(kind: str, words: Words) -> str:
    """An index with what it does; by its own name where another program chose one that is not known here."""
    return words(INDEX_NAMES[kind]) if kind in INDEX_NAMES else kind or words("none")


def option_text(option: IndexOption, words: Words) -> str:
    """One index of a choice, and the memory that its vectors take."""
    memory = count_text(max(1, round(option.memory_mb)))
    text = words("{index} · about {n} MB", index=option.kind, n=memory)
    return words("{what} · advised at this size", what=text) if option.advised else text


def _state(state: IndexState, words: Words) -> Node:
    built = ", ".join(f"{name} {value}" for name, value in state.build.items())
    parts = [node("strong", "", index_name(state.kind, words))]
    if built:
        parts.append(node("div", "muted small num", built))
    said = words(
        "{done} of {total} passages in segments are indexed",
        done=count_text(state.indexed),
        total=count_text(state.rows),
    )
    parts.append(node("div", "small num", said))
    if state.parameter:
        breadth = count_text(state.breadth) if state.breadth else words("chosen by the server")
        text = words("Breadth of a search ({name}): {n}", name=state.parameter, n=breadth)
        parts.append(node("div", "small num", text))
    return node("div", "", *parts)


def _measured(recall: RecallFigures, state: IndexState, words: Words) -> list[Node]:
    heads = [words("Breadth"), f"recall@{recall.limit}", words("Search, median"), words("95th percentile"), ""]
    now = recall.kind == state.kind
    rows = [_row(row, state if now else None, words) for row in recall.rows]
    said = words(
        "Measured {when} UTC with {n} vectors of the collection against exact search among {passages}; times "
        "without embedding the question.",
        when=moment(recall.measured_at),
        n=recall.questions,
        passages=words.count("1 passage", "{n} passages", recall.passages),
    )
    parts = [table("flips", heads, rows, numbers=(0, 1, 2, 3)), node("p", "muted small", said)]
    if not now:
        parts.insert(0, node("p", "small", words("These figures are of the index {kind}.", kind=recall.kind)))
    return parts


def _row(row: BreadthFigures, state: IndexState | None, words: Words) -> list[Node | str]:
    """One breadth with its figures; without a ``state`` there is nothing to choose."""
    choice: Node | str = ""
    if state is not None and row.breadth:
        used = state.breadth == row.breadth
        choice = chip("accent", words("in use")) if used else button(words("Use"), f"{_BREADTH}{row.breadth}")
    return [
        count_text(row.breadth) if row.breadth else "–",
        f"{100 * row.recall:.1f} %",
        duration_text(row.median_ms),
        duration_text(row.p95_ms),
        choice,
    ]
