"""Passages and answer of a report: life-lines with the full text folded, and citations that lead to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.ask.answer import citation_text, headline
from components.ask.answer_text import Cite, answer_prose, doubts_of
from components.ask.passage_rows import COLUMNS, passage_row
from components.common.i18n import Words
from components.common.life_lines import life_lines
from components.common.markup import Node, chip, filled, node
from components.common.phrases import begun
from components.common.terms import Segment, question_terms
from components.labels import NOTHING_FOUND
from engine.model.values import PassageId, RunRecord

_LOOKS = {"pass": "pass", "fail": "warn", "fault": "fault"}


def anchors(record: RunRecord) -> dict[PassageId, str]:
    """The fragment of every passage; ids are untrusted text and cannot be one."""
    return {line.passage.id: f"p{place}" for place, line in enumerate(life_lines(record), 1)}


def report_answer(record: RunRecord, words: Words, places: Mapping[PassageId, str]) -> tuple[Node, ...]:
    """The answer with its badge; a citation leads to its passage."""
    if not record.answer:
        return (node("p", "muted", words("This run ended without an answer.")),)
    cited = {item.marker: item for item in record.citations}
    links = {marker: places[item.passage_id] for marker, item in cited.items() if item.passage_id in places}
    look, said = headline(record, words)
    doubts = doubts_of(record, words)
    prose = answer_prose(record.answer, _linking(links, words), doubts=doubts)
    sources = [_source(marker, citation_text(item, words), links) for marker, item in sorted(cited.items())]
    listed = (node("ul", "sources", *sources),) if sources else ()
    notes = (node("p", "note", "! ", f"{found.said} — {sentence}") for sentence, found in doubts.items())
    return (node("p", "", chip(look, said)), prose, *notes, *listed)


def _source(marker: int, place: str, links: Mapping[int, str]) -> Node:
    label = f"[{marker}] {place}"
    return node("li", "", node("a", "", node("bdi", "", label), href=f"#{links[marker]}") if marker in links else label)


def _linking(links: Mapping[int, str], words: Words) -> Cite:
    """Markers as links to their passages in the same file."""

    def cite(marker: int) -> Node | None:
        if marker not in links:
            return None
        named = words("Show passage {n}", n=marker)
        return node("a", "cite", str(marker), href=f"#{links[marker]}", aria_label=named)

    return cite


def report_passages(
    record: RunRecord, words: Words, places: Mapping[PassageId, str]
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """One entry per distinct passage, its full text folded: those that a grader judged, and the others."""
    terms = question_terms(record)
    threshold = record.config.similarity_threshold
    drawn: dict[bool, list[Node]] = {True: [], False: []}
    for line in life_lines(record):
        row = passage_row(line, record, terms, words)
        drawn[line.verdict is not None].append(_passage(row, places[line.passage.id], threshold, words))
    judged, others = tuple(drawn[True]), tuple(drawn[False])
    return judged or ((node("p", "muted", words("None.")),) if others else _none(words)), others


def _none(words: Words) -> tuple[Node, ...]:
    return (node("p", "muted", words(NOTHING_FOUND)),)


def _passage(row: Mapping[str, Any], place: str, threshold: float, words: Words) -> Node:
    mark: Mapping[str, str] = row["chip"]
    title = [node("strong", "", node("bdi", "", row["source"]))]
    if row["section"]:
        title.append(node("span", "muted", " § ", node("bdi", "", row["section"])))
    if row["ranks"]:
        title.append(node("span", "ranks num muted", row["ranks"]))
    bar: Node | str = ""
    if row["bar"]:
        bar = node("span", "bar", data_fill=filled(row["similarity"]), data_tick=filled(threshold), aria_hidden="true")
    verdict = [chip(mark["look"], mark["text"])]
    if mark["note"]:
        verdict.append(node("small", "muted", mark["note"]))
    summary = node(
        "summary",
        "",
        node("span", "rank num", f"#{row['rank']}"),
        node("span", "what", *title, node("span", "snippet", node("bdi", "", *_marked(row["snippet"])))),
        node("span", "similarity num", row["value"], " ", node("small", "muted", row["cosine"]), bar, title=row["tip"]),
        node("span", "verdict", *verdict),
        node("span", "why", node("bdi", "", row["reason"])),
        node("span", "steps", *(_sign(item) for item in row["history"])),
    )
    # A link to something inside a closed fold opens it, without a script.
    full = node(
        "div",
        "full",
        node("h4", "", words("Full text")),
        *_around(row["before"], words),
        node("pre", "", *_marked(row["text"])),
        *_around(row["after"], words),
        id=place,
    )
    return node("details", "passage dropped" if row["dropped"] else "passage", summary, full, *_story(row, words))


def _around(items: Sequence[Mapping[str, Any]], words: Words) -> list[Node]:
    """What was given around a passage, in grey."""
    cited = node("small", "", " · ", words("cited from here"))
    return [node("pre", "muted", item["text"], *((cited,) if item["cited"] else ())) for item in items]


def _story(row: Mapping[str, Any], words: Words) -> list[Node]:
    parts = []
    if row["own"]:
        own = (node("h4", "", words("The grader's own words")), node("p", "small muted", row["grader"]))
        parts.append(node("div", "", *own, node("pre", "", row["own"])))
    shown = [name for name in COLUMNS if name != "ranks" or any(seen["ranks"] for seen in row["seen"])]
    head = node("tr", "", *(node("th", "", begun(words(COLUMNS[name])), scope="col") for name in shown))
    body = (node("tr", "", *(node("td", "", node("bdi", "", seen[name])) for name in shown)) for seen in row["seen"])
    table = node("table", "", node("thead", "", head), node("tbody", "", *body))
    parts.append(node("div", "", node("h4", "", words("In every round")), node("div", "scroll", table)))
    return parts


def _sign(item: Mapping[str, str]) -> Node:
    look = "marker" if item["look"] in ("cited", "uncited") else f"step {_LOOKS.get(item['look'], 'muted')}"
    return node("span", look, item["glyph"], title=item["said"], aria_label=item["said"], role="img")


def _marked(segments: Sequence[Segment]) -> list[Node | str]:
    return [node("mark", "", text) if marked else text for text, marked, *_ in segments]
