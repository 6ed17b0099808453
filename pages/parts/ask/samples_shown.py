"""The questions that the workbench offers to try: for each workflow some that show what only it does."""

from __future__ import annotations

from collections.abc import Mapping

from components.common.i18n import UiLanguage
from engine.model.config import WorkflowName
from engine.samples import multi_hop_questions, sample_questions

Offered = tuple[tuple[str, str], ...]
"""Pairs of what is asked and the kind that its button tells: the id of a labelled question with its own kind (empty)
or another, or the words of a further question."""

_FOUR_NODES: Mapping[UiLanguage, Offered] = {
    "en": (("dc-en-03", ""), ("dm-en-06", ""), ("dc-en-01", ""), ("dm-en-12", ""), ("dc-en-17", "")),
    "zh": (("dc-zh-05", ""), ("dm-zh-01", ""), ("dc-zh-01", ""), ("dc-zh-13", ""), ("dc-zh-17", "")),
}
_OFFERED: Mapping[WorkflowName, Mapping[UiLanguage, Offered]] = {
    "self_corrective": _FOUR_NODES,
    "quality_loop": {
        "en": (
            ("dm-en-12", ""),
            ("dc-en-13", ""),
            ("How are equivalence relations and partitions related?", "sources"),
            ("dm-en-11", "sources"),
            ("dc-en-17", ""),
        ),
        "zh": (
            ("dm-zh-13", ""),
            ("dm-zh-12", ""),
            ("等价关系与划分有什么关系？", "sources"),
            ("我在量词方面有哪些薄弱点？", "sources"),
            ("dc-zh-17", ""),
        ),
    },
    "dual_loop": {
        "en": (
            ("dm-en-06", ""),
            ("Give me an overview of graph theory.", "overview"),
            ("Hello, what can you do?", "direct"),
            ("dc-en-07", ""),
            ("dc-en-17", ""),
        ),
        "zh": (
            ("dm-zh-01", ""),
            ("请概述糖尿病的类型。", "overview"),
            ("你好，你能做什么？", "direct"),
            ("dc-zh-07", ""),
            ("dc-zh-17", ""),
        ),
    },
    "answer_evaluation": {
        "en": (("dc-en-01", ""), ("dm-en-05", ""), ("dc-en-11", ""), ("dc-en-03", ""), ("dc-en-17", "")),
        "zh": (("dc-zh-01", ""), ("dm-zh-03", ""), ("dc-zh-10", ""), ("dc-zh-05", ""), ("dc-zh-17", "")),
    },
    "graph_hybrid": {
        "en": (
            ("mh-en-16", ""),
            ("mh-en-05", ""),
            ("Give me an overview of diabetes complications.", "overview"),
            ("Hello, what can you do?", "direct"),
            ("dc-en-17", ""),
        ),
        "zh": (
            ("mh-zh-04", ""),
            ("mh-zh-09", ""),
            ("请概述糖尿病的并发症。", "overview"),
            ("你好，你能做什么？", "direct"),
            ("dc-zh-17", ""),
        ),
    },
}


def shown_samples(workflow: WorkflowName, language: UiLanguage) -> list[tuple[str, str]]:
    """Questions with their kind, in the order of their buttons."""
    labelled = {item.id: item for item in (*sample_questions(), *multi_hop_questions())}
    shown = []
    for named, kind in _OFFERED[workflow][language]:
        known = labelled.get(named)
        shown.append((known.question, kind or known.kind) if known else (named, kind))
    return shown
