"""Collections of other programs: what an address holds, fields, the verdict on a model, and what is connected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from components.common.embedding_facts import model_name
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, command, draw, node
from components.common.phrases import fault_text, probability_text
from components.common.terms import query_terms
from components.knowledge.draw import draw_knowledge, note_box
from engine.library.values import ProposedModel, RemoteField
from engine.messages import N_, NC_
from pages.parts.knowledge import search
from plugins.connected.values import ConnectionState, ProbedQuestion, RemoteCollection, SelfSearch

_STATE = {
    "ok": N_("answers"),
    "down": N_("does not answer"),
    "unknown": N_("being looked at"),
}

_WHY = {
    "dimension": N_("{dim} dimensions, like these; the check tells whether it is the one."),
    "installed": N_("In Ollama, with {dim} dimensions, like these."),
    "not_pulled": N_("{dim} dimensions, like these, but Ollama does not have it yet."),
    "recorded": N_("Recorded there by this program."),
    "typed": N_("Typed in; the check tells whether it fits."),
}

_VERDICT = {
    "same": N_("This is the model: its vectors agree with the stored ones."),
    "related": N_(
        "Nearly this model: another version, other prefixes or cut texts. Questions find passages, with lower "
        "similarities."
    ),
    "other": N_("Another model made these vectors. Choose another one."),
}

_OLLAMA = "ollama:"
_MOSTLY = 0.8
"""Share of passages that find themselves first where nothing is left out."""
Asked = Literal["ask", "disconnect"]


def connection_cards(states: Sequence[ConnectionState], words: Words, *, key: str) -> tuple[Asked, str] | None:
    """Draw one card a connection; returns what was pressed and the connection's name."""
    action = draw_knowledge(
        [node("div", "founds", *(_connection(number, item, words) for number, item in enumerate(states)))],
        words,
        key=key,
    )
    what, _, number = (action or "").partition(":")
    if not number.isdecimal() or int(number) >= len(states):
        return None
    return ("ask" if what == "ask" else "disconnect"), states[int(number)].connection.name


def _connection(number: int, state: ConnectionState, words: Words) -> Node:
    item, info = state.connection, state.info
    known = "ok" if state.looked else "unknown"
    how = "down" if info.fault else known
    look = {"ok": "pass", "down": "fault", "unknown": "grey"}[how]
    sign = {"ok": "✓", "down": "✗", "unknown": "…"}[how]
    facts = words(
        "{collection} at {address} · {passages} passages · {dim} dimensions · {metric} · {model}",
        collection=item.collection,
        address=item.place.address or words("this workbench's own store"),
        passages=info.passages,
        dim=item.dim,
        metric=item.metric,
        model=model_name(item.embedding_model, words),
    )
    parts = [
        node("div", "head", node("strong", "", item.name), chip(look, f"{sign} {words(_STATE[how])}")),
        node("div", "muted small", facts),
    ]
    if info.fault is not None:
        parts.append(node("p", "small", words.joined(fault_text(info.fault, words))))
    actions = [button(words(NC_("connection", "Disconnect")), f"disconnect:{number}")]
    if info.fault is None:
        actions.insert(0, button(words("Ask it"), f"ask:{number}", "button primary"))
    return node("section", "card", *parts, node("div", "actions", *actions))


def remote_table(found: Sequence[RemoteCollection], words: Words, *, key: str) -> None:
    """Every collection of the place: rows, vectors, the text proposed, and why one cannot be asked."""
    st.dataframe(
        pd.DataFrame(
            {
                "name": [f"{item.name} → {item.alias_of}" if item.alias_of else item.name for item in found],
                "rows": [item.passages for item in found],
                "vectors": [_vectors(item) for item in found],
                "text": [item.proposed.text if item.proposed else "" for item in found],
                "fits": [_fits(item, words) for item in found],
            }
        ),
        hide_index=True,
        key=key,
        height=min(420, 38 + 35 * max(1, len(found))),
        column_config={
            "name": st.column_config.TextColumn(words("Collection"), width="medium"),
            "rows": st.column_config.NumberColumn(words("Rows"), width="small"),
            "vectors": st.column_config.TextColumn(words("Vectors"), width="medium"),
            "text": st.column_config.TextColumn(words("Text of the passage"), width="small"),
            "fits": st.column_config.TextColumn(words("Can be asked"), width="large"),
        },
    )


def _vectors(item: RemoteCollection) -> str:
    return ", ".join(
        " · ".join(part for part in (field.name, str(field.dim or ""), field.metric) if part)
        for field in item.fields
        if field.type.endswith("_VECTOR")
    )


