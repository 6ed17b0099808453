"""A knowledge graph to look around in: zoom, search, and from an entity or a relationship to its passages.

The picture is SVG that the browser draws; next to it stands the selection, below it everything once more as a list, for
users of the keyboard or a screen reader.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import streamlit as st

from components.common.graph_picture import Dot, GraphPicture, Line
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import nothing
from engine.messages import N_, NC_
from engine.model.values import PassageId

WELL_KNOWN = (
    *(N_("community"), N_("organization"), N_("name"), N_("symptom"), N_("location"), N_("event"), N_("term")),
    *(N_("drug"), N_("product"), N_("located in"), N_("produced by"), N_("used for"), N_("related to"), N_("is a")),
    *(N_("symptom of"), N_("produces")),
)
"""Types that extractors give; ``tests.messages`` reads those of the samples' graphs from their files."""

Act = Literal["around", "passage"]

_KINDS = 7
"""Types, or communities, with a colour and a shape of their own; all others share one more."""
_DESCRIPTION = 600
"""Characters of a description that leave for the browser."""
_PASSAGES = 12
"""Passages of what is chosen that are shown."""

_component = component(
    "graph_view",
    html='<section class="wb graph"></section>',
    css=script("tokens.css", "graph_view.css"),
    js=script(
        "dom.js", "graph_view_shapes.js", "graph_view_draw.js", "graph_view_detail.js", "graph_view_moves.js",
        "graph_view.js",
    ),
)  # fmt: skip
_Points = npt.NDArray[np.float64]

_GAP = 64.0
"""Room that one entity takes, in units of the drawing: about the pixels of a picture that is not zoomed."""
_SIGHT = 4.5
"""Gaps from which on two no longer repel each other: else parts that nothing joins would drift apart without end."""
_STEPS = 160
_FEWER_STEPS = 90
_MANY = 250
"""From so many entities on fewer steps have to do: one costs the square of their number."""
_WIDER = 1.6
"""Width over height that a page has room for."""
_MOST_SPREAD = 1.6
_SUNFLOWER = math.pi * (3 - math.sqrt(5))
_APART = 12
"""Passes that push apart what overlaps."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage behind what is chosen."""

    place: str
    """Source and section, or what tells it from others."""
    text: str


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """User action."""

    selected: str | None
    """Id of the dot or line that is chosen; stays until another is, or none."""
    act: Act | None = None
    """What was pressed in this rerun: to see the neighbours of an entity, or to go to a passage."""
    target: str = ""
    """Id of the entity or the passage that it was about."""


def chosen_in(picture: GraphPicture, key: str) -> str | None:
    """Return the selection of the view under ``key``, so that its passages can be read before it is drawn."""
    chosen = (st.session_state.get(key) or {}).get("selected")
    return str(chosen) if chosen in picture.items else None


def wanted_passages(picture: GraphPicture, key: str) -> tuple[PassageId, ...]:
    """Those to hand over as ``passages``: the first of what is chosen."""
    chosen = chosen_in(picture, key)
    return picture.items[chosen].passages[:_PASSAGES] if chosen else ()


def graph_view(
    picture: GraphPicture,
    words: Words,
    *,
    key: str,
    passages: Mapping[PassageId, ShownPassage] | None = None,
    around: bool = False,
    open_passage: str = "",
) -> GraphEvent:
    """Draw the graph; ``passages`` are those of what is chosen (:func:`wanted_passages`), by id.

    With ``around`` an entity offers to show its neighbours, with ``open_passage`` a passage has a button of this
    label.
    """
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            **graph_data(picture, words),
            "selected": (st.session_state.get(key) or {}).get("selected"),
            "passages": {str(name): [item.place, item.text] for name, item in (passages or {}).items()},
            "around": around,
            "open": open_passage,
            "words": {name: words(text) for name, text in _PHRASES.items()},
        },
        on_selected_change=nothing,
        on_act_change=nothing,
    )
    act = result.act
    now = result.selected if result.selected in picture.items else None
    if isinstance(act, Mapping) and act.get("name") in ("around", "passage"):
        last = f"{key}_serial"
        # A press counts once, however often it is delivered.
        if st.session_state.get(last) != act.get("serial"):
            st.session_state[last] = act.get("serial")
            name: Act = "around" if act["name"] == "around" else "passage"
            return GraphEvent(now, name, str(act.get("target", "")))
    return GraphEvent(now)


