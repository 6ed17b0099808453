"""Sentences made from codes and operands in the language of the page (a record keeps no rendered text)."""

from __future__ import annotations

import re
from dataclasses import replace

from components.common.i18n import Words
from components.common.outcomes import reason_text, round_text
from engine.errors import message_of
from engine.flow import workflow
from engine.flow.flow import END
from engine.messages import N_
from engine.model.config import BUILTIN, WORKFLOWS, RunConfig, WorkflowName
from engine.model.decide import cut_of
from engine.model.values import (
    BY_HAND,
    IMPORTED,
    QUANTITIES,
    VERDICT_POLICY,
    Comparison,
    Decision,
    Fault,
    Relation,
    Suggestion,
    Verdict,
    inequality,
    operands,
)
from engine.model.wording import Change, filled, template_of

_WANTED = {
    "found": N_("names {kind}"),
    "not_found": N_("does not name {kind}"),
}

WANTED = {
    "date": N_("a date"),
    "number": N_("a number"),
    "person": N_("a person"),
    "place": N_("a place"),
    "cause": N_("a cause"),
    "way": N_("a way to do it"),
    "definition": N_("a definition"),
    "other": N_("an answer"),
}

_BUILT_IN = "builtin"
_PAGE = re.compile(r"^p\. (\d+)$")
_SLIDE = re.compile(r"^Slide (\d+)(?= · |$)")
_SAID = frozenset({"found", "cause", "advice", "kinds"})
"""Parameters of faults that are pieces of sentences: ours have a translation, those of a system have none."""


def begun(text: str) -> str:
    """A text as the beginning of a line: with a capital."""
    return text[:1].upper() + text[1:]


def duration_text(milliseconds: float) -> str:
    """A time with two figures in the unit that suits it: ``0.4 ms``, ``62 ms``, ``340 ms``, ``1.6 s``, ``75 s``."""
    if milliseconds < 0.05:
        return "0 ms"
    if milliseconds < 1:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 99.5:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 995:
        return f"{round(milliseconds, -1):.0f} ms"
    seconds = milliseconds / 1000.0
    return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"


def probability_text(value: float) -> str:
    return f"{value:.2f}"


def moved_text(change: Change) -> str:
    """``▲ 0.20``, ``▼ 0.004`` or ``=``."""
    return "=" if change.direction == 0 else f"{'▲' if change.direction > 0 else '▼'} {change.size}"


def inequality_text(decision: Decision, words: Words) -> str:
    """The comparisons of a decision, e.g. ``pass rate 0.40 < 0.60 and rewrites 0 < 3``; its reason without any."""
    if not decision.comparisons:
        return reason_text(decision.reason, words)
    names = {name: words(text) for name, text in QUANTITIES.items()}
    return inequality(decision.comparisons, names, words(" and ")).replace(">=", "≥").replace("==", "=")


def decision_text(decision: Decision, taken_in: WorkflowName, words: Words) -> str:
    """One line of a decision path: round, inequality, where it went."""
    target = node_text(decision.route, taken_in, words)
    what = round_text(decision.round, words)
    return words("{what}: {why} → {target}", what=what, why=inequality_text(decision, words), target=target)


def node_text(name: str, of: WorkflowName | None, words: Words) -> str:
    """Return the label of a workflow's node; an unknown node keeps its name as plain words."""
    if name == END:
        return words("End")
    node = workflow(of).flow.nodes.get(name) if of else None
    return words(node.name) if node else plain_name(name)


def plain_name(code: str) -> str:
    """A code as words: ``Some step`` for ``some_step``."""
    return (code[:1].upper() + code[1:]).replace("_", " ")


def workflow_text(name: str, words: Words) -> str:
    """The short name of a workflow; a record of a later version may name one that is not here."""
    return words(workflow(name).name) if name in WORKFLOWS else name


def verdict_label(verdict: Verdict | None, words: Words) -> str:
    """``relevant``, ``not relevant``, ``unreadable`` or ``not graded``."""
    if verdict is None:
        return words("not graded")
    if verdict.relevant is None:
        return words("unreadable")
    return words("relevant" if verdict.relevant else "not relevant")


def verdict_text(verdict: Verdict, words: Words) -> str:
    """A verdict with its P(relevant), the number that the slider's bar is about: ``✗ not relevant · P 0.19``."""
    sign = {None: "?", True: "✓", False: "✗"}[verdict.relevant]
    label = f"{sign} {verdict_label(verdict, words)}"
    return label if verdict.known_p is None else f"{label} · {chance_text(verdict, words)}"


def chance_text(verdict: Verdict, words: Words) -> str:
    """P(relevant), marked where a screener gave it or a model says so itself: ``P 0.19``, ``P 0.9 (self-reported)``."""
    plain = f"P {probability_text(verdict.p_relevant)}"
    if verdict.by_cut:
        return words("{p} (screener)", p=plain)
    return words("{p} (self-reported)", p=plain) if _says_so(verdict) else plain


def _says_so(verdict: Verdict) -> bool:
    """Whether a model says itself how sure it is; a reader and another program are named as they are."""
    return verdict.kind == "said" and verdict.grader != BY_HAND and not verdict.grader.startswith(f"{IMPORTED}:")