def _fits(item: RemoteCollection, words: Words) -> str:
    if item.fault is not None:
        return fault_text(item.fault, words)[0]
    if item.own:
        return words("yes · made by this program")
    return words("yes" if item.loaded else "yes · will be loaded")


def field_table(fields: Sequence[RemoteField], words: Words, *, key: str) -> None:
    """Every field with its type and the beginning of one value, which is another program's words."""
    st.dataframe(
        pd.DataFrame(
            {
                "name": [item.name for item in fields],
                "type": [_kind(item, words) for item in fields],
                "sample": [item.sample for item in fields],
            }
        ),
        hide_index=True,
        key=key,
        column_config={
            "name": st.column_config.TextColumn(words("Field"), width="small"),
            "type": st.column_config.TextColumn(words("Type"), width="small"),
            "sample": st.column_config.TextColumn(words("Sample"), width="large"),
        },
    )


def _kind(item: RemoteField, words: Words) -> str:
    extra = (words("key") if item.primary else "", str(item.dim or ""), item.metric)
    return " · ".join(part for part in (item.type, *extra) if part)


def model_note(model: str, proposal: ProposedModel | None, dim: int, words: Words, *, key: str) -> None:
    """Explain the proposed model, with the command that downloads a missing one."""
    why = proposal.why if proposal else "typed"
    parts = [node("div", "muted small", words(_WHY[why], dim=dim))]
    if proposal is not None and not proposal.available and model.startswith(_OLLAMA):
        parts.append(command(f"ollama pull {model.removeprefix(_OLLAMA)}", words))
    draw(parts, words, key=key)


def self_search_note(result: SelfSearch, metric: str, words: Words, *, key: str) -> bool:
    """The verdict on a model in words and figures; true where better prefixes were taken."""
    if not result.asked:
        lacking = f" {_without_vector(result, words)}" if result.without_vector else ""
        note_box("plain", "?", words("There is no passage with text to compare.") + lacking, words, key=key)
        return False
    likeness = result.likeness
    lost = result.first < _MOSTLY * result.asked
    look, sign = {"same": ("pass", "✓"), "related": ("warn", "!"), "other": ("fault", "✗")}[likeness]
    said = words(_VERDICT[likeness])
    if lost and likeness == "related":
        said = words(
            "The model may be right, but these vectors were not made of this text. Choose the field that holds what "
            "was embedded."
        )
    elif lost and likeness == "same":
        said, look, sign = (
            words(
                "The model is right, but by {metric} long vectors come first, so the store may leave out near "
                "passages.",
                metric=metric,
            ),
            "warn",
            "!",
        )
    figures = words(
        "Mean cosine {cosine} over {asked} passages · {first} of {asked} find themselves first",
        cosine=probability_text(result.mean_cosine),
        asked=result.asked,
        first=result.first,
    )
    parts = [node("strong", "", said), node("div", "muted small", figures)]
    if result.without_vector:
        parts.append(node("p", "small", _without_vector(result, words)))
    if result.better is not None:
        better = result.better
        text = words(
            "With the prefixes “{query}” and “{passage}” the mean cosine is {cosine}.",
            query=better.query_prefix,
            passage=better.passage_prefix,
            cosine=probability_text(better.mean_cosine),
        )
        parts += [
            node("p", "small", text),
            node("div", "actions", button(words("Take these prefixes"), "take", "button primary")),
        ]
    return draw_knowledge((box(look, sign, *parts, role="status"),), words, key=key) == "take"


def _without_vector(result: SelfSearch, words: Words) -> str:
    return words.count(
        "{n} of the rows looked at has no vector; no search finds it.",
        "{n} of the rows looked at have no vector; no search finds them.",
        result.without_vector,
    )


def probe_results(probed: Sequence[ProbedQuestion], words: Words, *, key: str) -> None:
    """Each test question with its verdict and what it found."""
    for number, item in enumerate(probed):
        mark = chip("pass", f"✓ {words('finds something near')}")
        if not item.sensible:
            mark = chip("grey", f"✗ {words('finds nothing near')}")
        head = [node("div", "head", node("strong", "", item.question), mark)]
        if not item.found:
            head.append(node("p", "muted", words("The collection gave no passage.")))
        draw(head, words, key=f"{key}_{number}_head")
        if item.found:
            search.view(item.found[:3], query_terms(item.question), "vector", words, key=f"{key}_{number}")