def graph_data(picture: GraphPicture, words: Words) -> dict[str, Any]:
    """The JSON that the browser draws from: places, looks, and every text as text."""
    places = _places(picture.dots, picture.lines)
    kinds = _legend([dot.type for dot in picture.dots])
    groups = _legend([dot.group for dot in picture.dots if dot.group])
    titles = picture.groups or {}
    return {
        "dots": [_dot(dot, places[dot.id], kinds, groups, words) for dot in picture.dots],
        "lines": [_line(line, words) for line in picture.lines if line.source in places and line.target in places],
        "kinds": [[place, type_text(name, words), n] for name, place, n in _named(kinds, words)],
        "groups": [[place, titles.get(name, name), n] for name, place, n in _named(groups, words)],
        "overview": bool(picture.dots) and picture.dots[0].look == "community",
        "looks": sorted({dot.look for dot in picture.dots}),
    }


def type_text(name: str, words: Words) -> str:
    """A type of entities or relationships as it is said; one without a translation as the extractor wrote it."""
    return words.known(spoken_type(name))


def spoken_type(name: str) -> str:
    """The English of a type: ``PART_OF`` → *part of*."""
    return name.replace("_", " ").lower()


def line_text(line: Line, words: Words) -> str:
    """Label a line in a word or two."""
    return words.count("1 relationship", "{n} relationships", line.count) if line.count else type_text(line.type, words)


_Legend = Mapping[str, tuple[int, int]]


def _legend(names: Sequence[str]) -> _Legend:
    """Place of each name's colour and how often it occurs; those beyond the last colour share it."""
    ranked = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return {name: (min(place, _KINDS), count) for place, (name, count) in enumerate(ranked)}


def _named(legend: _Legend, words: Words) -> list[tuple[str, int, int]]:
    own = [(name, place, count) for name, (place, count) in legend.items() if place < _KINDS]
    rest = [count for place, count in legend.values() if place == _KINDS]
    return [*own, (words("… and {n} more", n=len(rest)), _KINDS, sum(rest))] if rest else own


def _dot(dot: Dot, place: tuple[float, float], kinds: _Legend, groups: _Legend, words: Words) -> dict[str, Any]:
    facts = []
    if dot.size:
        facts.append(words.count("1 entity", "{n} entities", dot.size))
    else:
        facts.append(type_text(dot.type, words))
        facts.append(words.count("1 relationship", "{n} relationships", dot.degree))
    if dot.hops:
        facts.append(words.count("1 step away", "{n} steps away", dot.hops))
    if dot.score is not None:
        facts.append(words("score {score}", score=f"{dot.score:.2f}"))
    return {
        "id": dot.id,
        "name": dot.name,
        "kind": kinds[dot.type][0],
        # Whole communities are distinguished by their names; a colour each would mean nothing.
        "group": 0 if dot.size else groups[dot.group][0] if dot.group in groups else _KINDS,
        "community": dot.group,
        "look": dot.look,
        "x": place[0],
        "y": place[1],
        "r": dot.radius,
        "facts": facts,
        "description": dot.description[:_DESCRIPTION],
        "aliases": list(dot.aliases),
        "members": list(dot.members),
        "size": dot.size,
        "passages": [str(item) for item in dot.passages[:_PASSAGES]],
        "n": len(dot.passages),
    }


def _line(line: Line, words: Words) -> dict[str, Any]:
    return {
        "id": line.id,
        "source": line.source,
        "target": line.target,
        "label": line_text(line, words),
        "description": line.description[:_DESCRIPTION],
        "weight": line.weight,
        "directed": not line.count,
        "passages": [str(item) for item in line.passages[:_PASSAGES]],
        "n": len(line.passages),
    }


