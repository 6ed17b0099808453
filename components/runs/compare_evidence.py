"""Passages, rewrites and answers of two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence, Sized

from components.ask.answer import headline
from components.ask.rewrites import new_words, old_words, rewrite_why
from components.common.amounts import beginning
from components.common.i18n import Words
from components.common.judged import figures_of_answer, right_nodes
from components.common.markup import Node, button, chip, node
from components.common.outcomes import GATES, round_text
from components.common.phrases import probability_text, section_text, verdict_text
from components.labels import GRAPH_LISTS
from engine.evaluation.values import RunAnswer
from engine.messages import N_
from engine.model.values import Rewrite, RunRecord, Verdict
from engine.replay.answer_difference import SentenceDifference
from engine.replay.difference import PassageDifference, PassageOutcome, RewritePair, RunDifference

_MOVES = {
    "gained": ("pass", N_("+ only B")),
    "lost": ("fault", N_("− only A")),
    "moved": ("accent", N_("↕ moved")),
    "same": ("grey", N_("= same")),
}
"""Look and name of what became of a passage."""

_SNIPPET = 160

BothKnown = tuple[RunAnswer | None, RunAnswer | None]
"""What query sets and judgements say of the answers of A and B."""


def passages_card(found: RunDifference, words: Words, *, all_passages: bool, show_all: str) -> Node:
    """One row per passage in which the runs differ; the others behind a button whose press is ``show_all``."""
    flipped = {item.passage.id: item.flipped for item in found.verdicts}
    differing = [item for item in found.passages if item.notable or item.passage.id in flipped]
    shown = found.passages if all_passages else differing
    rest = len(found.passages) - len(shown)
    head = node(
        "div",
        "pair columns",
        node("span", "where", words("Passage")),
        *(node("span", "cell muted", name.upper()) for name in ("a", "b")),
    )
    parts: list[Node] = [_context(found, words)]
    if shown:
        parts += [head, *(_passage_row(item, flipped.get(item.passage.id), words) for item in shown)]
    else:
        parts.append(node("p", "muted", words("= same")))
    if rest:
        same = node("span", "muted small", f"{words('= same')} · {rest}")
        parts.append(node("div", "actions", same, button(words("Show all"), show_all)))
    return node("section", "card passages", node("strong", "heading", words("Passages")), *parts)


def _context(found: RunDifference, words: Words) -> Node:
    given = found.context
    parts = (given.shared, given.gained, given.lost)
    said = words("Given to the generator: {counts}", counts=_in_both(parts, words))
    entities = (given.shared_entities, given.gained_entities, given.lost_entities)
    if any(entities):
        said += f" · {words('entities: {counts}', counts=_in_both(entities, words))}"
    return node("p", "muted small", said)


def _in_both(parts: Sequence[Sized], words: Words) -> str:
    both, b, a = (len(part) for part in parts)
    return words("{both} in both, {a} only A, {b} only B", both=both, a=a, b=b)


def _passage_row(item: PassageDifference, flipped: bool | None, words: Words) -> Node:
    look, name = _MOVES[item.move]
    moved = f"{'▲' if (item.climbed or 0) > 0 else '▼'} {abs(item.climbed or 0)}"
    said = moved if item.move == "moved" and item.climbed else words(name)
    marks = [chip(look, said)]
    if flipped:
        marks.append(chip("warn", f"⇄ {words('verdict flipped')}"))
    elif flipped is False and item.a and item.b and item.a.verdict and item.b.verdict:
        rates = (probability_text(side.p_relevant) for side in (item.a.verdict, item.b.verdict))
        marks.append(chip("plain", f"P {' → '.join(rates)}"))
    source = [node("strong", "", item.passage.source)]
    if item.passage.section:
        source.append(node("span", "muted", f" § {section_text(item.passage.section, words)}"))
    snippet = node("div", "muted small", beginning(item.passage.text, _SNIPPET))
    what = node("div", "where what", node("div", "chips", *marks), *source, snippet)
    return node("div", "pair", what, _passage_outcome("A", item.a, words), _passage_outcome("B", item.b, words))


def _passage_outcome(name: str, side: PassageOutcome | None, words: Words) -> Node:
    tag = node("span", "ab narrow", name)
    if side is None:
        return node("div", "cell", tag, node("span", "muted", words("not found")))
    rank = f"#{side.best_rank} · {round_text(side.best_round, words)}"
    gate = words(GATES[side.gate].label)
    near = "" if side.similarity is None else f" · {probability_text(side.similarity)}"
    first = node("div", "num", rank, node("span", "muted", f"{near} · {gate}"))
    rest = []
    if side.found_by:
        lists = words(", ").join(words(GRAPH_LISTS[name]) for name in side.found_by)
        rest.append(node("span", "muted small", words("found by {lists}", lists=lists)))
    if side.verdict is not None:
        rest.append(_verdict(side.verdict, side.passes, words))
    if side.marker is not None:
        rest.append(
            chip("accent", words("cited as [{n}]" if side.cited else "given to the generator as [{n}]", n=side.marker))
        )
    return node("div", "cell", tag, first, *((node("div", "chips", *rest),) if rest else ()))


def _verdict(verdict: Verdict, passes: bool, words: Words) -> Node:
    look = "fault" if verdict.relevant is None else "pass" if passes else "warn"
    return chip(look, verdict_text(verdict, words))


def rewrites_card(found: RunDifference, words: Words) -> Node:
    """The rewrites after each round; where they differ, B's query is marked against A's."""
    rows = [_rewrite_row(pair, found, words) for pair in found.rewrites]
    return node("section", "card", node("strong", "heading", words("Rewrites")), *rows)


def _rewrite_row(pair: RewritePair, found: RunDifference, words: Words) -> Node:
    where = node("span", "where num", " → ".join(round_text(place, words) for place in (pair.round, pair.round + 1)))
    old = pair.a.rewritten_query if pair.a else ""
    cells = []
    for name, item, run in (("A", pair.a, found.a), ("B", pair.b, found.b)):
        compared = item is not None and name == "B" and bool(old)
        why = rewrite_why(item, run, words) if item is not None else ""
        cells.append(_rewrite(name, item, old if compared else "", why, words))
    return node("div", "pair" if pair.same else "pair parted", where, *cells)


def _rewrite(name: str, item: Rewrite | None, against: str, why: str, words: Words) -> Node:
    tag = node("span", "ab narrow", name)
    if item is None:
        return node("div", "cell", tag, node("span", "muted", words("no rewrite")))
    query = new_words(against, item.rewritten_query) if against else (item.rewritten_query,)
    return node("div", "cell", tag, node("div", "diff", *query), node("div", "muted small", why))


def answers_card(found: RunDifference, words: Words, known: BothKnown = (None, None)) -> Node:
    """Both answers, those to one question sentence by sentence, with what query sets and judgements say of each."""
    sides = zip("AB", (found.a, found.b), known, strict=True)
    head = node("div", "pair two", *(_answer_head(name, run, of, words) for name, run, of in sides))
    parts = [node("strong", "heading", words("Answers"))]
    if not found.same_question:
        cells = (
            node("div", "cell", node("span", "ab narrow", name), run.answer)
            for name, run in (("A", found.a), ("B", found.b))
        )
        return node("section", "card", *parts, head, node("div", "pair two", *cells))
    if found.answer:
        parts += [node("p", "muted small", words("Word for word the same."))] if found.same_answer else []
    rows = [_sentence_row(item) for item in found.answer]
    return node("section", "card", *parts, head, *rows)


def _answer_head(name: str, run: RunRecord, known: RunAnswer | None, words: Words) -> Node:
    look, said = headline(run, words)
    badge = chip(look, said) if run.answer else node("span", "muted", words("no answer"))
    right = right_nodes(known, words) if known is not None else []
    figures = figures_of_answer(known, words) if known is not None else []
    line = " · ".join(f"{measure} {value}" for measure, value in figures)
    below = [node("p", "muted small", line)] if line else []
    return node("div", "cell", node("span", "ab", name), badge, *right, *below)


def _sentence_row(item: SentenceDifference) -> Node:
    if item.kind == "changed":
        old: tuple[Node | str, ...] = old_words(item.a, item.b)
        new: tuple[Node | str, ...] = new_words(item.a, item.b)
    else:
        old = (node("del", "", _sign("−"), item.a),) if item.kind == "removed" else (item.a,)
        new = (node("ins", "", _sign("+"), item.b),) if item.kind == "added" else (item.b,)
    sides = zip("AB", (item.a, item.b), (old, new), strict=True)
    cells = (
        node("div", "cell diff", *((node("span", "ab narrow", name), *drawn) if text else ()))
        for name, text, drawn in sides
    )
    return node("div", f"pair two {item.kind}", *cells)


def _sign(sign: str) -> Node:
    return node("span", "sign", sign, aria_hidden="true")