def bar_text(verdict: Verdict, config: RunConfig, words: Words) -> str:
    """Compare a readable verdict with its threshold: ``P 0.40 < 0.50``, or the reason that decided in addition.

    A verdict by a cut of the cascade is compared with that cut, which a branch may have moved since.
    """
    if verdict.by_cut:
        return _cut_text(verdict, config, words)
    min_confidence = config.min_confidence
    passes, held = verdict.passes(min_confidence), verdict.held_back(min_confidence)
    p_relevant = round(verdict.p_relevant, 9)
    relation = ">=" if passes or held else "<"
    left, right = operands(Comparison("pass_rate", p_relevant, relation, min_confidence))  # type: ignore[arg-type]
    plain = f"P {left} {'≥' if passes or held else '<'} {right}"
    if held:
        return words(
            "{inequality}, but the grader said no: from a minimum of 0.50 on a no never passes", inequality=plain
        )
    if passes and replace(verdict, policy=VERDICT_POLICY).held_back(min_confidence):
        return words(
            "{inequality}: passed although the grader said no, by the rule of an earlier version", inequality=plain
        )
    return plain


def _cut_text(verdict: Verdict, config: RunConfig, words: Words) -> str:
    cut = cut_of(verdict, config)
    if cut is None:
        return words("decided by the screener")
    relation: Relation = ">=" if verdict.relevant else "<"
    left, right = operands(Comparison("pass_rate", round(verdict.p_relevant, 9), relation, cut))
    return words("screener: {inequality}", inequality=f"P {left} {'≥' if verdict.relevant else '<'} {right}")


def screened_text(screened: Verdict, words: Words) -> str:
    """Say of a screener why it left a passage to the grader."""
    if screened.known_p is None:
        return words("screener: unreadable, so the grader decided")
    return words("screener: P {value}, so the grader decided", value=probability_text(screened.known_p))


def verdict_reason(verdict: Verdict, words: Words) -> str:
    """Explain a verdict: built-in ones from their fields, a chat model's in its own words."""
    if verdict.grader == BY_HAND:
        return words("Set by hand")
    if verdict.kind == "score" and verdict.raw is not None:
        return _score_text(verdict, words)
    if verdict.grader.split(":")[0] != _BUILT_IN:
        return _in_its_words(verdict, words)
    parts = []
    own = tuple(term for term in verdict.covered if term not in verdict.headed)
    if own:
        parts.append(words("covers {terms}", terms=_listed(own, words)))
    if verdict.headed:
        parts.append(words("covers {terms} in its heading alone", terms=_listed(verdict.headed, words)))
    if verdict.missing:
        parts.append(words("missing: {terms}", terms=_listed(verdict.missing, words)))
    elif verdict.covered:
        # All the words and still no answer: what it says of them is not what is asked.
        parts += [] if verdict.relevant else [words("only on the same topic")]
    if verdict.wanted_found is not None:
        found = "found" if verdict.wanted_found else "not_found"
        parts.append(words(_WANTED[found], kind=words(WANTED[verdict.wanted])))
    return words("; ").join(parts) or verdict.reason


def parts_text(verdict: Verdict, min_confidence: float, words: Words) -> str:
    """Which parts of the question a passage answers, by their numbers; empty for one that is not split."""
    covered = [str(place + 1) for place in range(len(verdict.parts)) if verdict.covers(place, min_confidence)]
    if not verdict.parts:
        return ""
    return words("answers part {numbers}", numbers=words(", ").join(covered)) if covered else words("answers no part")


def model_label(model: str, words: Words) -> str:
    """A model as a config names it, in the language of the page."""
    name, mark, fit = model.partition("#")
    plain = words("built-in") if name == BUILTIN else name
    return words("{model}, fitted ({fit})", model=plain, fit=fit) if mark else plain


def _in_its_words(verdict: Verdict, words: Words) -> str:
    """What the P(relevant) of a chat model is, and the reason that it gave."""
    if verdict.relevant is None or not (verdict.kind == "token" or _says_so(verdict)):
        return verdict.reason
    kind = words("token probability") if verdict.kind == "token" else words("self-reported")
    if verdict.fit:
        kind = words("{kind}, fitted ({fit})", kind=kind, fit=verdict.fit)
    return words("{what}: {why}", what=kind, why=verdict.reason) if verdict.reason else kind


def _score_text(verdict: Verdict, words: Words) -> str:
    """The score of a model that gives scores, and the P(relevant) derived from it."""
    score = f"{verdict.raw:.3g}"
    if verdict.fit:
        return words("score {score}, calibrated on judgements ({fit})", score=score, fit=verdict.fit)
    return words("score {score}, not calibrated", score=score)


def section_text(section: str, words: Words) -> str:
    """Locate a passage in its source: pages and slides in the language of the page, headings verbatim."""
    *path, last = section.split(" > ")
    last = _PAGE.sub(lambda found: words("p. {n}", n=found[1]), last)
    return " > ".join([*path, _SLIDE.sub(lambda found: words("Slide {n}", n=found[1]), last)])


def place_text(source: str, section: str, words: Words) -> str:
    """A passage by its source and where in it: ``handbook.pdf § Leave``, ``handbook.pdf § 第 12 页``."""
    return " § ".join(part for part in (source, section_text(section, words)) if part)


def fault_text(fault: Fault, words: Words) -> tuple[str, str]:
    """Return what happened and the remedy, in the language of the page, else in English as the record has it."""
    message = None if words.language == "en" else message_of(fault.code, fault.fact, fault.params)
    if message is None:
        return fault.fact, fault.remedy
    params = message.filled(fault.params)
    params |= {name: words.known(params[name]) for name in _SAID & params.keys()}
    return words(message.fact, **params), words(message.remedy, **params)


def _listed(terms: tuple[str, ...], words: Words) -> str:
    return words(", ").join(terms)


def suggestion_said(item: Suggestion, words: Words) -> str:
    """A suggestion in the language of the page where it is a built-in one, else in its model's own words."""
    if item.code == "off":
        return words("The answer does not solve the question.")
    template = template_of(item)
    return filled(words(template), item.params, words.declared.closest) if template else item.text