@lru_cache(maxsize=16)
def _places(dots: tuple[Dot, ...], lines: tuple[Line, ...]) -> dict[str, tuple[float, float]]:
    # Half a second for 500 entities, and the page is redrawn at every press.
    return layout_of(
        [dot.id for dot in dots],
        # Communities are joined by many lines: at full strength they would lie on each other.
        [(line.source, line.target, 0.25 if line.count else line.weight) for line in lines],
        [dot.group for dot in dots],
        [dot.radius for dot in dots],
    )


_PHRASES = {
    "picture": N_("Knowledge graph"),
    "keys": N_("Drag to move, Ctrl + wheel to zoom. Keys: arrows, Enter, + and −, 0 shows all."),
    "hint": N_("Choose one to see its passages."),
    "central": N_("Most important"),
    "close": N_("Close"),
    "self": N_("this one"),
    "find": NC_("knowledge", "Search"),
    "find.overview": NC_("knowledge", "Search"),
    "find.none": N_("Not found"),
    "colour": N_("Colour by"),
    "colour.kind": N_("Type"),
    "colour.group": N_("Community"),
    "in": N_("Zoom in"),
    "out": N_("Zoom out"),
    "fit": N_("Show all"),
    "save": N_("Download"),
    "relations": NC_("graph", "Relationships"),
    "more.relations": N_("… and {n} more"),
    "aliases": N_("Aliases"),
    "include": N_("Most important"),
    "around": N_("Show its surroundings"),
    "whole": N_("Show its surroundings"),
    "full": N_("Whole passage"),
    "less": N_("Less"),
    "passages": N_("Passages"),
    "passages.wait": N_("Checking …"),
    "passages.more": N_("… and {n} more"),
    "unread": N_("unreadable"),
    "list": N_("As a list"),
    "list.entities": N_("Entities"),
    "list.communities": NC_("graph", "Communities"),
    "look.centre": N_("this one"),
    "look.asked": N_("named in the question"),
    "look.linked": N_("reached through a passage"),
    "look.near": N_("reached along relationships"),
}


def layout_of(
    ids: Sequence[str],
    lines: Sequence[tuple[str, str, float]],
    groups: Sequence[str] = (),
    radii: Sequence[float] = (),
) -> dict[str, tuple[float, float]]:
    """Places by id, the middle of the picture at (0, 0); ``lines`` are source, target and weight.

    ``groups`` names what each belongs to: members stand side by side and are drawn together. The order in which
    entities and lines are given makes no difference, and there is no chance in it.
    """
    if not ids:
        return {}
    given = {name: place for place, name in enumerate(ids)}
    order = sorted(given)
    at = {name: place for place, name in enumerate(order)}
    belongs = [groups[given[name]] if groups else "" for name in order]
    size = np.array([radii[given[name]] if radii else 8.0 for name in order])
    pairs: dict[tuple[int, int], float] = {}
    for source, target, weight in lines:
        if source in at and target in at and source != target:
            pair = (min(at[source], at[target]), max(at[source], at[target]))
            pairs[pair] = max(pairs.get(pair, 0.0), weight)
    gap = max(_GAP, 2.2 * float(size.mean()) + 36)
    points = _beginning(belongs, gap)
    _settle(points, _springs(pairs, len(order)), _middles(belongs), gap)
    _spread(points)
    _push_apart(points, size)
    points -= (points.max(axis=0) + points.min(axis=0)) / 2
    return {name: (round(float(x), 1), round(float(y), 1)) for name, (x, y) in zip(order, points, strict=True)}


def _beginning(belongs: Sequence[str], gap: float) -> _Points:
    """Groups as a sunflower around the middle, the largest first, and their members as one around theirs."""
    sizes: dict[str, int] = {}
    for name in belongs:
        sizes[name] = sizes.get(name, 0) + 1
    groups = sorted(sizes, key=lambda name: (-sizes[name], name))
    far = gap * math.sqrt(len(belongs) / max(1, len(groups)))
    centres = {name: _petal(place, far) for place, name in enumerate(groups)}
    seen: dict[str, int] = {}
    points = np.zeros((len(belongs), 2))
    for place, name in enumerate(belongs):
        seen[name] = seen.get(name, -1) + 1
        x, y = _petal(seen[name], gap * 0.7)
        points[place] = (centres[name][0] * _WIDER + x, centres[name][1] + y)
    return points


