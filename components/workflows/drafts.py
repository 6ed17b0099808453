"""The answers of a run that evaluates them: what changed from one to the next, what was wanted, who saw what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from components.ask.answer import citing, removed_text
from components.ask.answer_marks import evaluation_chip, standing_draft
from components.ask.answer_text import answer_prose
from components.ask.rewrites import new_words, old_words
from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from components.common.phrases import begun, place_text, suggestion_said
from engine.flow import workflow
from engine.messages import N_
from engine.model.values import Draft, Excerpt, Passage, RunRecord, Suggestion
from engine.replay.answer_difference import SentenceDifference, SentenceKind, answer_difference
from engine.workflows.answer_evaluation.policy import EXCERPT_CHARS
from engine.workflows.answer_evaluation.suggestions import suggestion_states

_DIMENSION = {
    "reasonableness": N_("reasonableness"),
    "evidence_marking": N_("evidence"),
}

_STATES = {
    "addressed": N_("✓ addressed"),
    "ignored": N_("✗ ignored"),
    "open": N_("○ not evaluated again"),
}

_SIGNS: dict[SentenceKind, tuple[str, str]] = {
    "same": ("=", "muted"),
    "changed": ("~", "warn-ink"),
    "added": ("+", "pass-ink"),
    "removed": ("−", "fault-ink"),
}
_STATE_LOOKS = {"addressed": "pass", "ignored": "warn", "open": "accent"}


def draft_nodes(record: RunRecord, words: Words) -> list[Node]:
    """One card an answer, each against the one before it."""
    return [_card(draft, record, words) for draft in record.drafts]


def draft_body(draft: Draft, record: RunRecord, words: Words) -> list[Node]:
    """Text, evaluation and suggestions of one answer; what its evaluator saw is folded."""
    head = node("div", "chips", *_chips(draft, record, words))
    return [
        head,
        _text(draft, record, words, folded=True),
        *_suggestions(draft, record, words),
        *_seen(draft, record, words),
    ]


def _card(draft: Draft, record: RunRecord, words: Words) -> Node:
    title = node("strong", "heading", begun(words("answer {n}", n=draft.index + 1)))
    head = node("div", "head", title, *_chips(draft, record, words))
    former = next((item for item in record.drafts if item.index == draft.index - 1), None)
    parts = [] if former is None else _difference(former, draft, record, words)
    parts.append(_text(draft, record, words, folded=former is not None))
    if draft.removed_markers:
        parts.append(node("p", "note", "! ", removed_text(draft.removed_markers, words)))
    parts += [*_suggestions(draft, record, words), *_seen(draft, record, words)]
    return node("section", "card", head, *parts)


def _text(draft: Draft, record: RunRecord, words: Words, *, folded: bool = False) -> Node:
    """An answer; folded where it stands above the tabs already."""
    text = answer_prose(draft.text, citing(draft.citations, words))
    if folded or (not record.active and draft is standing_draft(record)):
        return fold(f"text-{draft.index}", words("Answer"), text)
    return text


def _chips(draft: Draft, record: RunRecord, words: Words) -> list[Node]:
    chips = [evaluation_chip(draft, record, words)]
    if draft.direct:
        chips.append(chip("grey", words("without a search")))
    if not record.active and len(record.drafts) > 1 and draft is standing_draft(record):
        chips.append(chip("accent", words("stands")))
    evaluator = draft.evaluation.evaluator if draft.evaluation else ""
    if evaluator:
        name = words("built-in") if evaluator == "builtin" else evaluator
        chips.append(node("span", "muted small", words("by {by}", by=name)))
    return chips


# -- what changed ---------------------------------------------------------------------------------------------------


def _difference(former: Draft, draft: Draft, record: RunRecord, words: Words) -> list[Node]:
    found = answer_difference(_as_answer(former, record), _as_answer(draft, record))
    kinds = Counter(item.kind for item in found)
    counts: dict[str, object] = {kind: kinds[kind] for kind in _SIGNS}
    said = words("Sentences: {same} same, {changed} changed, {added} added, {removed} removed", **counts)
    rows = [_sentence(item) for item in found]
    return [node("p", "muted small", said), node("ul", "sentences", *rows)]


def _as_answer(draft: Draft, record: RunRecord) -> RunRecord:
    return replace(record, answer=draft.text, citations=draft.citations)


def _sentence(item: SentenceDifference) -> Node:
    sign, look = _SIGNS[item.kind]
    mark = node("span", f"sign {look}", sign)
    if item.kind == "changed":
        kids: tuple[Node | str, ...] = (
            node("div", "diff old", *old_words(item.a, item.b)),
            node("div", "diff", *new_words(item.a, item.b)),
        )
    elif item.kind == "added":
        kids = (node("div", "diff", node("ins", "", item.b)),)
    elif item.kind == "removed":
        kids = (node("div", "diff", node("del", "", item.a)),)
    else:
        kids = (node("div", "muted", item.b),)
    return node("li", item.kind, mark, node("div", "grow", *kids))


# -- what the evaluator wants changed -------------------------------------------------------------------------------


def _suggestions(draft: Draft, record: RunRecord, words: Words) -> list[Node]:
    if draft.evaluation is None or not draft.evaluation.suggestions:
        return []
    revised = workflow(record.workflow).flow.mended_by == "answer"
    states = suggestion_states(record.drafts, draft.index) if revised else ()
    rows = [
        _suggestion(item, states[place] if revised else "", words)
        for place, item in enumerate(draft.evaluation.suggestions)
    ]
    return [node("p", "subhead", words("Asked changes")), node("ol", "wanted", *rows)]


def _suggestion(item: Suggestion, state: str, words: Words) -> Node:
    chips = [chip("plain", words(_DIMENSION[item.dimension]))]
    if state:
        chips.append(chip(_STATE_LOOKS[state], words(_STATES[state])))
    parts = [node("div", "said", node("span", "", suggestion_said(item, words)), *chips)]
    if item.quote:
        parts.append(node("p", "quoted", item.quote))
    return node("li", "", *parts)


# -- who saw what ---------------------------------------------------------------------------------------------------


def _seen(draft: Draft, record: RunRecord, words: Words) -> list[Node]:
    """The excerpts that an evaluator judged by, each next to what the generator had (AE-04)."""
    if draft.evaluation is None or draft.direct:
        return []
    given = _given(draft, record)
    if not given and not draft.seen:
        return []
    cut = sum(item.cut for item in draft.seen)
    label = words.count(
        "The evaluator saw 1 passage, {cut} cut", "The evaluator saw {n} passages, {cut} cut", len(draft.seen), cut=cut
    )
    excerpts = {item.passage_id: item for item in draft.seen}
    rows = [_excerpt(place, item, excerpts.get(item.id), words) for place, item in enumerate(given, 1)]
    names = (words("Passage"), words("The evaluator saw"), words("The generator saw"))
    head = node("tr", "", *(node("th", "", name, scope="col") for name in names))
    table = node("table", "flips seen", node("thead", "", head), node("tbody", "", *rows))
    return [fold(f"seen-{draft.index}", label, table)]


def _given(draft: Draft, record: RunRecord) -> Sequence[Passage]:
    """Return the passages of the answer in the order of its markers; contexts of older passes are not kept."""
    passages = record.context.passages if record.context else ()
    known = {item.id for item in passages}
    if all(item.passage_id in known for item in draft.seen):
        return passages
    found = {item.passage.id: item.passage for current in record.rounds for item in current.candidates}
    return tuple(found[item.passage_id] for item in draft.seen if item.passage_id in found)


def _excerpt(place: int, passage: Passage, seen: Excerpt | None, words: Words) -> Node:
    named = place_text(passage.source, passage.section, words)
    first = node("td", "", node("strong", "num", f"[{place}]"), " ", named)
    length = words.count("1 character", "{n} characters", len(passage.text))
    generator: tuple[Node | str, ...] = (node("span", "num", length),)
    if seen is None:
        said: tuple[Node | str, ...] = (chip("warn", words("dropped: top-k")),)
    elif seen.cut:
        said = (
            chip("warn", words("cut at {n} characters", n=EXCERPT_CHARS)),
            node("p", "plain-text small", seen.text),
        )
        hidden = node("mark", "", passage.text[EXCERPT_CHARS:])
        behind = node("p", "plain-text small", "… ", hidden)
        generator = (*generator, behind)
    else:
        said = (node("p", "plain-text small", seen.text),)
        generator = (node("span", "muted", length),)
    return node(
        "tr",
        "",
        first,
        node("td", "", *said, data_label=words("The evaluator saw")),
        node("td", "", *generator, data_label=words("The generator saw")),
    )
