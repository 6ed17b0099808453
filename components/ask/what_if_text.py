"""Sentences of a what-if; ``**`` encloses what a card sets in bold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from components.ask.admitted import lets_in
from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.outcomes import end_text, outcome_text, reason_text, round_text
from components.common.phrases import begun, duration_text, probability_text
from components.common.run_settings import ALL_ROLES, differing, setting_of_config, setting_text
from components.common.workflow_view import view_of
from components.labels import VARIED_SETTINGS, name_of
from components.sentences.rounds import round_names
from engine.messages import N_, NC_, NN_
from engine.model.config import BUILTIN, ROLES, RoleName, RunConfig, number_of
from engine.model.cost import Cost
from engine.model.values import COMPLETE, Outcome, Reason, RunRecord
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.values import Gap, WhatIf

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


def range_text(name: str, band: tuple[float, float], words: Words) -> str:
    """``0.21–0.40``: both ends as the panel shows them."""
    limits = number_of(name)
    ends = (int(end) if limits and limits.whole else end for end in band)
    low, high = (value_text(name, end, words) for end in ends)
    return low if low == high else words("{low}–{high}", low=low, high=high)


def rich(text: str) -> list[Node | str]:
    """Text with what stands between ``**`` in bold."""
    return [node("strong", "", part) if place % 2 else part for place, part in enumerate(text.split("**")) if part]


def changes_text(chosen: RunConfig, run: RunConfig, words: Words) -> str:
    """``With pass rate at least **0.40** (run: 0.60): ``; more than three changes are counted."""
    names = differing(chosen, run)
    if not names:
        return words("With the run's own settings: ")
    if len(names) > _MOST_NAMED:
        return words("With these {n} other settings: ", n=len(names))
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
    return words("With {changes}: ", changes=f"{apart}{changes}")


def begun_small(text: str, words: Words) -> str:
    """The text as it stands inside an English sentence; abbreviations keep their capitals."""
    return text[:1].lower() + text[1:] if words.language == "en" and text[1:2] in _SMALL else text


def sentence_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """The whole sentence: the changed settings, what they would have led to, and notes on an answer that stands."""
    said = changes_text(found.config, record.config, words) + consequence_text(found, record, words)
    said = said if said.endswith((".", "。")) else said + words(".")
    return words.joined((said, stands_text(found, words))) if found.answer_note and found.path_known else said


def consequence_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """Describe what would have happened, compared with the recording."""
    if not found.path_known:
        return gap_text(found, record, words)
    if found.same_path:
        return _same_path(found, record, words)
    saved = saving_parts(differences_to(found, record), words)
    return words(NC_("what-if", ", ")).join(part for part in (_ending_text(found, words), saved) if part)


def stands_text(found: WhatIf, words: Words) -> str:
    """Say that the recorded answer stands, with its notes."""
    label = begun_small(outcome_text(found.outcome, words, found.answer_note), words)
    return words("The recorded answer stands: {label}.", label=label)


_GAPS: Mapping[Gap, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("retrieval", "web"), N_("something else would be searched, and nothing recorded says what it finds")
        ),
        **dict.fromkeys(("memory", "routing"), N_("the router would have other memories or strategies to choose from")),
        "rewrite": N_("the rewriter would see other verdicts or passages, so its query is not known"),
        "unmeasured": N_("the imported trace gives no scale for this threshold"),
        "time": N_("the time limit of {budget} s would fall elsewhere, and no record can turn back the clock"),
        "answer": N_("the answer would be written from something else than the run did"),
        "evaluation": N_("the evaluator would see other passages, or might not fail"),
        "unrecorded": N_("the run ended before an answer was written and evaluated there"),
    }
)
_ASKED: Mapping[Gap, RoleName] = MappingProxyType(
    {
        "routing": "router",
        "evaluation": "evaluator",
        "verdicts": "grader",
        "scores": "reranker",
        "rewrite": "rewriter",
    }
)
"""By what is missing the role that would tell it, where another model plays it."""


def gap_text(found: WhatIf, record: RunRecord, words: Words) -> str:
    """Explain where and why the path becomes unknown, for ``needs_calls``."""
    gap: Gap = found.gap or "unrecorded"
    role = _ASKED.get(gap)
    if role is not None and found.config.models.of(role) != record.config.models.of(role):
        said = words(
            "another {role} would be asked, and nothing recorded says what it replies", role=words(ROLES[role])
        )
    elif not found.steps:
        said = _gap_at_the_start(gap, words)
    else:
        said = _gap_in_a_round(found, gap, words)
    if not found.steps or gap in ("routing", "evaluation", "retrieval", "unmeasured"):
        return said
    place = found.steps[-1].round.index
    return words("{place} ({why})", place=said, why=round_names(record, words).get(place) or round_text(place, words))


def _gap_at_the_start(gap: Gap, words: Words) -> str:
    """The words of a path that stops before its first round."""
    if gap in ("rewrite", "candidates", "verdicts", "scores", "unrecorded", "time"):
        return words("the run ended before its first search")
    return words(_GAPS[gap])


def _gap_in_a_round(found: WhatIf, gap: Gap, words: Words) -> str:
    last = found.steps[-1]
    if gap == "candidates":
        return words.count(
            "one passage below the {depth} recorded ones might be kept",
            "up to {n} passages below the {depth} recorded ones might be kept",
            last.unseen,
            depth=len(last.round.candidates),
        )
    if gap == "verdicts":
        return _verdicts_text(found, words)
    if gap == "scores":
        return words.count(
            "one passage would be reranked that this run did not score",
            "{n} passages would be reranked that this run did not score",
            len(last.ungraded),
        )
    if gap == "unrecorded" and found.decisions and found.decisions[-1].reason in _CONTINUES:
        return words("it would continue where the run ended: {why}", why=reason_text(found.decisions[-1].reason, words))
    return words(_GAPS[gap], budget=f"{found.config.budget_s:g}")


_CONTINUES: frozenset[Reason] = frozenset({"below_gate", "low_quality", "next_strategy", "answer_off", "revise"})
"""Reasons of a decision that leads on; after any other one comes an answer."""


def _verdicts_text(found: WhatIf, words: Words) -> str:
    last, missing = found.steps[-1], len(found.steps[-1].ungraded)
    if last.decision is not None:
        return words(_GAPS["rewrite"])
    said = words.count("one kept passage has no verdict", "{n} kept passages have no verdict", missing)
    quantity, least_wanted = view_of(found.config.workflow).bar(found.config) or ("", 0.0)
    if quantity == "quality_score":
        if not last.score[0] < least_wanted <= last.score[1]:
            # The score is settled either way: what is open is whether the grader can be read at all.
            return said
        least, most = (probability_text(value) for value in last.score)
        span = words("{low}–{high}", low=least, high=most)
    else:
        kept = len(last.round.kept) + last.unseen
        span = words("{low}–{high}", low=last.passed[0], high=last.passed[1]) + f" / {kept}"
    return words("{what}: {why}", what=said, why=words(", ").join((span, _bar(found.config, words))))


def differences_to(found: WhatIf, record: RunRecord) -> tuple[tuple[Counted, int], ...]:
    """By what is counted, how many rewrites, answers and calls less than the recording; below 0 more."""
    if record.outcome not in COMPLETE or found.outcome is None:
        return ()
    rewrites = sum(not item.initial for item in record.rewrites)
    counted = ((REWRITES, rewrites - found.rewrites), (_ANSWERS, len(record.drafts) - found.answers))
    if found.checks is None:
        # How many sentences of an answer not yet written a model would check is unknown.
        return counted
    return (
        *counted,
        (_CALLS, record.calls - found.cost.calls),
        (BUILT_IN_CALLS, record.built_in_calls - found.cost.built_in_calls),
    )


def saving_parts(differences: Iterable[tuple[Counted, int]], words: Words) -> str:
    """``1 rewrite and 3 calls fewer, 2 built-in steps more`` of counted things that are less (or, below 0, more)."""
    counted = tuple(differences)
    parts = []
    for side, sign in ((N_("{parts} fewer"), 1), (N_("{parts} more"), -1)):
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


def boundary_text(boundary: DecisionBoundary, words: Words) -> str:
    """``pass rate 0.60 → 0.40: answered at round 0, 3 rewrites fewer``, and what it lets in."""
    saved = saving_parts(((REWRITES, boundary.rewrites_saved),), words)
    ended = begun_small(outcome_text(boundary.outcome, words, boundary.answer_note), words)
    parts = [ended, saved, lets_in(boundary.admits, words)]
    return words(
        "{name} {old} → {new}: {end}",
        name=words(VARIED_SETTINGS[boundary.name]),
        old=value_text(boundary.name, boundary.value_from, words),
        new=value_text(boundary.name, boundary.value_to, words),
        end=words(NC_("what-if", ", ")).join(part for part in parts if part),
    )


def _same_path(found: WhatIf, record: RunRecord, words: Words) -> str:
    if found.state == "known":
        return f"**{begun_small(words('Same outcome'), words)}**"
    given = len(record.context.passages) if record.context else 0
    said = f"**{begun_small(words('Same path, new answer'), words)}**"
    if not found.passages or len(found.passages) == given:
        return said
    rest = words.count("from 1 passage", "from {n} passages", len(found.passages))
    return words(NC_("what-if", ", ")).join((said, rest))


def _ending_text(found: WhatIf, words: Words) -> str:
    """``**answered after 1 rewrite**, from 2 passages``, with the reason where it is no answer that passed."""
    end = begun_small(words("An answer, not yet known from what"), words)
    if found.outcome is not None:
        end = f"**{begun_small(end_text(found.outcome, found.rewrites, words), words)}**"
    if found.reason and (not found.steps or found.outcome != "answered"):
        end = words("{place} ({why})", place=end, why=reason_text(found.reason, words))
    parts = [end]
    if found.passages:
        parts.append(words.count("from 1 passage", "from {n} passages", len(found.passages)))
    if found.answers > 1:
        parts.append(words("as answer {n}", n=found.answers))
    return words(NC_("what-if", ", ")).join(parts)


def _bar(config: RunConfig, words: Words) -> str:
    quantity, least = view_of(config.workflow).bar(config) or ("pass_rate", config.grade_pass_threshold)
    if quantity == "relevant_passages":
        return words("bar {value}", value=int(least))
    return words("bar {value}", value=probability_text(least))


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
