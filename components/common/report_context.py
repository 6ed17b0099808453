"""Context of an answer and what was cut from it, as parts of the report."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.phrases import probability_text
from engine.messages import NC_
from engine.model.values import ContextPart, RunRecord


def context_nodes(record: RunRecord, words: Words) -> list[Node]:
    """Show the generator's context part by part, if it was assembled from parts, and what of passages was cut."""
    context = record.context
    if context is None or not (context.parts or context.refined):
        return []
    spent = words(NC_("report", "{n} of {most} tokens"), n=context.tokens, most=context.token_budget)
    if not context.parts:
        kept, of = context.sentences
        return [node("p", "num", spent), node("p", "", words("{kept} of {n} sentences kept", kept=kept, n=of))]
    titles = [words("Part"), words("Tokens"), ""]
    rows = [(_part(item, words), str(item.tokens), _fate(item, record, words)) for item in context.parts]
    return [node("p", "num", spent), titled_table(titles, rows)]


def _part(item: ContextPart, words: Words) -> str:
    if item.kind == "passage":
        return item.id
    return words("Table T{n}", n=item.id) if item.kind == "table" else words("Graph")


def _fate(item: ContextPart, record: RunRecord, words: Words) -> str:
    if not item.given:
        return words("left out, the budget was spent")
    refined = record.context.refined if record.context else {}
    sentences = next((cut for name, cut in refined.items() if item.kind == "passage" and name == item.id), ())
    if not sentences:
        return words("given")
    kept = sum(sentence.kept for sentence in sentences)
    return words("cut to {kept} of {n} sentences", kept=kept, n=len(sentences))


def marker_nodes(record: RunRecord, words: Words) -> list[Node]:
    """The markers that were taken out of the answer, and why."""
    removed = (item.strip("[]") for item in record.removed_markers)
    lines = [node("li", "", words("[{marker}] points nowhere", marker=item)) for item in removed]
    for item in record.unsupported:
        said = words(
            "[{marker}] does not bear this out (support {support})",
            marker=item.marker,
            support=probability_text(item.support),
        )
        lines.append(node("li", "", said, node("p", "muted", node("bdi", "", item.sentence))))
    return [node("ul", "", *lines)] if lines else []


def titled_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Node:
    """A table of texts below their titles."""
    head = node("tr", "", *(node("th", "", title, scope="col") for title in titles))
    body = (node("tr", "", *(node("td", "", node("bdi", "", cell)) for cell in row)) for row in rows)
    return node("div", "scroll", node("table", "", node("thead", "", head), node("tbody", "", *body)))
