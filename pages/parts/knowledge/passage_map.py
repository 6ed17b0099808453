"""The view Map: passages on two axes, a question among them, and what became of them in a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, get_args

import plotly.graph_objects as go
import streamlit as st

from components.common.amounts import beginning
from components.common.controls import typed
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.life_lines import Fate, life_lines
from components.common.outcomes import ended_text, outcome_text
from components.common.phrases import place_text, section_text
from components.common.plotly_theme import themed
from components.knowledge.draw import quiet
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import MapPoint, PassageMap
from engine.messages import N_
from engine.model.values import Fault, PassageId, RunRecord
from engine.roles import CollectionInfo
from pages.parts.common.actions import retry_box
from pages.parts.common.session_cache import cached_in_session
from pages.parts.common.stored_runs import finished_record
from pages.parts.knowledge.state import NO_COLLECTION, add_files_step, collection_picker

_LOOK = {
    "cited": N_("Cited in the answer"),
    "passed": N_("Passed"),
    "failed": N_("Judged not relevant"),
    "dropped": N_("Found, not kept"),
    "not_found": N_("Not found"),
}

Look = Literal["not_found", "dropped", "failed", "passed", "cited"]
"""What became of a passage in a run, in the order in which they are drawn over each other."""

_LOOK_OF: Mapping[Fate, Look] = {
    "cited": "cited",
    "uncited": "passed",
    "cut": "passed",
    "passed": "passed",
    "failed": "failed",
    "unreadable": "failed",
    "ungraded": "failed",
    "below_threshold": "dropped",
    "below_graph": "dropped",
    "below_rerank": "dropped",
    "beyond_top_k": "dropped",
}
_HEIGHT = 520
_HOVER_WIDTH = 60
"""Characters of a line of the text that a pointer shows."""
_HOVER_LINES = 3
_NAME = 40
_COLOURED = 8
"""Sources with a colour and a symbol of their own; more could not be distinguished."""
_MOST = 2000
_RUNS = 30
_LONGEST = 2000


def panel(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the map of a collection with its controls; a click shows the passage below."""
    info = collection_picker(collections, words, width=420)
    if info is None:
        add_files_step(words(NO_COLLECTION), words, key="kb_map_none")
        return
    if not info.passages:
        add_files_step(words("This collection is empty."), words, key="kb_map_add", info=info)
        return
    with st.container(border=True, key="kb_map_box"):
        left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
        with left:
            typed = _query(words)
        with right:
            record = _run(engine, info, words)
    query = typed or (record.question if record else "")
    drawn = _drawn(engine, info, query, words)
    if drawn is None:
        return
    _explain(drawn, info, words)
    looks = looks_of({line.passage.id: line.fate for line in life_lines(record)}) if record else None
    clicked = view(drawn, looks, words, key=f"kb_map_{info.name}", name=info.name)
    st.caption(words("Choose one to see its passages."))
    if clicked is not None:
        _passage(engine, info, drawn, clicked, words)


def _query(words: Words) -> str:
    """The question, shared with the view Search."""
    return typed("kb_query", words("Question"), _LONGEST)


def _run(engine: Engine, info: CollectionInfo, words: Words) -> RunRecord | None:
    """The finished run to colour by: chosen among the newest of this collection, or named by ``?run=``."""
    # Under a name of its own in the state: the workbench keeps the run that it shows as ``run``.
    named = str(st.query_params.get("run", ""))
    given = finished_record(engine, named) if named else None
    labels = {"": words("Source")}
    for summary in (item for name in (info.name, *info.aliases) for item in engine.runs(_RUNS, collection=name)):
        if summary.outcome is not None:
            labels[summary.id] = (
                f"{summary.question[:60]} · {outcome_text(summary.outcome, words, summary.answer_note)}"
            )
    if given is not None and _searched(given, info):
        labels.setdefault(given.id, f"{given.question[:60]} · {ended_text(given, words)}")
    if named and "kb_map_run" not in st.session_state:
        st.session_state["kb_map_run"] = named
    if st.session_state.get("kb_map_run") not in labels:
        st.session_state["kb_map_run"] = ""
    chosen = st.selectbox(
        words("Colour by"),
        list(labels),
        format_func=lambda name: labels.get(name, ""),
        key="kb_map_run",
    )
    if named and given is None:
        st.caption(words("The run in the link has not ended, or is gone."))
    elif given is not None and not _searched(given, info):
        quiet(
            words("That run searched {name}.", name=given.config.collection),
            words,
            key="kb_map_other",
        )
    return finished_record(engine, chosen) if chosen else None


def _searched(record: RunRecord, info: CollectionInfo) -> bool:
    names = (info.name, *info.aliases)
    return record.config.collection in names or record.manifest.get("collection") in names


