"""A knowledge graph to look around in: zoom, search, and from an entity or a relationship to its passages.

The picture is SVG that the browser draws; beside it stands what is chosen, below it everything once more as a list, for
whoever reads with the keyboard or hears the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import streamlit as st

from components.common.graph_layout import layout_of
from components.common.graph_picture import Dot, GraphPicture, Line
from components.common.i18n import Words
from components.common.markup import script
from engine.messages import N_, NC_
from engine.model.values import PassageId

_TYPE = {
    "ACTIVITY": N_("activity"),
    "CELL": N_("cell"),
    "COMMUNITY": N_("community"),
    "COMPLICATION": N_("complication"),
    "CONCEPT": N_("concept"),
    "DEVICE": N_("device"),
    "DISEASE": N_("disease"),
    "DRAWING": N_("drawing"),
    "DRUG": N_("drug"),
    "EMERGENCY": N_("emergency"),
    "EVENT": N_("event"),
    "FIELD": N_("field"),
    "GENE": N_("gene"),
    "HORMONE": N_("hormone"),
    "LAW": N_("law"),
    "LOCATION": N_("location"),
    "MEDICINE": N_("medicine"),
    "METHOD": N_("method"),
    "NAME": N_("name"),
    "NUTRIENT": N_("nutrient"),
    "ORGAN": N_("organ"),
    "ORGANISATION": N_("organisation"),
    "ORGANIZATION": N_("organization"),
    "PERSON": N_("person"),
    "PLACE": N_("place"),
    "PROBLEM": N_("problem"),
    "PRODUCT": N_("product"),
    "STANDARD": N_("standard"),
    "STATE": N_("state"),
    "SUBSTANCE": N_("substance"),
    "SYMPTOM": N_("symptom"),
    "TERM": N_("term"),
    "TEST": N_("test"),
    "THEOREM": N_("theorem"),
    "TREATMENT": N_("treatment"),
    "TRIAL": N_("trial"),
    "WORK": N_("work"),
}

_RELATION = {
    "ACTS_ON": N_("acts on"),
    "ALTERNATIVE_TO": N_("alternative to"),
    "ANNOUNCES": N_("announces"),
    "ARISES_IN": N_("arises in"),
    "AXIOMATISED": N_("axiomatised"),
    "BELIEVED_BY": N_("believed by"),
    "CAUSED_BY": N_("caused by"),
    "CAUSED_BY_LACK_OF": N_("caused by lack of"),
    "CAUSES": N_("causes"),
    "CHARACTERISED": N_("characterised"),
    "CLASSIFIES": N_("classifies"),
    "COMBINES": N_("combines"),
    "COMPLICATION_OF": N_("complication of"),
    "CONFIRMS": N_("confirms"),
    "CONSISTS_OF": N_("consists of"),
    "CONTAINS": N_("contains"),
    "CONTEMPORARY_OF": N_("contemporary of"),
    "CORRECTS": N_("corrects"),
    "CORRESPONDS_TO": N_("corresponds to"),
    "COUNTED": N_("counted"),
    "COUNTED_BY_CORRECTING": N_("counted by correcting"),
    "COUNTERPART_OF": N_("counterpart of"),
    "COUNTS": N_("counts"),
    "DAMAGES": N_("damages"),
    "DANGEROUS_WITH": N_("dangerous with"),
    "DEFINED": N_("defined"),
    "DEFINES": N_("defines"),
    "DELAYS": N_("delays"),
    "DEPENDS_ON": N_("depends on"),
    "DESTROYS": N_("destroys"),
    "DIAGNOSES": N_("diagnoses"),
    "DIFFERS_FROM": N_("differs from"),
    "DISCOVERED": N_("discovered"),
    "DISTINGUISHED_BY": N_("distinguished by"),
    "DISTORTS": N_("distorts"),
    "DRAWS": N_("draws"),
    "DREW": N_("drew"),
    "EQUIVALENT_TO": N_("equivalent to"),
    "EXAMINED": N_("examined"),
    "EXAMPLE_OF": N_("example of"),
    "EXPLAINS": N_("explains"),
    "EXTRACTED_FROM": N_("extracted from"),
    "FASTER_THAN": N_("faster than"),
    "FINDS": N_("finds"),
    "FIRST_PROVED": N_("first proved"),
    "FIRST_SIGN_OF": N_("first sign of"),
    "FOLLOWED": N_("followed"),
    "FOLLOWS_IN": N_("follows in"),
    "FOLLOWS_UP": N_("follows up"),
    "FORBIDS": N_("forbids"),
    "FORERUNNER_OF": N_("forerunner of"),
    "FORMED_FROM": N_("formed from"),
    "FORMER_NAME_OF": N_("former name of"),
    "FOUNDED": N_("founded"),
    "FOUND_BEFORE": N_("found before"),
    "GAVE_LABORATORY_TO": N_("gave laboratory to"),
    "GAVE_NOTATION_FOR": N_("gave notation for"),
    "GAVE_UP": N_("gave up"),
    "GUARANTEES": N_("guarantees"),
    "HAS": N_("has"),
    "HIDES": N_("hides"),
    "HOLDS_FOR": N_("holds for"),
    "INTRODUCED": N_("introduced"),
    "INVENTED": N_("invented"),
    "IS": N_("is"),
    "IS_A": N_("is a"),
    "IS_ABOUT": N_("is about"),
    "KIND_OF": N_("kind of"),
    "KNEW": N_("knew"),
    "LEADS_TO": N_("leads to"),
    "LINKED_WITH_DIABETES": N_("linked with diabetes"),
    "LOCATED_IN": N_("located in"),
    "LOWERED_LIMIT_OF": N_("lowered limit of"),
    "LOWERS": N_("lowers"),
    "MADE_EXTRACT_FOR": N_("made extract for"),
    "MAKES": N_("makes"),
    "MARKED_BY": N_("marked by"),
    "MEASURED_BY": N_("measured by"),
    "MISUSED": N_("misused"),
    "MOVES": N_("moves"),
    "MUST_GO_ON_IN": N_("must go on in"),
    "NAMED": N_("named"),
    "NAMESAKE_OF": N_("namesake of"),
    "NOT_BROKEN_BY": N_("not broken by"),
    "ORGAN_BEHIND": N_("organ behind"),
    "PART_OF": N_("part of"),
    "PRECEDES": N_("precedes"),
    "PRINTED": N_("printed"),
    "PRODUCED_BY": N_("produced by"),
    "PRODUCES": N_("produces"),
    "PROPERTY_OF": N_("property of"),
    "PROPOSED": N_("proposed"),
    "PROTECTS_FROM": N_("protects from"),
    "PROVED": N_("proved"),
    "PROVED_COMPLETE": N_("proved complete"),
    "PROVED_RESULT_OF": N_("proved result of"),
    "PROVES_MORE": N_("proves more"),
    "PURIFIED": N_("purified"),
    "RAISES": N_("raises"),
    "RAISES_GLUCOSE_IN": N_("raises glucose in"),
    "RAISES_RISK_OF": N_("raises risk of"),
    "RANKS": N_("ranks"),
    "RECOMMENDS": N_("recommends"),
    "REDUCED": N_("reduced"),
    "REFILLS": N_("refills"),
    "REFUTES": N_("refutes"),
    "RELATED_TO": N_("related to"),
    "RENAMED": N_("renamed"),
    "RESEMBLES": N_("resembles"),
    "RESTS_ON": N_("rests on"),
    "SATISFIES": N_("satisfies"),
    "SAVED": N_("saved"),
    "SEQUENCED": N_("sequenced"),
    "SETS_TARGET_FOR": N_("sets target for"),
    "SHARED_MONEY_WITH": N_("shared money with"),
    "SHARED_NOBEL_PRIZE_WITH": N_("shared nobel prize with"),
    "SHOOK": N_("shook"),
    "SIMILAR_TO": N_("similar to"),
    "SLOWED": N_("slowed"),
    "SOLD_PATENT_TO": N_("sold patent to"),
    "SOLVED": N_("solved"),
    "STARTED_FROM": N_("started from"),
    "STORES": N_("stores"),
    "STUDIED": N_("studied"),
    "STUDIED_IN": N_("studied in"),
    "SUFFICE_FOR": N_("suffice for"),
    "SYMPTOM_OF": N_("symptom of"),
    "TRANSLATED": N_("translated"),
    "TREATED": N_("treated"),
    "TREATED_WITH": N_("treated with"),
    "TREATS": N_("treats"),
    "USED": N_("used"),
    "USED_FOR": N_("used for"),
    "USED_IN": N_("used in"),
    "USES": N_("uses"),
    "WAKES": N_("wakes"),
    "WATCHES_FOR": N_("watches for"),
    "WORKED_AT": N_("worked at"),
    "WORKED_WITH": N_("worked with"),
}

Act = Literal["around", "passage"]

_KINDS = 7
"""Types, or communities, with a colour and a shape of their own; all others share one more."""
_DESCRIPTION = 600
"""Characters of a description that leave for the browser."""
_PASSAGES = 12
"""Passages of what is chosen that are shown."""

_component = st.components.v2.component(
    "graph_view",
    html='<section class="wb graph"></section>',
    css=script("tokens.css", "graph_view.css"),
    js=script(
        "dom.js", "graph_view_shapes.js", "graph_view_draw.js", "graph_view_detail.js", "graph_view_moves.js",
        "graph_view.js",
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage behind what is chosen."""

    place: str
    """Source and section, or what tells it from others."""
    text: str


