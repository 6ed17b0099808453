"""The honest answer of a run in which no passage passed."""

from __future__ import annotations

from collections.abc import Sequence

from engine.builtin.phrases import Phrases
from engine.builtin.scripts import is_uncut
from engine.builtin.terms import surface_terms, weight_of
from engine.model.language import language_of
from engine.model.values import Candidate, Language, Round

_NEAR = 0.3
"""Similarity from which a passage counts as being on the subject (SC-09: it cuts most of what is not)."""
_NAMED = 4


def no_room_for_tables(question: str) -> str:
    """Return the answer if a run may use only the attached tables and not one row fits."""
    return Phrases.to("abstain", question)("no_room")


def abstained_answer(question: str, rounds: Sequence[Round]) -> str:
    """Return the answer of a run that may give nothing to the generator: equal words for equal evidence."""
    language = language_of(question)
    kept = {passage.id for current in rounds for passage in current.kept}
    judged = kept & {
        name for current in rounds for name, verdict in current.verdicts.items() if verdict.relevant is not None
    }
    if not judged and (kept or not any(current.searched for current in rounds)):
        # Neither may be called an empty collection, nor passages that were read and did not help.
        return Phrases("abstain", language)("time_over")
    found = [item for current in rounds for item in current.candidates]
    similarities = [item.passage.similarity for item in found]
    cut = _cut_by_others(found, language) if not judged else ""
    return abstention(question, language, len(judged), max(similarities, default=None), cut)


def _cut_by_others(found: Sequence[Candidate], language: Language) -> str:
    """Describe what the thresholds of graph and reranker dropped; empty if nothing."""
    others = {item.passage.id for item in found if item.gate in ("below_graph", "below_rerank")}
    if not others:
        return ""
    scores = [item.rerank_score for item in found if item.gate == "below_rerank" and item.rerank_score is not None]
    say = Phrases("abstain", language)
    return say("cut_rerank", n=len(others), best=max(scores)) if scores else say("cut_other", n=len(others))


def abstention(question: str, language: Language, kept: int, best_similarity: float | None, cut: str = "") -> str:
    """Say that the knowledge base does not answer the question, and why; English for languages other than Chinese.

    ``kept`` is the number of distinct passages that were looked at closely, ``best_similarity`` the highest
    similarity of any candidate, None where the search found nothing at all; ``cut`` says why passages that were near
    enough were not looked at, where there were any.
    """
    say = Phrases("abstain", language)
    subject = say.listed(_subject(question))
    looked = say("looked_for", subject=subject) if subject else ""
    if best_similarity is None:
        return f"{say('opening')}{say.gap}{say('nothing_found')}{looked}"
    if kept == 0:
        why = cut or say("none_close", best=best_similarity)
    else:
        name = "off_subject" if best_similarity < _NEAR else "unanswered"
        why = say(f"{name}_one" if kept == 1 else name, n=kept, best=best_similarity)
    return say.gap.join([say("opening"), why, say("advice")]) + looked


def _subject(question: str) -> list[str]:
    """The heaviest terms of the question in its own order, for naming what was not found."""
    forms = {term: form for term, form in surface_terms(question, question=True).items() if not is_uncut(form)}
    heaviest = set(sorted(forms, key=lambda term: -weight_of(term))[:_NAMED])
    return [form for term, form in forms.items() if term in heaviest]
