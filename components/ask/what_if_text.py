"""Sentences of a what-if; ``**`` encloses what a card sets in bold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.outcomes import outcome_text, reason_text
from components.common.phrases import begun, duration_text, probability_text
from components.common.run_settings import ALL_ROLES, differing, setting_of_config, setting_text
from components.common.workflow_view import view_of
from components.labels import name_of
from engine.flow import workflow
from engine.messages import N_, NC_, NN_
from engine.model.config import BUILTIN, ROLES, RunConfig
from engine.model.cost import Cost
from engine.model.language import normalised_query
from engine.model.values import COMPLETE, Outcome, Reason, Recall, RunRecord
from engine.replay.values import Gap, WhatIf

_GAPS = {
    "retrieval": N_("**another collection or workflow** would run: nothing recorded says what it would find."),
    "rewrite": N_(
        "it would **rewrite after round {round}**, but the rewriter would see other verdicts or passages: its query "
        "would not be the recorded one."
    ),
    "unmeasured": N_(
        "the imported trace gives **no scale for this threshold**: it holds ranks or a bare yes and no, so nothing "
        "recorded says what another value would keep or pass."
    ),
    "time": N_(
        "**round {round} is open**: the time limit of {budget} s would fall elsewhere, and no record can turn back "
        "the clock."
    ),
    "memory": N_(
        "**the router would see other memories** than it did, and nothing recorded says what it would choose."
    ),
    "web": N_(
        "**the web would be searched** where a search engine is set, and nothing recorded says what it would find."
    ),
    "answer": N_(
        "it would **answer after round {round}** from something else than the run did: that answer would have to be "
        "written, and evaluated."
    ),
}

_ENDS_DIRECT = {
    "answered": N_("it would have **answered without a search**"),
    "answered_forced": N_("it would have answered **without a search**, and that answer would stand: {reason}"),
    "abstained": N_("it would have searched **nothing** and had nothing to answer from: {reason}"),
    "answered_unverified": N_(
        "it would have answered **without a search**, from what the model knows by itself: {reason}"
    ),
}

_ENDS_GIVEN = {
    "answered": NN_(
        "it would have **answered at round {round}** from 1 passage",
        "it would have **answered at round {round}** from {n} passages",
    ),
    "answered_forced": NN_(
        "it would have **answered below the bar after round {round}** from 1 passage ({reason})",
        "it would have **answered below the bar after round {round}** from {n} passages ({reason})",
    ),
    "answered_unverified": NN_(
        "it would have answered after round {round} from 1 **unverified** passage",
        "it would have answered after round {round} from {n} **unverified** passages",
    ),
}

_ENDS = {
    "answered": N_("it would have **answered at round {round}**"),
    "answered_forced": N_("it would have **answered below the bar after round {round}** ({reason})"),
    "answered_unverified": N_("it would have answered after round {round} from **unverified** passages"),
    "abstained": N_("it would have **abstained after round {round}**: no passage to answer from"),
    "failed": N_("it would have **ended at round {round}**: {reason}"),
    "open": N_("it would **generate after round {round}**; whether anything passes, no verdict says yet"),
    "fallback": N_("it would have ended **without an answer after round {round}**: {reason}"),
}

BROKEN: frozenset[Outcome | None] = frozenset({"failed", "interrupted"})
"""Outcomes of runs that a fault ended."""
Counted = tuple[str, str]
"""A message for one thing and for many."""
REWRITES = NN_("{n} rewrite", "{n} rewrites")
_ANSWERS = NN_("{n} answer", "{n} answers")
_CALLS = NN_("{n} call", "{n} calls")
BUILT_IN_CALLS = NN_("{n} built-in step", "{n} built-in steps")
_MOST_NAMED = 3
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")


def setting_name(name: str, words: Words) -> str:
    """The name of a setting, or of a role, as the panel writes it."""
    return begun(words(ROLES[name])) if name in ALL_ROLES else words(name_of(name))


def collection_text(name: str, words: Words) -> str:
    """Return the display name of a collection: its own name, except for the samples."""
    return words("Samples") if name == RunConfig().collection else name


def collection_mark(name: str, words: Words) -> str:
    """A collection inside a sentence of ours, which is Markdown."""
    text = collection_text(name, words)
    return text if text != name else f"`{name.replace('`', '')}`"


def value_text(name: str, value: Any, words: Words) -> str:
    """The value of a setting as the panel shows it; two different thresholds never look the same."""
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
        return words("With the run's own settings ")
    if len(names) > _MOST_NAMED:
        return words("With these {n} other settings ", n=len(names))
    said = [
        words(
            "{name} **{value}** (run: {run})",
            name=begun_small(setting_name(name, words), words),
            value=_value_of(chosen, name, words),
            run=_value_of(run, name, words),
        )
        for name in names
    ]
    changes = _joined(said, words)
    # Chinese has no space between its own words, but one before a Latin name.
    apart = " " if words.language == "zh" and changes[:1].isascii() else ""
    return words("With {changes} ", changes=f"{apart}{changes}")


def begun_small(text: str, words: Words) -> str:
    """The text as it stands inside an English sentence; abbreviations keep their capitals."""
    return text[:1].lower() + text[1:] if words.language == "en" and text[1:2] in _SMALL else text


def consequence_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """Describe what would have happened, compared with the recording, and notes on an answer that stands."""
    if found.state == "needs_calls":
        return gap_text(found, record, words)
    if found.same_path:
        said = _same_path(found, record, words)
    else:
        saved = saving_text(found, record, words)
        said = ending_text(found, words) + words(": {saving}.", saving=saved) if saved else ending_text(found, words)
    if not found.answer_note:
        return said
    return words.joined((said if said.endswith((".", "。")) else said + words("."), stands_text(found, words)))


def stands_text(found: WhatIf, words: Words) -> str:
    """Say that the recorded answer stands, with its notes."""
    if not found.answer_note:
        return words("The recorded answer stands.")
    label = begun_small(outcome_text(found.outcome, words, found.answer_note), words)
    return words("The recorded answer stands: {label}.", label=label)


def gap_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """Explain where and why the path becomes unknown, for ``needs_calls``."""
    gap: Gap = found.gap or "unrecorded"
    if gap in ("routing", "evaluation", "retrieval", "unmeasured"):
        return words(_other_roles(gap, found, record))
    if found.steps:
        return _gap_in_a_round(gap, found, record, words)
    own = gap == "memory" and record.recall is not None and _answered_before(record, record.recall)
    return words(
        "**memory answered this run**. Run with these settings, what runs of this very question left is not "
        "recalled, and nothing recorded says what would be found."
        if own
        else _gap_at_the_start(found, gap)
    )


def _other_roles(gap: Gap, found: WhatIf, record: RunRecord) -> str:
    """A gap before or behind the rounds, where something else would be asked or judged."""
    models, former = found.config.models, record.config.models
    if gap == "routing":
        return (
            N_("**another router** would choose what is searched, and nothing recorded says what.")
            if models.router != former.router
            else N_(
                "**the router would have other strategies to choose from**, and nothing recorded says which it would "
                "take."
            )
        )
    if gap == "evaluation":
        return (
            N_("the recorded answer would be judged by **another evaluator**, and its judgement is not known.")
            if models.evaluator != former.evaluator
            else N_(
                "the recorded answer would stand, but **its evaluator would see other passages**, or might not fail: "
                "its judgement is not known."
            )
        )
    return (
        N_(
            "**another search** would be made (mode, hops, entities, communities or depth), and nothing recorded says "
            "what it would find."
        )
        if workflow(record.workflow).in_modes and _same_place(found.config, record.config)
        else _GAPS[gap]
    )


def _gap_in_a_round(gap: Gap, found: WhatIf, record: RunRecord, words: Words) -> str:
    last, models, former = found.steps[-1], found.config.models, record.config.models
    n = last.round.index
    if gap == "candidates":
        return words.count(
            "**round {round} is open**: one passage below the {depth} recorded ones might be kept, and no one has "
            "seen it.",
            "**round {round} is open**: up to {n} passages below the {depth} recorded ones might be kept, and no one "
            "has seen them.",
            last.unseen,
            round=n,
            depth=len(last.round.candidates),
        )
    if gap == "verdicts":
        return _verdicts_text(found, record, words)
    if gap == "scores" and models.reranker != former.reranker:
        return words(
            "**round {round} is open**: another reranker would score the passages, and it has scored none of them.",
            round=n,
        )
    if gap == "scores":
        return words.count(
            "**round {round} is open**: one passage would be reranked that this run did not score, and the order "
            "hangs on it.",
            "**round {round} is open**: {n} passages would be reranked that this run did not score, and the order "
            "hangs on them.",
            len(last.ungraded),
            round=n,
        )
    if gap == "rewrite" and models.rewriter != former.rewriter:
        return words(
            "it would **rewrite after round {round}**, and another rewriter writes a query of its own.", round=n
        )
    if gap == "unrecorded":
        return words(
            _UNRECORDED.get(
                found.decisions[-1].reason,
                N_(
                    "it would **answer after round {round}**; the run ended before an answer was written and "
                    "evaluated there."
                ),
            ),
            round=n,
        )
    return words(_GAPS[gap], round=n, budget=f"{found.config.budget_s:g}")


def _answered_before(record: RunRecord, recall: Recall) -> bool:
    """Return whether a memory that held was left by a run of this very question."""
    asked = normalised_query(record.question)
    return any(normalised_query(item.question) == asked for item in recall.holding)


def _same_place(chosen: RunConfig, run: RunConfig) -> bool:
    places = [(item.workflow, item.collection, item.milvus_address) for item in (chosen, run)]
    return places[0] == places[1]


_REWRITE = N_("it would **rewrite after round {round}**, where the run did not go on.")
_UNRECORDED: Mapping[Reason, str] = MappingProxyType(
    {
        "below_gate": _REWRITE,
        "low_quality": _REWRITE,
        "next_strategy": N_(
            "it would go on to **another strategy** after round {round}, which the run did not search by."
        ),
        "answer_off": N_("it would **correct the answer** after round {round}, where the run did not go on."),
        "revise": N_("it would have the answer **revised once more**, where the run did not go on."),
    }
)
"""By the last decision: what would follow and was not recorded; after any other one, an answer."""


def _gap_at_the_start(found: WhatIf, gap: Gap) -> str:
    """The words of a path that stops before its first round."""
    match gap:
        case "memory" | "web":
            return _GAPS[gap]
        case "answer":
            return N_(
                "it would **answer without a search** as the run did not: that answer would have to be written, and "
                "evaluated."
            )
        case "rewrite":
            return N_("it would search, and **another rewriter** would word the first query.")
        case _:
            return (
                N_("it would **search**, and the run ended before it had searched.")
                if found.opening
                else N_("the run ended before its first search: there is nothing to decide from.")
            )


def _verdicts_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    last, missing = found.steps[-1], len(found.steps[-1].ungraded)
    n = last.round.index
    if last.decision is not None:
        return words.count(
            "it would **rewrite after round {round}**; the rewriter would also be told of a passage that has no "
            "verdict, so its query is not known.",
            "it would **rewrite after round {round}**; the rewriter would also be told of {n} passages that have no "
            "verdict, so its query is not known.",
            missing,
            round=n,
        )
    if found.config.models.grader != record.config.models.grader:
        return words(
            "**round {round} is open**: another grader would judge, and it has judged none of these passages.", round=n
        )
    bar = _bar(found.config, words)
    quantity, least_wanted = view_of(found.config.workflow).bar(found.config) or ("", 0.0)
    if quantity == "quality_score":
        if not last.score[0] < least_wanted <= last.score[1]:
            # The score is settled either way: what is open is whether the grader can be read at all.
            return words.count(
                "**round {round} is open**: one kept passage has no verdict. Its score would not change the route, "
                "but a grader that fails on it would end the run.",
                "**round {round} is open**: {n} kept passages have no verdict. Its score would not change the route, "
                "but a grader that fails on all of them would end the run.",
                missing,
                round=n,
            )
        least, most = (probability_text(value) for value in last.score)
        return words.count(
            "**round {round} is open**: one kept passage has no verdict, so its score lies from {least} to {most}, "
            "and {bar} lies between.",
            "**round {round} is open**: {n} kept passages have no verdict, so its score lies from {least} to {most}, "
            "and {bar} lies between.",
            missing,
            round=n,
            least=least,
            most=most,
            bar=bar,
        )
    return words.count(
        "**round {round} is open**: one kept passage has no verdict, so {least} or {most} of {kept} pass, and {bar} "
        "lies between.",
        "**round {round} is open**: {n} kept passages have no verdict, so {least} to {most} of {kept} pass, and {bar} "
        "lies between.",
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


def differences_to(found: WhatIf, record: RunRecord) -> tuple[tuple[Counted, int], ...]:
    """By what is counted, how many rewrites, answers and calls less than the recording; below 0 more."""
    if record.outcome not in COMPLETE or found.outcome is None:
        return ()
    rewrites = sum(not item.initial for item in record.rewrites)
    return (
        (REWRITES, rewrites - found.rewrites),
        (_ANSWERS, len(record.drafts) - found.answers),
        (_CALLS, record.calls - found.cost.calls),
        (BUILT_IN_CALLS, record.built_in_calls - found.cost.built_in_calls),
    )


def saving_parts(
    differences: Iterable[tuple[Counted, int]],
    words: Words,
    *,
    sides: tuple[str, str] = (N_("{parts} fewer"), N_("{parts} more")),
) -> str:
    """``1 rewrite and 3 calls fewer, 2 built-in steps more`` of counted things that are less (or, below 0, more)."""
    counted = tuple(differences)
    parts = []
    for side, sign in zip(sides, (1, -1), strict=True):
        said = [words.count(*things, sign * number) for things, number in counted if sign * number > 0]
        if said:
            parts.append(words(side, parts=_joined(said, words)))
    return words(NC_("what-if", ", ")).join(parts)


def price_text(price: Cost, words: Words) -> str:
    """``3 calls + 6 built-in steps ≈ 1.2 s``; says so where the run has measured no such step."""
    counted = [
        words.count(*things, number)
        for things, number in ((_CALLS, price.calls), (BUILT_IN_CALLS, price.built_in_calls))
        if number
    ]
    time = words(" (time not measured)") if price.seconds is None else f" ≈ {duration_text(price.seconds * 1000.0)}"
    return f"{' + '.join(counted) or words('no calls')}{time}"


def needed_text(found: WhatIf, words: Words) -> str:
    """``needs 3–24 calls``, from the next step to the worst case; built-in ones only where no model is called."""
    least, most = found.calls_needed.next, found.calls_needed.worst
    if most.calls:
        low, high, said = least.calls, most.calls, words.count("{n} call", "{n} calls", most.calls)
    else:
        low, high = least.built_in_calls, most.built_in_calls
        said = words.count(*BUILT_IN_CALLS, high)
    if low == high:
        return words("needs {calls}", calls=said)
    return words("needs {low}–{calls}", low=low, calls=said) if low else words("needs up to {calls}", calls=said)


def _same_path(found: WhatIf, record: RunRecord, words: Words) -> str:
    if found.state == "known":
        return words("**nothing would change**: the same decisions and the same answer.")
    given = len(record.context.passages) if record.context else 0
    if found.passages and len(found.passages) != given:
        return words.count(
            "the **decisions would be the same**, and the answer written from 1 passage instead of {given}.",
            "the **decisions would be the same**, and the answer written from {n} passages instead of {given}.",
            len(found.passages),
            given=given,
        )
    return words("the **decisions would be the same**, but the generator would be given something else.")


def ending_text(found: WhatIf, words: Words, *, whole: bool = True) -> str:
    """``it would have **answered at round 0** from 2 passages``; not ``whole``: without what it answers from."""
    reason = reason_text(found.reason, words)
    outcome = found.outcome or "open"
    if not found.steps:
        return words(_ENDS_DIRECT[outcome], reason=reason)
    last = found.steps[-1].round.index
    written = words(", as answer {n}", n=found.answers) if found.answers > 1 else ""
    if found.passages and whole:
        given = words.count(*_ENDS_GIVEN[outcome], len(found.passages), round=last, reason=reason)
        return given + written
    return words(_ENDS[outcome], round=last, reason=reason)


def _bar(config: RunConfig, words: Words) -> str:
    quantity, least = view_of(config.workflow).bar(config) or ("pass_rate", config.grade_pass_threshold)
    if quantity == "relevant_passages":
        return words.count("the bar of one passage", "the bar of {n} passages", int(least))
    return words("the bar of {value}", value=probability_text(least))


def _value_of(config: RunConfig, name: str, words: Words) -> str:
    role = next((role for role in ALL_ROLES if role == name), None)
    if role is not None:
        model = config.models.of(role).model
        return words("built-in") if model == BUILTIN else model
    return value_text(name, setting_of_config(config, name), words)


def _joined(parts: Sequence[str], words: Words) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return words("{first} and {last}", first=words(", ").join(parts[:-1]), last=parts[-1])