def _drawn(engine: Engine, info: CollectionInfo, query: str, words: Words) -> PassageMap | None:
    def read() -> PassageMap:
        with st.spinner(words("Map"), show_time=False):
            return engine.library.passage_map(info.name, query, _MOST)

    try:
        return cached_in_session("kb_map", (engine.instance, info.name, info.fingerprint, query), read)
    except WorkbenchError as error:
        retry_box(error, words, key="kb_map_fault")
    if not query:
        return None
    # A question needs its model; the map itself does not.
    asked = (engine.instance, info.name, info.fingerprint)
    return cached_in_session("kb_map_bare", asked, lambda: engine.library.passage_map(info.name, "", _MOST))


def _explain(drawn: PassageMap, info: CollectionInfo, words: Words) -> None:
    """Explain the view and its limits."""
    variance = words(
        "two axes, {share} of the variance of {dim} dimensions: near points may be far apart in meaning",
        share=share_text(sum(drawn.explained)),
        dim=info.dim,
    )
    st.caption(f"{counts_text(drawn, words)} · {variance}")


def _passage(engine: Engine, info: CollectionInfo, drawn: PassageMap, passage_id: PassageId, words: Words) -> None:
    """The whole passage, as text: it is untrusted."""
    point = next(item for item in drawn.points if item.id == passage_id)
    try:
        stored = next((item for item in engine.passages(info.name, point.source) if item.id == passage_id), None)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="kb_map_passage_fault")
        stored = None
    with st.container(border=True, key="kb_map_passage"):
        st.text(place_text(point.source, point.section, words))
        st.text(stored.text if stored is not None else point.text)


@dataclass(frozen=True, slots=True)
class _Style:
    """Drawing style of a group of points; no two groups differ by colour alone."""

    colour: str
    symbol: str
    size: int = 8
    opacity: float = 0.85


_SOURCES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "hexagon", "pentagon")
_HUES = ("#4f46e5", "#0d9488", "#d97706", "#be185d", "#0284c7", "#65a30d", "#9333ea", "#b45309")
_HUES_DARK = ("#a5b4fc", "#2dd4bf", "#fbbf24", "#f472b6", "#38bdf8", "#a3e635", "#c084fc", "#fb923c")

_MEANINGS = ("#b6bcc9", "#dc2626", "#d97706", "#0d9488")
_MEANINGS_DARK = ("#6b7280", "#f87171", "#f59e0b", "#2dd4bf")
"""Not found, judged not relevant, found but not kept, passed: as everywhere on the pages."""


def looks_of(fates: Mapping[PassageId, Fate]) -> dict[PassageId, Look]:
    """Return the appearance on the map of each passage that a run found."""
    return {passage: _LOOK_OF[fate] for passage, fate in fates.items()}


def view(
    drawn: PassageMap,
    looks: Mapping[PassageId, Look] | None,
    words: Words,
    *,
    key: str,
    name: str = "",
) -> PassageId | None:
    """Draw the map and return the passage whose point was clicked; ``looks`` of None colours by source.

    Names and texts of passages are untrusted: Plotly reads some HTML in what it shows, so they are escaped.
    """
    figure = map_figure(drawn, looks, words, dark=st.context.theme.type == "dark")
    event = st.plotly_chart(
        figure,
        key=key,
        on_select="rerun",
        selection_mode="points",
        config={
            "displaylogo": False,
            "displayModeBar": True,
            "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
            "toImageButtonOptions": {"format": "svg", "filename": f"passages-{name}", "scale": 2},
        },
    )
    chosen: Mapping[str, Any] = event.get("selection") or {}
    points: Sequence[Mapping[str, object]] = chosen.get("points") or ()
    known = {point.id for point in drawn.points}
    for point in points:
        found = point.get("customdata")
        wanted = found[0] if isinstance(found, list | tuple) and found else found
        if wanted in known:
            return PassageId(str(wanted))
    return None


def map_figure(
    drawn: PassageMap, looks: Mapping[PassageId, Look] | None, words: Words, *, dark: bool = False
) -> go.Figure:
    """The chart alone."""
    themed()
    figure = go.Figure()
    groups = _by_source(drawn.points, words, dark) if looks is None else _by_look(drawn.points, looks, words, dark)
    for label, style, points in groups:
        figure.add_scatter(
            x=[point.x for point in points],
            y=[point.y for point in points],
            mode="markers",
            name=label,
            marker={"color": style.colour, "symbol": style.symbol, "size": style.size, "opacity": style.opacity},
            selected={"marker": {"opacity": 1.0, "size": style.size + 6}},
            unselected={"marker": {"opacity": style.opacity}},
            customdata=[[point.id] for point in points],
            hovertext=[_hover(point, words) for point in points],
            hoverinfo="text",
        )
    _add_query(figure, drawn, words, dark)
    ink, line = ("#e5e7eb", "#3b4252") if dark else ("#1f2937", "#e3e6ec")
    figure.update_layout(
        height=_HEIGHT,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": -0.12, "yanchor": "top", "x": 0, "itemsizing": "constant"},
        hoverlabel={"align": "left"},
        # A finger or a wheel over the map scrolls the page; the buttons above it zoom and move.
        dragmode=False,
        font={"color": ink},
    )
    shares = [share_text(share) for share in drawn.explained]
    axis = {"showticklabels": False, "zeroline": False, "showgrid": True, "gridcolor": line, "ticks": ""}
    figure.update_xaxes(title=f"PC1 · {shares[0]}", **axis)
    figure.update_yaxes(title=f"PC2 · {shares[1]}", **axis)
    return figure


