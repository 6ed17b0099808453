"""The map of passages: groups that differ by more than colour, text that stays text, the question and its hits."""

from __future__ import annotations

from typing import get_args

import pytest

from components.common.i18n import words_for
from components.common.life_lines import Fate
from engine.library.values import MapPoint, PassageMap
from engine.model.values import PassageId
from pages.parts.knowledge.passage_map import Look, counts_text, looks_of, map_figure, share_text

EN = words_for("en")
HOSTILE = "<b>bold</b><br>![x](http://evil.example)<a href='javascript:1'>x</a>"


def point(place: int, source: str = "a.md", text: str = "words", section: str = "") -> MapPoint:
    return MapPoint(PassageId(f"{source}#{place}"), source, section, text, float(place), -float(place))


def drawn(*points: MapPoint, query: bool = False, hits: tuple[str, ...] = (), total: int = 0) -> PassageMap:
    places = tuple(PassageId(item) for item in hits)
    return PassageMap(points, (0.2, 0.031), total or len(points), (0.5, 0.5) if query else None, places)


def test_every_fate_has_a_look() -> None:
    fates = {PassageId(str(place)): fate for place, fate in enumerate(get_args(Fate))}
    assert set(looks_of(fates).values()) == set(get_args(Look)) - {"not_found"}


@pytest.mark.parametrize("dark", [False, True])
def test_what_became_of_passages_differs_by_symbol_and_by_colour(dark: bool) -> None:
    points = [point(place) for place in range(6)]
    looks: dict[PassageId, Look] = {points[place].id: look for place, look in enumerate(get_args(Look))}
    figure = map_figure(drawn(*points), looks, EN, dark=dark)
    marks = [(trace.marker.symbol, trace.marker.size) for trace in figure.data]
    assert len(set(marks)) == len(get_args(Look))
    assert len({trace.marker.symbol for trace in figure.data}) == len(get_args(Look)) - 1  # not found: small circles
    names = {trace.name for trace in figure.data}
    assert "Not found (2)" in names
    assert "Cited in the answer (1)" in names
    # What matters is never under what does not.
    assert figure.data[0].name.startswith("Not found")


def test_the_largest_sources_have_looks_of_their_own_and_the_others_share_one() -> None:
    points = [point(place, f"s{source:02d}.md") for source in range(12) for place in range(20 - source)]
    figure = map_figure(drawn(*points), None, EN)
    assert [trace.name for trace in figure.data] == ["… and 4 more", *(f"s{source:02d}.md" for source in range(8))]
    own = figure.data[1:]
    assert len({trace.marker.symbol for trace in own}) == len({trace.marker.color for trace in own}) == 8
    assert sum(len(trace.x) for trace in figure.data) == len(points)


def test_names_and_texts_of_others_are_shown_as_they_are_written() -> None:
    """Plotly reads some HTML in names and hovers."""
    figure = map_figure(drawn(point(1, HOSTILE, HOSTILE, HOSTILE)), None, EN)
    (trace,) = figure.data
    for text in (trace.name, trace.hovertext[0]):
        plain = text.replace("<br>", "").removeprefix("<b>").replace("</b>", "", 1)
        assert "<" not in plain
        assert "&lt;b&gt;bold" in text


def test_a_hover_fits_a_small_screen() -> None:
    figure = map_figure(drawn(point(1, "s" * 300, "字" * 1000)), None, EN)
    lines = figure.data[0].hovertext[0].split("<br>")
    assert len(lines) == 4
    assert max(map(len, lines)) <= 70
    assert lines[-1].endswith("…")


def test_the_question_is_a_star_and_its_hits_have_their_ranks() -> None:
    points = [point(place) for place in range(4)]
    figure = map_figure(drawn(*points, query=True, hits=("a.md#2", "a.md#0", "elsewhere")), None, EN)
    ring, star = figure.data[-2:]
    assert (star.marker.symbol, star.x[0]) == ("star", 0.5)
    assert (list(ring.text), list(ring.x)) == (["1", "2"], [2.0, 0.0])
    assert [item[0] for item in ring.customdata] == ["a.md#2", "a.md#0"]


def test_the_axes_and_the_note_say_how_much_is_shown() -> None:
    figure = map_figure(drawn(point(1)), None, EN)
    assert figure.layout.xaxis.title.text == "PC1 · 20%"
    assert figure.layout.yaxis.title.text == "PC2 · 3.1%"
    assert share_text(0.0) == "0.0%"
    assert counts_text(drawn(point(1)), EN) == "1 passage"
    assert counts_text(drawn(point(1), point(2), total=12_345), EN) == "Passages 2/12,345"
