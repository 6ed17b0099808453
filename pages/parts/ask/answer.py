"""The answer, and folded in its card the context, the chat it came from, and what was attached to the question."""

from __future__ import annotations

from components.ask.answer import answer_card
from components.ask.attachments import attached_nodes
from components.common.i18n import Words
from components.common.markup import Node, fold, node
from components.common.phrases import duration_text, place_text
from components.labels import MESSAGE_ROLES
from engine.model.config import BUILTIN
from engine.model.values import Context, ContextPart, Message, ModelCall, PassageId, RunRecord

_MOST_LEFT_OUT = 6


def view(record: RunRecord, words: Words, *, key: str) -> PassageId | None:
    """Draw the answer, what is seldom needed folded below it; returns the passage of a pressed citation."""
    below = () if record.active else (*attached_fold(record, words), *context_fold(record, words))
    return answer_card(record, words, key=key, below=(*chat_fold(record, words), *below))


def attached_fold(record: RunRecord, words: Words) -> list[Node]:
    if not record.attachments:
        return []
    label = words.count("1 attachment", "{n} attachments", len(record.attachments))
    nodes = attached_nodes(record.attachments, record.cell_citations, words)
    return [fold("attached", label, node("div", "attached-to", *nodes))]


def context_fold(record: RunRecord, words: Words) -> list[Node]:
    """What the answer was given of its budget, and what was left out; nothing where all passages went in whole."""
    context = record.context
    if context is None or not (context.parts or context.refined) or not context.token_budget:
        return []
    used = words("Context: {n} of {most} tokens", n=context.tokens, most=context.token_budget)
    if not context.parts:
        return [fold("context", used, node("div", "context", *_refined(context, words)))]
    given = [item for item in context.parts if item.given]
    # More than the budget only where the best passage alone is longer: then the bar is full.
    whole = max(context.token_budget, context.tokens)
    bar = node("div", "rail context", *(_segment(item, whole) for item in given), aria_hidden="true")
    legend = [_entry(item, context, words) for item in given]
    if around := context.tokens - sum(item.tokens for item in given):
        legend.append(node("span", "muted", words("around the passages {n}", n=around)))
    if context.tokens < context.token_budget:
        legend.append(node("span", "muted", words("free {n}", n=context.token_budget - context.tokens)))
    rows = (bar, node("div", "legend num", *legend), *_left_out(record, words), *_refined(context, words))
    return [fold("context", used, node("div", "context", *rows))]


def _segment(part: ContextPart, whole: int) -> Node:
    return node("i", f"seg {part.kind}", data_fill=f"{part.tokens / whole:.2%}")


def _entry(part: ContextPart, context: Context, words: Words) -> Node:
    return node("span", "", node("i", f"swatch {part.kind}", aria_hidden="true"), _name(part, context, words))


def _name(part: ContextPart, context: Context, words: Words) -> str:
    if part.kind == "graph":
        return words("graph {n}", n=part.tokens)
    if part.kind == "table":
        return f"{words('table {number}', number=part.id)}: {part.tokens}"
    marker = next((at for at, item in enumerate(context.passages, 1) if item.id == part.id), 0)
    return f"[{marker}] {part.tokens}"


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
    kept, of = context.sentences
    said = words.count(
        "1 passage shortened to {kept} of {of} sentences: {share} of its text left out.",
        "{n} passages shortened to {kept} of {of} sentences: {share} of their text left out.",
        len(context.refined),
        kept=kept,
        of=of,
        share=share,
    )
    return [node("p", "muted small", said)]


def chat_fold(record: RunRecord, words: Words) -> list[Node]:
    """The chat and how its question was derived; nothing for other runs."""
    if record.chat is None:
        return []
    chat = record.chat
    kids = [node("p", "small", chat_line(record, words))]
    if chat.history:
        kids.append(fold("before", words("The chat before it"), *_messages(chat.history, words)))
    for place, call in enumerate(chat.calls):
        kids.append(
            fold(f"call{place}", _call_line(call, words), *_messages(call.messages, words), _reply_text(call, words))
        )
    return [fold("chat", words("From a chat"), *kids)]


def chat_line(record: RunRecord, words: Words) -> str:
    """Describe the model asked, the question, and its author."""
    chat = record.chat
    assert chat is not None
    asked = {"asked": chat.asked, "model": chat.model}
    if not chat.condensed_by or chat.asked == record.question:
        return words("with the model “{model}”; the question is asked as it was sent.", **asked)
    if chat.condensed_by != BUILTIN:
        return words(
            "with the model “{model}”: “{asked}”. {writer} wrote the question from it and the messages before it.",
            writer=chat.condensed_by,
            **asked,
        )
    if chat.stood_in:
        return words(
            "with the model “{model}”: “{asked}”. {writer} could not write the question; rules took what it leaves out "
            "from the messages before it.",
            writer=chat.calls[0].model,
            **asked,
        )
    return words(
        "with the model “{model}”: “{asked}”. Rules took what it leaves out from the messages before it.", **asked
    )


def _call_line(call: ModelCall, words: Words) -> str:
    line = words(
        "What {model} was asked, and its reply ({time})", model=call.model, time=duration_text(call.duration_ms)
    )
    return f"{line} ✗ {call.error}" if call.error else line


def _messages(messages: tuple[Message, ...], words: Words) -> list[Node]:
    return [_message(words(MESSAGE_ROLES[item.role]), item.content) for item in messages]


def _reply_text(call: ModelCall, words: Words) -> Node:
    return _message(words("Raw reply"), call.reply or words("(empty)"))


def _message(label: str, text: str) -> Node:
    return node("div", "", node("p", "small muted", label), node("p", "own-text", text))
