"""The honest answer of a run in which no passage passed."""

from __future__ import annotations

from collections.abc import Sequence

from engine.builtin.terms import surface_terms, weight_of
from engine.model.language import language_of
from engine.model.values import Candidate, Language, Round

_NEAR = 0.3
"""Similarity from which a passage counts as being on the subject (SC-09: it cuts most of what is not)."""
_NAMED = 4


_NO_ROOM = {
    "en": "Not even one row of the attached tables fits into the context, so there is nothing to answer from. Please "
    "raise the context budget, or attach a smaller table.",
    "zh": "附上的表格连一行也放不进上下文，因此没有可以作答的依据。请调高上下文的词元预算，或附上小一些的表格。",
}
_CUT = {
    "en": {
        "rerank": "Passages that the reranker scored too low to be judged: {n} (highest score {best:.2f}).",
        "other": "Passages that lay too far from the question in the graph to be judged: {n}.",
    },
    "zh": {
        "rerank": "有 {n} 个片段的重排得分太低（最高 {best:.2f}），没有交给质检。",
        "other": "有 {n} 个片段在图谱中离问题太远，没有交给质检。",
    },
}
_TIME_OVER = {
    "en": "The time of this run was over before passages had been searched and judged, so there is nothing verified to "
    "answer from. Please ask again, or raise the time budget.",
    "zh": "本次运行的时间预算在检索和质检完成之前已经用完，因此没有经过核实、可以作答的依据。"
    "请再问一次，或者调高时间预算。",
}


def no_room_for_tables(question: str) -> str:
    """What is answered where a run was to use the attached tables alone, and not even a row of them fits."""
    return _NO_ROOM["zh" if language_of(question) == "zh" else "en"]


def abstained_answer(question: str, rounds: Sequence[Round]) -> str:
    """What a run answers when nothing may be given to the generator: the same words for the same evidence."""
    language = language_of(question)
    kept = {passage.id for current in rounds for passage in current.kept}
    judged = kept & {
        name for current in rounds for name, verdict in current.verdicts.items() if verdict.relevant is not None
    }
    if not judged and (kept or not any(current.searched for current in rounds)):
        # Neither may be called an empty collection, nor passages that were read and did not help.
        return _TIME_OVER["zh" if language == "zh" else "en"]
    found = [item for current in rounds for item in current.candidates]
    similarities = [item.passage.similarity for item in found]
    cut = _cut_by_others(found, language) if not judged else ""
    return abstention(question, language, len(judged), max(similarities, default=None), cut)


def _cut_by_others(found: Sequence[Candidate], language: Language) -> str:
    """What the thresholds of graph and reranker left out; empty where they left out nothing."""
    others = {item.passage.id for item in found if item.gate in ("below_graph", "below_rerank")}
    if not others:
        return ""
    scores = [item.rerank_score for item in found if item.gate == "below_rerank" and item.rerank_score is not None]
    words = _CUT["zh" if language == "zh" else "en"]
    return words["rerank"].format(n=len(others), best=max(scores)) if scores else words["other"].format(n=len(others))


def abstention(question: str, language: Language, kept: int, best_similarity: float | None, cut: str = "") -> str:
    """Say that the knowledge base does not answer the question, and why; English for languages other than Chinese.

    ``kept`` is the number of distinct passages that were looked at closely, ``best_similarity`` the highest
    similarity of any candidate, None where the search found nothing at all; ``cut`` says why passages that were near
    enough were not looked at, where there were any.
    """
    subject = _subject(question, language)
    if language == "zh":
        return _chinese(subject, kept, best_similarity, cut)
    return _english(subject, kept, best_similarity, cut)


def _english(subject: str, kept: int, best_similarity: float | None, cut: str) -> str:
    opening = "I could not find an answer to this in the knowledge base, so I would rather not guess."
    looked = f" (Looked for: {subject}.)" if subject else ""
    if best_similarity is None:
        return f"{opening} The search found no passages at all; are there any sources in this collection yet?{looked}"
    if kept == 0:
        why = (
            cut
            or f"No passage was close enough to the question; the closest had a similarity of {best_similarity:.2f}."
        )
    elif best_similarity < _NEAR:
        why = f"{_read_en(kept)} really on this subject (best similarity {best_similarity:.2f})."
    else:
        why = f"{_touched_en(kept)} what you asked."
    return f"{opening} {why} Asking more specifically, or adding a source that covers it, may help.{looked}"


def _chinese(subject: str, kept: int, best_similarity: float | None, cut: str) -> str:
    opening = "知识库里没有找到能回答这个问题的内容，所以我不作猜测。"
    looked = f"（查找的关键词：{subject}。）" if subject else ""
    if best_similarity is None:
        return f"{opening}这次检索没有得到任何片段，请先确认这个知识库里已有资料。{looked}"
    if kept == 0:
        why = cut or f"没有片段与问题足够接近，最接近的相似度只有 {best_similarity:.2f}。"
    elif best_similarity < _NEAR:
        why = f"查看了 {kept} 个片段，但与这个主题关系不大（最高相似度 {best_similarity:.2f}）。"
    else:
        why = f"查看了 {kept} 个片段，都没有回答您问的这一点。"
    return f"{opening}{why}可以把问题问得更具体一些，或者补充相关的资料。{looked}"


def _read_en(kept: int) -> str:
    return "1 passage was read, but it is not" if kept == 1 else f"{kept} passages were read, but none is"


def _touched_en(kept: int) -> str:
    if kept == 1:
        return "1 passage was read; it does not answer"
    return f"{kept} passages were read; none answers"


def _subject(question: str, language: Language) -> str:
    """The heaviest terms of the question in its own order, for naming what was not found."""
    forms = surface_terms(question, question=True)
    heaviest = set(sorted(forms, key=lambda term: -weight_of(term))[:_NAMED])
    named = [form for term, form in forms.items() if term in heaviest]
    return ("、" if language == "zh" else ", ").join(named)