@dataclass(frozen=True, slots=True)
class GraphEvent:
    """What the reader did."""

    selected: str | None
    """Id of the dot or line that is chosen; stays until another is, or none."""
    act: Act | None = None
    """What was pressed in this rerun: to see what lies around an entity, or to go to a passage."""
    target: str = ""
    """Id of the entity or the passage that it was about."""


def chosen_in(picture: GraphPicture, key: str) -> str | None:
    """What is chosen in the view drawn under ``key``, for its passages to be read before it is drawn."""
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
    selected: str | None = None,
) -> GraphEvent:
    """Draw the graph; ``passages`` are those of what is chosen (:func:`wanted_passages`), by id.

    With ``around`` an entity offers to show what lies around it, with ``open_passage`` a passage has a button of this
    label. ``selected`` chooses something where the reader has not chosen yet, as a link does.
    """
    state = st.session_state.get(key) or {}
    chosen = state.get("selected") if "selected" in state else selected
    result = _component(
        key=key,
        data={
            "lang": words.html_language,
            **graph_data(picture, words),
            "selected": chosen,
            "passages": {str(name): [item.place, item.text] for name, item in (passages or {}).items()},
            "around": around,
            "open": open_passage,
            "words": _phrases(words),
        },
        on_selected_change=_nothing,
        on_act_change=_nothing,
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
    """A type of entities as it is said; one without words of ours as the extractor wrote it, not in capitals."""
    return words(_TYPE[name]) if name in _TYPE else name.replace("_", " ").lower()


def relation_text(name: str, words: Words) -> str:
    """A type of relationships as it is said."""
    return words(_RELATION[name]) if name in _RELATION else name.replace("_", " ").lower()


def line_text(line: Line, words: Words) -> str:
    """What a line says in a word or two."""
    return (
        words.count("1 relationship", "{n} relationships", line.count)
        if line.count
        else relation_text(line.type, words)
    )


_Legend = Mapping[str, tuple[int, int]]


def _legend(names: Sequence[str]) -> _Legend:
    """Place of each name's colour and how often it occurs; those beyond the last colour share it."""
    ranked = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return {name: (min(place, _KINDS), count) for place, (name, count) in enumerate(ranked)}


def _named(legend: _Legend, words: Words) -> list[tuple[str, int, int]]:
    own = [(name, place, count) for name, (place, count) in legend.items() if place < _KINDS]
    rest = [count for place, count in legend.values() if place == _KINDS]
    return [*own, (words("others, {n} types", n=len(rest)), _KINDS, sum(rest))] if rest else own


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
        # Whole communities are told apart by their names; a colour each would mean nothing.
        "group": 0 if dot.size else groups[dot.group][0] if dot.group in groups else _KINDS,
        "community": dot.group,
        "look": dot.look,
        "x": place[0],
        "y": place[1],
        "r": dot.radius,
        "facts": facts,
        "told": dot.description[:_DESCRIPTION],
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
        "told": line.description[:_DESCRIPTION],
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
    "picture": N_("A knowledge graph of {n} entities and {m} relationships."),
    "picture.overview": N_("{n} communities, joined at {m} places."),
    "keys": N_(
        "Drag to move, Ctrl + wheel or two fingers to zoom. Keys: arrows go from entity to entity, Enter chooses, + "
        "and − zoom, 0 shows all."
    ),
    "hint": N_("Choose an entity or a relationship: its passages appear here."),
    "hint.overview": N_("Choose a community: its summary, its entities and its passages appear here."),
    "central": N_("Most important"),
    "largest": N_("Largest"),
    "close": N_("Let go"),
    "self": N_("this one"),
    "find": N_("Find in this picture"),
    "find.overview": N_("Find a community"),
    "find.none": N_("nothing of that name"),
    "colour": N_("Colour by"),
    "colour.kind": N_("Colour: type"),
    "colour.group": N_("Colour: community"),
    "in": N_("Nearer"),
    "out": N_("Farther"),
    "fit": N_("Show all"),
    "save": N_("Save the picture as SVG"),
    "relations": N_("Relationships"),
    "more.relations": N_("{n} more"),
    "aliases": N_("also:"),
    "include": N_("Its most important entities"),
    "around": N_("Show what lies around it"),
    "whole": N_("Show its entities"),
    "full": NC_("graph", "Whole passage"),
    "less": N_("Less"),
    "passages": N_("Passages"),
    "passages.wait": N_("Reading its passages…"),
    "passages.more": N_("and {n} more"),
    "unread": N_("Their text cannot be shown here."),
    "list": N_("The same as a list"),
    "list.entities": N_("Entities with their relationships"),
    "list.communities": N_("Communities"),
    "look.centre": N_("the one asked for"),
    "look.asked": N_("named in the question"),
    "look.linked": N_("reached through a passage"),
    "look.near": N_("reached along relationships"),
}


def _phrases(words: Words) -> dict[str, str]:
    return {name: words(text) for name, text in _PHRASES.items()}


def _nothing() -> None:
    """A value or a trigger exists on the result only where a callback is named."""
