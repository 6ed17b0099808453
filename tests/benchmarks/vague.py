"""More vague questions on the samples, for a group that is chosen by what was measured (QL-06)."""

from __future__ import annotations

from engine.model.values import PassageId
from engine.samples import SampleQuestion

_SUBJECTS = (
    ("sets", "dm-sets.en.md"),
    ("关系", "dm-relations.zh.md"),
    ("relations", "dm-relations.en.md"),
    ("函数", "dm-functions.zh.md"),
    ("functions", "dm-functions.en.md"),
    ("树", "dm-trees.zh.md"),
    ("trees", "dm-trees.en.md"),
    ("证明", "dm-proof.zh.md"),
    ("quantifiers", "dm-quantifiers.en.md"),
    ("计数", "dm-counting.zh.md"),
    ("truth tables", "dm-truth-tables.en.md"),
    ("饮食", "dc-diet.zh.md"),
    ("food", "dc-diet.en.md"),
    ("症状", "dc-symptoms.zh.md"),
    ("exercise", "dc-exercise.en.md"),
    ("监测", "dc-monitoring.zh.md"),
    ("checks", "dc-monitoring.en.md"),
    ("急症", "dc-emergencies.zh.md"),
)
_FIRST = 3
"""Passages of a source that are about its subject as a whole; what follows are single facts and anecdotes."""

MORE_VAGUE = tuple(
    SampleQuestion(
        id=f"vague-{place}",
        language=source.split(".")[1],
        kind="vague",
        question=question,
        expected=tuple(PassageId(f"{source}#{number}") for number in range(1, _FIRST + 1)),
    )
    for place, (question, source) in enumerate(_SUBJECTS, start=1)
)
