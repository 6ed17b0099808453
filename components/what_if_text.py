"""What a what-if says in plain sentences; ``**`` stands around what a card sets in bold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from components.i18n import Words
from components.markup import Node, node
from components.phrases import duration_text, probability_text, reason_text
from components.setting_words import setting_text
from components.settings_of import ALL_ROLES, differing, setting_of_config
from engine.config import BUILTIN, DualLoopOptions, QualityOptions, RunConfig
from engine.policies.dual import INITIAL, LEAST_RELEVANT, holding, of_this_question
from engine.values import Outcome, Reason, Recall, RunRecord
from engine.whatif.values import Gap, Price, WhatIf

COMPLETE: frozenset[Outcome | None] = frozenset(
    {"answered", "answered_forced", "answered_unverified", "abstained", "fallback"}
)
"""Outcomes of runs that came to their end by themselves."""
REWRITES = "waste.rewrites"
_ANSWERS = "whatif.answers"
_CALLS = "waste.calls"
BUILT_IN_CALLS = "whatif.built_in_calls"
_MOST_NAMED = 3
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")


def setting_name(name: str, words: Words) -> str:
    """The name of a setting, or of a role, as the panel writes it."""
    return words(f"settings.model.{name}") if name in ALL_ROLES else words(f"settings.{name}")


def collection_text(name: str, words: Words) -> str:
    """What a collection is called on the pages: its own name, except the samples."""
    return words("settings.collection.samples") if name == RunConfig().collection else name


def collection_mark(name: str, words: Words) -> str:
    """A collection inside a sentence of ours, which is Markdown."""
    text = collection_text(name, words)
    return text if text != name else f"`{name.replace('`', '')}`"


def value_text(name: str, value: Any, words: Words) -> str:
    """The value of a setting as the panel shows it; two thresholds that differ never look alike."""
    if name == "collection":
        return collection_text(value, words)
    if isinstance(value, float) and round(value, 2) != value:
        return f"{value:.4f}".rstrip("0")
    return setting_text(name, value, words)


def rich(text: str) -> list[Node | str]:
    """Text with what stands between ``**`` in bold."""
    return [node("strong", "", part) if place % 2 else part for place, part in enumerate(text.split("**")) if part]


def changes_text(chosen: RunConfig, run: RunConfig, words: Words) -> str:
    """``With pass rate at least **0.40** (run: 0.60)``; more than three changes are counted."""
    names = differing(chosen, run)
    if not names:
        return words("whatif.as_run")
    if len(names) > _MOST_NAMED:
        return words("whatif.with_many", n=len(names))
    said = [
        words(
            "whatif.change",
            name=begun_small(setting_name(name, words), words),
            value=_value_of(chosen, name, words),
            run=_value_of(run, name, words),
        )
        for name in names
    ]
    changes = _joined(said, words)
    # Chinese has no space between its own words, but one before a Latin name.
    apart = " " if words.language == "zh" and changes[:1].isascii() else ""
    return words("whatif.with", changes=f"{apart}{changes}")


def begun_small(text: str, words: Words) -> str:
    """The text as it stands inside an English sentence; abbreviations keep their capitals."""
    return text[:1].lower() + text[1:] if words.language == "en" and text[1:2] in _SMALL else text


def consequence_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """One sentence: what would have happened, against the recording."""
    if found.state == "needs_calls":
        return gap_text(found, record, words)
    if found.same_path:
        return _same_path(found, record, words)
    saved = saving_text(found, record, words)
    return ending_text(found, words) + (words("whatif.saving", saving=saved) if saved else "")


def gap_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """Where the path stops being known and why, for ``needs_calls``."""
    last = found.steps[-1] if found.steps else None
    gap: Gap = found.gap or "unrecorded"
    models, former = found.config.models, record.config.models
    if gap == "routing":
        return words("whatif.gap.routing" if models.router != former.router else "whatif.gap.strategies")
    if gap == "evaluation":
        return words("whatif.gap.evaluator" if models.evaluator != former.evaluator else "whatif.gap.evaluation")
    if gap == "retrieval" and found.config.workflow == record.workflow == "graph_hybrid":
        return words(
            "whatif.gap.retrieval.graph" if _same_place(found.config, record.config) else "whatif.gap.retrieval"
        )
    if last is None:
        own = gap == "memory" and record.recall is not None and _answered_before(record, record.recall)
        return words("whatif.gap.memory.own" if own else _gap_at_the_start(found, gap))
    n = last.round.index
    if gap == "candidates":
        return words.count("whatif.gap.candidates", last.unseen, round=n, depth=len(last.round.candidates))
    if gap == "verdicts":
        return _verdicts_text(found, record, words)
    if gap == "scores" and models.reranker != former.reranker:
        return words("whatif.gap.reranker", round=n)
    if gap == "scores":
        return words.count("whatif.gap.scores", len(last.ungraded), round=n)
    if gap == "rewrite" and models.rewriter != former.rewriter:
        return words("whatif.gap.rewriter", round=n)
    if gap == "unrecorded":
        return words(_UNRECORDED.get(found.decisions[-1].reason, "whatif.gap.unrecorded.answer"), round=n)
    return words(f"whatif.gap.{gap}", round=n, budget=f"{found.config.budget_s:g}")


def _answered_before(record: RunRecord, recall: Recall) -> bool:
    """Whether a memory that held was left by a run of this very question."""
    return any(of_this_question(item, record.question) for item in holding(recall))


def _same_place(chosen: RunConfig, run: RunConfig) -> bool:
    return (chosen.collection, chosen.milvus_address) == (run.collection, run.milvus_address)


_UNRECORDED: Mapping[Reason, str] = MappingProxyType(
    {
        "below_gate": "whatif.gap.unrecorded",
        "low_quality": "whatif.gap.unrecorded",
        "next_strategy": "whatif.gap.unrecorded.strategy",
        "answer_off": "whatif.gap.unrecorded.correction",
        "revise": "whatif.gap.unrecorded.revision",
    }
)
"""By the last decision: what would follow and was not recorded; after any other one, an answer."""


def _gap_at_the_start(found: WhatIf, gap: Gap) -> str:
    """The words of a path that stops before its first round."""
    match gap:
        case "retrieval":
            return "whatif.gap.retrieval"
        case "memory":
            return "whatif.gap.memory"
        case "web":
            return "whatif.gap.web"
        case "answer":
            return "whatif.gap.answer.direct"
        case "rewrite":
            return "whatif.gap.rewriter.first"
        case _:
            return "whatif.gap.unrecorded.search" if found.opening else "whatif.gap.empty"


def _verdicts_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    last, missing = found.steps[-1], len(found.steps[-1].ungraded)
    n = last.round.index
    if last.decision is not None:
        return words.count("whatif.gap.verdicts_rewriter", missing, round=n)
    if found.config.models.grader != record.config.models.grader:
        return words("whatif.gap.grader", round=n)
    bar = _bar(found.config, words)
    if isinstance(found.config.options, QualityOptions):
        if not last.score[0] < found.config.options.medium_score <= last.score[1]:
            # The score is settled either way: what is open is whether the grader can be read at all.
            return words.count("whatif.gap.verdicts_grader", missing, round=n)
        least, most = (probability_text(value) for value in last.score)
        return words.count("whatif.gap.verdicts_score", missing, round=n, least=least, most=most, bar=bar)
    return words.count(
        "whatif.gap.verdicts",
        missing,
        round=n,
        least=last.passed[0],
        most=last.passed[1],
        kept=len(last.round.kept) + last.unseen,
        bar=bar,
    )


def saving_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """``1 rewrite and 3 calls fewer``; empty for a run that did not come to its end, and where nothing differs."""
    return saving_parts(differences_to(found, record), words)


def differences_to(found: WhatIf, record: RunRecord) -> tuple[tuple[str, int], ...]:
    """By the key of their words, how many rewrites, answers and calls less than the recording; below 0 more."""
    if record.outcome not in COMPLETE or found.outcome is None:
        return ()
    rewrites = sum(item.strategy != INITIAL or item.round >= 0 for item in record.rewrites)
    return (
        (REWRITES, rewrites - found.rewrites),
        (_ANSWERS, len(record.drafts) - found.answers),
        (_CALLS, record.calls - found.cost.calls),
        (BUILT_IN_CALLS, record.built_in_calls - found.cost.built_in_calls),
    )


def saving_parts(
    differences: Iterable[tuple[str, int]],
    words: Words,
    *,
    sides: tuple[str, str] = ("whatif.less", "whatif.more"),
) -> str:
    """``1 rewrite and 3 calls fewer, 2 built-in calls more`` of counted things that are less (or, below 0, more)."""
    counted = tuple(differences)
    parts = []
    for side, sign in zip(sides, (1, -1), strict=True):
        said = [words.count(key, sign * number) for key, number in counted if sign * number > 0]
        if said:
            parts.append(words(side, parts=_joined(said, words)))
    return words("whatif.joint").join(parts)


def price_text(price: Price, words: Words) -> str:
    """``3 calls + 6 built-in calls ≈ 1.2 s``; says so where the run has measured no such step."""
    counted = [
        words.count(key, number)
        for key, number in ((_CALLS, price.calls), (BUILT_IN_CALLS, price.built_in_calls))
        if number
    ]
    time = words("whatif.unmeasured") if price.seconds is None else f" ≈ {duration_text(price.seconds * 1000.0)}"
    return f"{' + '.join(counted) or words('whatif.no_calls')}{time}"


def needed_text(found: WhatIf, words: Words) -> str:
    """``needs 3–24 calls``, from the next step to the worst case; built-in ones only where no model is called."""
    least, most = found.calls_needed.next, found.calls_needed.worst
    if most.calls:
        low, high, said = least.calls, most.calls, words.count("waste.calls", most.calls)
    else:
        low, high = least.built_in_calls, most.built_in_calls
        said = words.count("whatif.built_in_calls", high)
    if low == high:
        return words("whatif.needs", calls=said)
    return words("whatif.needs_between", low=low, calls=said) if low else words("whatif.needs_up_to", calls=said)


def _same_path(found: WhatIf, record: RunRecord, words: Words) -> str:
    if found.state == "known":
        return words("whatif.same")
    given = len(record.context.passages) if record.context else 0
    if found.passages and len(found.passages) != given:
        return words.count("whatif.same_path", len(found.passages), given=given)
    return words("whatif.same_path_other")


def ending_text(found: WhatIf, words: Words, *, whole: bool = True) -> str:
    """``it would have **answered at round 0** from 2 passages``; not ``whole``: without what it answers from."""
    reason = reason_text(found.reason, words)
    outcome = found.outcome or "open"
    if not found.steps:
        return words(f"whatif.end.{outcome}.direct", reason=reason)
    last = found.steps[-1].round.index
    written = words("whatif.end.written", n=found.answers) if found.answers > 1 else ""
    if found.passages and whole:
        given = words.count(f"whatif.end.{outcome}.from", len(found.passages), round=last, reason=reason)
        return given + written
    return words(f"whatif.end.{outcome}", round=last, reason=reason)


def _bar(config: RunConfig, words: Words) -> str:
    match config.options:
        case QualityOptions():
            return words("whatif.bar_score", value=probability_text(config.options.medium_score))
        case DualLoopOptions():
            return words.count("whatif.bar_count", LEAST_RELEVANT)
    if config.gate == "min_relevant":
        return words.count("whatif.bar_count", config.min_relevant)
    return words("whatif.bar_rate", value=probability_text(config.grade_pass_threshold))


def _value_of(config: RunConfig, name: str, words: Words) -> str:
    role = next((role for role in ALL_ROLES if role == name), None)
    if role is not None:
        model = config.models.of(role).model
        return words("settings.model.builtin") if model == BUILTIN else model
    return value_text(name, setting_of_config(config, name), words)


def _joined(parts: Sequence[str], words: Words) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return words("whatif.and", first=words("list.joint").join(parts[:-1]), last=parts[-1])