def _petal(place: int, gap: float) -> tuple[float, float]:
    away = gap * math.sqrt(place + 0.35)
    return away * math.cos(place * _SUNFLOWER), away * math.sin(place * _SUNFLOWER)


def _springs(pairs: dict[tuple[int, int], float], number: int) -> tuple[npt.NDArray[np.intp], _Points]:
    if not pairs:
        return np.zeros((0, 2), dtype=np.intp), np.zeros(0)
    ends = np.array(sorted(pairs), dtype=np.intp)
    weights = np.array([pairs[pair] for pair in sorted(pairs)])
    degrees = np.bincount(ends.ravel(), minlength=number).astype(float)
    # The many lines of a hub would pull all of its neighbours into one heap.
    busy = np.sqrt(np.maximum(1.0, np.minimum(degrees[ends[:, 0]], degrees[ends[:, 1]])))
    return ends, np.clip(weights, 0.25, 2.0) / busy


def _middles(belongs: Sequence[str]) -> _Points | None:
    """Rows that average the members of a group, for each member; None where there is one group at most."""
    names = sorted(set(belongs))
    if len(names) < 2:
        return None
    member = np.array([[float(name == other) for other in names] for name in belongs])
    averages: _Points = member @ (member / member.sum(axis=0)).T
    return averages


def _settle(
    points: _Points, springs: tuple[npt.NDArray[np.intp], _Points], middles: _Points | None, gap: float
) -> None:
    """Fruchterman and Reingold's forces, with gravity against parts that drift away; changes ``points``."""
    number = len(points)
    ends, weights = springs
    steps = _STEPS if number < _MANY else _FEWER_STEPS
    heat = gap * math.sqrt(number) * 0.35
    gravity = np.array([0.05, 0.075])
    for step in range(steps):
        between = points[:, None, :] - points[None, :, :]
        apart = np.einsum("ijk,ijk->ij", between, between)
        np.maximum(apart, 1.0, out=apart)
        repelled = gap * gap / apart
        repelled[apart > (_SIGHT * gap) ** 2] = 0.0
        moves = np.einsum("ijk,ij->ik", between, repelled)
        if len(ends):
            along = points[ends[:, 0]] - points[ends[:, 1]]
            long = np.linalg.norm(along, axis=1)
            pull = along * (weights * long / gap)[:, None]
            np.add.at(moves, ends[:, 0], -pull)
            np.add.at(moves, ends[:, 1], pull)
        if middles is not None:
            moves += 0.25 * (middles @ points - points)
        moves -= gravity * points * math.sqrt(number) * 0.3
        strength = np.maximum(np.linalg.norm(moves, axis=1), 1e-9)
        limit = np.minimum(strength, heat * (1 - step / steps) + 0.5)
        points += moves * (limit / strength)[:, None]


def _spread(points: _Points) -> None:
    """Fill the width of a page: a round heap leaves half of it empty."""
    wide, high = np.maximum(points.max(axis=0) - points.min(axis=0), 1.0)
    if len(points) > 2:
        points[:, 0] *= min(_MOST_SPREAD, max(1.0, _WIDER * high / wide))


def _push_apart(points: _Points, size: _Points) -> None:
    """No two circles over each other, with room for a short name below each."""
    needed = size[:, None] + size[None, :] + 14.0
    for _ in range(_APART):
        between = points[:, None, :] - points[None, :, :]
        apart = np.sqrt(np.einsum("ijk,ijk->ij", between, between))
        np.fill_diagonal(apart, np.inf)
        short = np.maximum(0.0, needed - apart)
        if not short.any():
            return
        # Two in one place have no direction of their own: the order tells them apart.
        points += 0.5 * np.einsum("ijk,ij->ik", between, short / np.maximum(apart, 1e-6))
        points[:, 0] += np.where((apart < 1e-6).any(axis=1), np.arange(len(points)) * 0.5, 0.0)
