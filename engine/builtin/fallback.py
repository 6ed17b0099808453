"""The plain sentence of a run of the dual loop that ends without an answer (DL-03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from engine.model.language import language_of
from engine.model.values import Reason, Round, Strategy, TriedRoute

_Phrase = Literal[
    "opening", "late", "searched", "read", "read_one", "unread", "failed", "skipped", "rejected", "again", "advice"
]

_PHRASES: Mapping[Literal["zh", "en"], Mapping[_Phrase, str]] = MappingProxyType(
    {
        "en": {
            "opening": "I could not find an answer to this, so I would rather not guess.",
            "late": "The time of this run was over before an answer had been found, so I would rather not guess.",
            "searched": "I searched {names}.",
            "read": "{kept} passages were read, but none of them answers the question.",
            "read_one": "1 passage was read, but it does not answer the question.",
            "unread": "No passage was close enough to the question to be read.",
            "failed": "The search of {names} failed.",
            "skipped": "Not available here: {names}.",
            "rejected": "An answer that was written before did not pass its check; it is kept in the record.",
            "again": "Please ask again, or raise the time budget.",
            "advice": "Asking more specifically, or adding a source that covers it, may help.",
        },
        "zh": {
            "opening": "没有找到能回答这个问题的内容，所以我不作猜测。",
            "late": "在找到答案之前，本次运行的时间预算已经用完，所以我不作猜测。",
            "searched": "已检索：{names}。",
            "read": "查看了 {kept} 个片段，都没有回答这个问题。",
            "read_one": "查看了 1 个片段，没有回答这个问题。",
            "unread": "没有片段与问题足够接近。",
            "failed": "检索失败：{names}。",
            "skipped": "此处不可用：{names}。",
            "rejected": "之前写出的回答没有通过检查，保留在运行记录中。",
            "again": "请再问一次，或者调高时间预算。",
            "advice": "可以把问题问得更具体一些，或者补充相关的资料。",
        },
    }
)
_NAMES: Mapping[Literal["zh", "en"], Mapping[Strategy, str]] = MappingProxyType(
    {
        "en": {
            "hierarchical_search": "the summaries of the sources with the passages inside them",
            "direct_chunk_search": "all passages directly",
            "web_search": "the web",
        },
        "zh": {
            "hierarchical_search": "各来源的摘要及其中的片段",
            "direct_chunk_search": "全部片段",
            "web_search": "网络",
        },
    }
)


def fallback_answer(
    question: str, rounds: Sequence[Round], tried: Sequence[TriedRoute], reason: Reason, *, rejected: bool
) -> str:
    """Say that there is no answer and why; English for languages other than Chinese.

    ``tried`` are the strategies of the last pass, ``rejected`` says that an answer was written and did not pass.
    """
    language: Literal["zh", "en"] = "zh" if language_of(question) == "zh" else "en"
    say, names = _PHRASES[language], _NAMES[language]

    def named(*statuses: str) -> str:
        chosen = dict.fromkeys(item.strategy for item in tried if item.status in statuses)
        return _joined([names[strategy] for strategy in chosen], language)

    late = reason == "deadline"
    parts = [say["late" if late else "opening"]]
    if searched := named("searched", "nothing_found"):
        parts += [say["searched"].format(names=searched), _read(rounds, say)]
    if failed := named("failed"):
        parts.append(say["failed"].format(names=failed))
    if skipped := named("skipped"):
        parts.append(say["skipped"].format(names=skipped))
    if rejected:
        parts.append(say["rejected"])
    return ("" if language == "zh" else " ").join([*parts, say["again" if late else "advice"]])


def _joined(names: Sequence[str], language: Literal["zh", "en"]) -> str:
    if language == "zh" or len(names) < 2:
        return "、".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _read(rounds: Sequence[Round], say: Mapping[_Phrase, str]) -> str:
    kept = len({name for item in rounds for name, verdict in item.verdicts.items() if verdict.relevant is not None})
    if kept == 0:
        return say["unread"]
    return say["read_one"] if kept == 1 else say["read"].format(kept=kept)
