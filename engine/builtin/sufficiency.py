"""Whether passages answer a question together, by the words that they cover: deterministic, and no reading."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from engine.builtin.evidence import read_question, weigh
from engine.model.values import Message, ModelCall, Passage, SetVerdict, Sufficiency
from engine.roles import SILENT, Trace

MODEL = "builtin"


class WordSetJudge:
    """Judges by words (contract: :class:`engine.roles.SetJudge`).

    ``yes`` where every term of the question is covered by one of the passages and, where a date, number or the like is
    asked for, one of them holds such an answer; ``no`` where none covers anything; ``part`` otherwise.
    """

    async def judge_set(self, question: str, passages: Sequence[Passage], trace: Trace = SILENT) -> SetVerdict:
        """One verdict on all of them; raises nothing."""
        start_ms, began = trace.now_ms(), time.perf_counter()
        verdict = by_words(question, passages)
        parsed = {"answered": verdict.answered, "missing": list(verdict.missing)}
        named = "\n".join(f"passage {item.id}" for item in passages)
        trace.call(
            ModelCall(
                role="grader",
                node="",
                round=0,
                model=MODEL,
                messages=(Message("user", f"{question}\n\n{named}"),),
                reply=json.dumps(parsed, ensure_ascii=False),
                parsed=parsed,
                start_ms=start_ms,
                duration_ms=(time.perf_counter() - began) * 1000.0,
                built_in=True,
            )
        )
        return verdict


def by_words(question: str, passages: Sequence[Passage]) -> SetVerdict:
    """The verdict on some passages; terms stand in the order of the question."""
    read = read_question(question)
    seen = [
        weigh(read, item.text, item.similarity, heading=item.above)
        for item in sorted(passages, key=lambda item: item.id)
    ]
    every = dict.fromkeys(term for found in seen for term in (*found.covered, *found.missing))
    known = {term for found in seen for term in found.covered}
    covered = tuple(term for term in every if term in known)
    missing = tuple(term for term in every if term not in known)
    wanted = seen[0].wanted if seen else "other"
    kinds = [found.wanted_found for found in seen]
    wanted_found = None if not kinds or None in kinds else any(kinds)
    answered: Sufficiency = "part"
    if not covered and (missing or not seen):
        answered = "no"
    elif not missing and wanted_found is not False:
        answered = "yes"
    ids = tuple(item.id for item in passages)
    return SetVerdict(ids, answered, _reason(covered, missing), covered, missing, wanted, wanted_found, MODEL)


def _reason(covered: Sequence[str], missing: Sequence[str]) -> str:
    named = ", ".join(covered) or "nothing that the question names"
    parts = [f"Together they cover {named}"]
    if missing:
        parts.append(f"missing {', '.join(missing)}")
    return "; ".join(parts) + "."
