"""The context of an answer as a bar: what graph, tables and passages took of its budget, and what was left out."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, draw, node
from components.common.phrases import place_text
from engine.model.values import Context, ContextPart, PassageId, RunRecord

_MOST_LEFT_OUT = 6


def context_bar(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the bar below the answer; nothing for a run that searched nothing, or of another workflow."""
    nodes = context_nodes(record, words)
    if nodes:
        draw(nodes, words, key=key)


def context_nodes(record: RunRecord, words: Words) -> list[Node]:
    context = record.context
    if context is None or not context.parts or not context.token_budget:
        return []
    used = words("{n} of {most} tokens", n=context.tokens, most=context.token_budget)
    head = node(
        "div", "head", node("strong", "heading", words("Context of the answer")), node("span", "muted num small", used)
    )
    given = [item for item in context.parts if item.given]
    # More than the budget only where the best passage alone is longer: then the bar is full.
    whole = max(context.token_budget, context.tokens)
    bar = node("div", "rail context", *(_segment(item, whole) for item in given), aria_hidden="true")
    legend = [_entry(item, context, words) for item in given]
    if context.tokens < context.token_budget:
        legend.append(node("span", "muted", words("free {n}", n=context.token_budget - context.tokens)))
    rows = [head, bar, node("div", "legend num", *legend), *_left_out(record, words), *_refined(context, words)]
    return [node("section", "card context", *rows)]


def _segment(part: ContextPart, whole: int) -> Node:
    return node("i", f"seg {part.kind}", data_fill=f"{part.tokens / whole:.2%}")


def _entry(part: ContextPart, context: Context, words: Words) -> Node:
    return node("span", "", node("i", f"swatch {part.kind}", aria_hidden="true"), _name(part, context, words))


def _name(part: ContextPart, context: Context, words: Words) -> str:
    if part.kind == "graph":
        return words("graph {n}", n=part.tokens)
    if part.kind == "table":
        return words("table {number}: {n}", number=part.id, n=part.tokens)
    marker = next((at for at, item in enumerate(context.passages, 1) if item.id == part.id), 0)
    return words("[{marker}] {n}", marker=marker, n=part.tokens)


def _left_out(record: RunRecord, words: Words) -> list[Node]:
    """List by name the parts that did not fit."""
    context = record.context
    assert context is not None
    out = [item for item in context.parts if not item.given]
    if not out:
        return []
    sources = {item.passage.id: item.passage for current in record.rounds for item in current.candidates}
    names = []
    for item in out[:_MOST_LEFT_OUT]:
        passage = sources.get(PassageId(item.id))
        if passage is not None:
            names.append(place_text(passage.source, passage.section, words))
        else:
            names.append(
                words("part of the graph, which may take a quarter")
                if item.kind == "graph"
                else words("table {number}", number=item.id)
            )
    more = "…" if len(out) > _MOST_LEFT_OUT else ""
    said = words.count(
        "1 left out, {tokens} tokens",
        "{n} left out, {tokens} tokens",
        len(out),
        tokens=sum(item.tokens for item in out),
    )
    # Of the graph there is nearly always more than is worth its tokens.
    usual = all(item.kind == "graph" for item in out)
    sign = () if usual else ("! ",)
    return [
        node(
            "p",
            "muted small" if usual else "note small",
            *sign,
            said,
            node("span", "muted", f" · {words(', ').join(names)}{more}"),
        )
    ]


def _refined(context: Context, words: Words) -> list[Node]:
    """Describe the characters saved by keeping only relevant sentences; tokens of the cut text are not counted."""
    if not context.refined:
        return []
    cut = [item for sentences in context.refined.values() for item in sentences]
    whole = sum(len(item.text) for item in cut)
    saved = sum(len(item.text) for item in cut if not item.kept)
    share = f"{saved / whole:.0%}" if whole else "0%"
    return [
        node(
            "p",
            "muted small",
            words.count(
                "1 passage cut to what bears on the question: {share} of its text left out.",
                "{n} passages cut to what bears on the question: {share} of their text left out.",
                len(context.refined),
                share=share,
            ),
        )
    ]
