"""What a built-in evaluator's suggestions say in English and Chinese, from their codes and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from engine.values import EvaluationDimension, Suggestion

_Written = Literal["en", "zh"]

DIMENSION_OF: Mapping[str, EvaluationDimension] = {
    "no_answer": "reasonableness",
    "off_topic": "reasonableness",
    "other_pole": "reasonableness",
    "not_denied": "reasonableness",
    "off_point": "reasonableness",
    "part_open": "reasonableness",
    "kind_missing": "reasonableness",
    "contradiction": "reasonableness",
    "repeated": "reasonableness",
    "no_structure": "reasonableness",
    "invented": "reasonableness",
    "uncited": "evidence_marking",
    "unsupported": "evidence_marking",
    "not_shown": "evidence_marking",
    "dead_marker": "evidence_marking",
    "part_unsaid": "evidence_marking",
    "kind_unsaid": "evidence_marking",
    "terms_unsaid": "evidence_marking",
}
"""Every code with its dimension (SPEC AE-02)."""

SUGGESTIONS: Mapping[_Written, Mapping[str, str]] = {
    "en": {
        "no_answer": "Answer the question: so far the text makes no statement about it.",
        "off_topic": "Answer what was asked: nothing is said about {terms}.",
        "other_pole": "Answer what was asked: the question is about “{terms}”, and the answer tells of “{other}”.",
        "not_denied": "Answer what was asked: the question is about what is not so, and the answer tells what is.",
        "off_point": "Leave this sentence out, or say what it has to do with the question.",
        "part_open": "Answer this part of the question too: {part}",
        "part_open+marker": "Answer this part of the question too: {part} Passage [{marker}] speaks of it.",
        "kind_missing": "Give the {kind} that the question asks for.",
        "kind_missing+marker": "Give the {kind} that the question asks for; passage [{marker}] has one.",
        "contradiction": "Say that the sources differ here, or keep one of the two; the other sentence is: {other}",
        "repeated": "Leave this sentence out: it repeats what was said before: {other}",
        "no_structure": "Break the answer into paragraphs or a list: {sentences} sentences stand in one block.",
        "invented": "Leave this sentence out: no passage says it.",
        "uncited": "Name the source of this sentence; if no passage says it, leave it out.",
        "uncited+marker": "Name the source of this sentence; passage [{marker}] says it.",
        "unsupported": "Passage [{marker}] does not say this; cite the right one, or leave the sentence out.",
        "unsupported+better": "Passage [{marker}] does not say this; cite [{better}], which does.",
        "not_shown": "Leave this sentence out: what is shown of passage [{marker}] does not say it, nor does it help.",
        "dead_marker": "Correct {markers}: no passage has that number.",
        "part_unsaid": "Say plainly that the passages leave this part of the question open: {part}",
        "kind_unsaid": "Say plainly that the passages do not give the {kind} that the question asks for.",
        "terms_unsaid": "Say plainly that the passages do not mention {terms}.",
    },
    "zh": {
        "no_answer": "请回答问题：目前的文字对它没有作出任何陈述。",
        "off_topic": "请回答所问的内容：回答没有谈到{terms}。",
        "other_pole": "请回答所问的内容：问的是“{terms}”，回答说的却是“{other}”。",
        "not_denied": "请回答所问的内容：问的是什么不成立，回答说的却是什么成立。",
        "off_point": "请删去这句话，或说明它与问题有什么关系。",
        "part_open": "问题的这一部分也要回答：{part}",
        "part_open+marker": "问题的这一部分也要回答：{part}（片段 [{marker}] 谈到了它）",
        "kind_missing": "请给出问题所问的{kind}。",
        "kind_missing+marker": "请给出问题所问的{kind}，片段 [{marker}] 里有。",
        "contradiction": "请说明资料在这里说法不一，或只保留其中一句；另一句是：{other}",
        "repeated": "请删去这句话，它重复了前面说过的：{other}",
        "no_structure": "请把回答分成段落或列表：现在 {sentences} 句话挤在一段里。",
        "invented": "请删去这句话：没有任何片段这样说。",
        "uncited": "请注明这句话的来源；如果没有片段这样说，就删去它。",
        "uncited+marker": "请注明这句话的来源，片段 [{marker}] 是这样说的。",
        "unsupported": "片段 [{marker}] 没有这样说；请改引正确的片段，或删去这句话。",
        "unsupported+better": "片段 [{marker}] 没有这样说；请改引 [{better}]，它是这样说的。",
        "not_shown": "请删去这句话：片段 [{marker}] 给出的部分没有这样说，它也没有回答问题。",
        "dead_marker": "请改正 {markers}：没有这个编号的片段。",
        "part_unsaid": "请明确说明资料没有回答问题的这一部分：{part}",
        "kind_unsaid": "请明确说明资料没有给出问题所问的{kind}。",
        "terms_unsaid": "请明确说明资料没有提到{terms}。",
    },
}
"""A sentence by code; one with ``+`` is used where the suggestion has that parameter."""

KINDS: Mapping[_Written, Mapping[str, str]] = {
    "en": {"date": "date", "number": "number", "person": "name of the person", "place": "place"},
    "zh": {"date": "时间", "number": "数字", "person": "人名", "place": "地点"},
}


def suggested(code: str, quote: str = "", **params: str) -> Suggestion:
    """A suggestion with its English text; the quote must stand in the answer word for word."""
    text = _filled(code, params, "en")
    return Suggestion(DIMENSION_OF[code], text, code=code, params=params, quote=quote)


def suggestion_text(suggestion: Suggestion, language: _Written) -> str:
    """What a suggestion says in a language; a model's own words come back as they are."""
    if suggestion.code not in SUGGESTIONS[language]:
        return suggestion.text
    return _filled(suggestion.code, suggestion.params, language)


def _filled(code: str, params: Mapping[str, str], language: _Written) -> str:
    sentences = SUGGESTIONS[language]
    template = next((sentences[f"{code}+{name}"] for name in params if f"{code}+{name}" in sentences), sentences[code])
    kind = KINDS[language].get(params.get("kind", ""), params.get("kind", ""))
    try:
        return template.format_map({**params, "kind": kind})
    except KeyError:
        # A record may have come from a version with other parameters.
        return template