def share_text(share: float) -> str:
    """A share of the variance, with a digit after the point where it says something."""
    return f"{share:.0%}" if share >= 0.095 else f"{share:.1%}"


def counts_text(drawn: PassageMap, words: Words) -> str:
    """Describe how many of the passages the map shows."""
    shown = len(drawn.points)
    if shown < drawn.total:
        return f"{words('Passages')} {shown:,}/{drawn.total:,}"
    return words.count("1 passage", "{n} passages", shown)


_Group = tuple[str, _Style, list[MapPoint]]


def _by_look(points: Sequence[MapPoint], looks: Mapping[PassageId, Look], words: Words, dark: bool) -> list[_Group]:
    grey, red, amber, green = _MEANINGS_DARK if dark else _MEANINGS
    styles: Mapping[Look, _Style] = {
        "not_found": _Style(grey, "circle", 5, 0.6),
        "dropped": _Style(amber, "diamond-open", 10, 1.0),
        "failed": _Style(red, "x", 9, 1.0),
        "passed": _Style(green, "circle", 11, 1.0),
        "cited": _Style(green, "hexagram", 15, 1.0),
    }
    groups: list[_Group] = []
    for look in get_args(Look):
        found = [point for point in points if looks.get(point.id, "not_found") == look]
        if found:
            groups.append((f"{words(_LOOK[look])} ({len(found)})", styles[look], found))
    return groups


def _by_source(points: Sequence[MapPoint], words: Words, dark: bool) -> list[_Group]:
    """The sources with most points by name, the rest together."""
    counts = Counter(point.source for point in points)
    # One more than has a colour needs no group of its own.
    own = [name for name, _ in counts.most_common(_COLOURED)]
    hues = _HUES_DARK if dark else _HUES
    others = [point for point in points if point.source not in own]
    groups: list[_Group] = []
    if others:
        label = words("… and {n} more", n=len(counts) - len(own))
        groups.append((label, _Style("#6b7280" if dark else "#b6bcc9", "circle", 5, 0.6), others))
    for place, name in enumerate(sorted(own)):
        style = _Style(hues[place], _SOURCES[place])
        groups.append((escape(beginning(name, _NAME)), style, [point for point in points if point.source == name]))
    return groups


def _add_query(figure: go.Figure, drawn: PassageMap, words: Words, dark: bool) -> None:
    accent, ink = ("#a5b4fc", "#f3f4f6") if dark else ("#4f46e5", "#111827")
    by_id = {point.id: point for point in drawn.points}
    hits = [by_id[item] for item in drawn.hits if item in by_id]
    if hits:
        figure.add_scatter(
            x=[point.x for point in hits],
            y=[point.y for point in hits],
            mode="markers+text",
            name=words("Nearest"),
            text=[str(rank) for rank in range(1, len(hits) + 1)],
            textposition="top right",
            textfont={"color": ink, "size": 11},
            marker={"symbol": "circle-open", "size": 17, "color": accent, "line": {"width": 2}},
            unselected={"marker": {"opacity": 1.0}},
            customdata=[[point.id] for point in hits],
            hovertext=[_hover(point, words) for point in hits],
            hoverinfo="text",
        )
    if drawn.query is not None:
        figure.add_scatter(
            x=[drawn.query[0]],
            y=[drawn.query[1]],
            mode="markers",
            name=words("Question"),
            marker={"symbol": "star", "size": 20, "color": accent, "line": {"width": 1.5, "color": ink}},
            unselected={"marker": {"opacity": 1.0}},
            hovertext=[words("Question")],
            hoverinfo="text",
        )


def _hover(point: MapPoint, words: Words) -> str:
    """Source, section and the first words, in lines that fit a small screen."""
    text = " ".join(point.text.split())
    lines = [text[start : start + _HOVER_WIDTH] for start in range(0, len(text), _HOVER_WIDTH)]
    if len(lines) > _HOVER_LINES:
        lines = [*lines[: _HOVER_LINES - 1], f"{lines[_HOVER_LINES - 1]}…"]
    head = f"<b>{escape(beginning(point.source, _HOVER_WIDTH))}</b>"
    section = [escape(beginning(section_text(point.section, words), _HOVER_WIDTH))] if point.section else []
    return "<br>".join([head, *section, *(escape(line) for line in lines)])
