"""One plain sentence for each step of a replay, made from operands in the language of the page."""

from __future__ import annotations

from components.i18n import Words
from components.phrases import fault_text
from components.presenter_loops import (
    judged_consequence,
    loop_sentence,
    number,
    scored,
    strategy_of,
    why_no_rewrite,
)
from engine.replay import ReplayStep
from engine.values import Comparison, Decision, Quantity, RunRecord
from engine.whatif import WhatIf

_GRADING = ("grade", "grade_documents")
_GATES: tuple[Quantity, ...] = ("pass_rate", "relevant_passages")


def sentence(step: ReplayStep, record: RunRecord, words: Words) -> str:
    """What happens in a step, in words of everyday; ``record`` is the whole run that the step belongs to."""
    said = loop_sentence(step, record, words)
    if said is not None:
        return said
    match step.kind:
        case "searched":
            return _searched(step.round, record, words)
        case "judged":
            return _judged(step.round, record, words)
        case "rewritten":
            return _rewritten(step.round, record, words)
        case "ended":
            return _ended(record, words)
        case _:
            return _asked(record, words)


def percent(share: float, words: Words) -> str:
    """A share as a percentage with as many decimals as it has, at most two: ``60 %``, ``12.5 %``."""
    return words("presenter.percent", n=f"{round(share * 100, 2):g}")


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _joined(words: Words, *sentences: str) -> str:
    """Sentences one after the other; empty ones are left out."""
    said = ""
    for item in sentences:
        said = words("presenter.joint", first=said, second=item) if said and item else said or item
    return said


def _asked(record: RunRecord, words: Words) -> str:
    fork = record.fork
    if fork is None:
        return words("presenter.asked")
    changed = [words(f"settings.{name}") if f"settings.{name}" in words else name for name in fork.settings]
    if fork.query:
        changed.append(words("presenter.forked.query"))
    if fork.verdicts:
        count = len(fork.verdicts)
        changed.append(words.count("presenter.forked.verdicts", count, n=number(count, words)))
    if not changed:
        return words("presenter.forked.plain", round=fork.round)
    return words("presenter.forked", round=fork.round, what=words("list.joint").join(changed))


def _searched(index: int, record: RunRecord, words: Words) -> str:
    current = record.rounds[index]
    if not current.searched:
        return words("presenter.searched.stale" if index else "presenter.searched.late")
    total, kept = len(current.candidates), len(current.kept)
    best = min(total, record.config.top_k)
    found = words.count("presenter.passages", total)
    if total == 0:
        said = words("presenter.searched.nothing")
    elif kept == 0:
        said = words.count("presenter.searched.none", best, found=found, best=number(best, words))
    elif kept < best:
        best_text = number(best, words)
        said = words.count("presenter.searched.some", kept, found=found, best=best_text, k=number(kept, words))
    elif kept == total:
        said = words.count("presenter.searched.whole", kept, found=found)
    else:
        said = words.count("presenter.searched.all", kept, found=found, k=number(kept, words))
    said = _joined(words, said, _words_alone(index, record, words))
    strategy = strategy_of(index, record, words)
    manner = _manner(index, record, words)
    if strategy and manner:
        strategy = words("presenter.manner.of", strategy=strategy, manner=manner)
    if strategy or (manner and not index):
        return words("presenter.searched.by", strategy=strategy or manner, sentence=_inside(said, words))
    return words("presenter.again", sentence=_inside(said, words)) if index else said


def _manner(index: int, record: RunRecord, words: Words) -> str:
    """How a round looked for passages; empty for vectors, the usual way, and for a search of the web."""
    if record.config.search == "vector" or record.rounds[index].strategy == "web_search":
        return ""
    return words(f"presenter.manner.{record.config.search}")


def _words_alone(index: int, record: RunRecord, words: Words) -> str:
    """How many of the kept passages the list by words alone brought up; empty where none."""
    kept = record.rounds[index].kept
    count = sum(item.vector_rank is None and item.text_rank is not None for item in kept)
    if record.config.search != "fused" or not count:
        return ""
    return words("presenter.words_alone", n=number(count, words))


def _inside(said: str, words: Words) -> str:
    """A sentence after a colon: in English its first word is no longer the first."""
    return said[:1].lower() + said[1:] if words.language == "en" else said


def _judged(index: int, record: RunRecord, words: Words) -> str:
    if record.workflow == "quality_loop":
        return scored(index, record, words)
    decision = next((item for item in record.decisions if item.round == index and item.node in _GRADING), None)
    current = record.rounds[index]
    if decision is None:
        done, kept = len(current.verdicts), max(len(current.kept), len(current.verdicts))
        return words("presenter.found.unfinished", done=number(done, words), kept=number(kept, words))
    if decision.reason == "grader_failed":
        return words("presenter.grader_failed")
    follows = judged_consequence(decision, record, words)
    if follows is not None:
        return _joined(words, _found(decision, words), follows)
    return _joined(words, _found(decision, words), _together(decision, words), _consequence(decision, record, words))


def _found(decision: Decision, words: Words) -> str:
    passed, kept = decision.passed, decision.kept
    counts = {"passed": number(passed, words), "kept": number(kept, words)}
    if kept == 0:
        return words("presenter.found.nothing")
    if kept == 1:
        return words("presenter.found.sole" if passed else "presenter.found.sole_not")
    if passed in (0, kept) and kept == 2:
        return words("presenter.found.both" if passed else "presenter.found.neither")
    if passed in (0, kept):
        return words("presenter.found.all" if passed else "presenter.found.none", kept=counts["kept"])
    return _begun(words.count("presenter.found.some", passed, **counts))


def _gate(decision: Decision) -> Comparison | None:
    return next((item for item in decision.comparisons if item.quantity in _GATES), None)


def _together(decision: Decision, words: Words) -> str:
    """The count of all rounds, where the gate looked at more than this one; empty elsewhere."""
    gate = _gate(decision)
    if gate is None or gate.quantity != "relevant_passages" or gate.value == decision.passed:
        return ""
    return words("presenter.found.together", n=number(int(gate.value), words))


def _consequence(decision: Decision, record: RunRecord, words: Words) -> str:
    gate = _gate(decision)
    if gate is None:
        return ""
    bar = {"bar": percent(gate.bound, words)}
    if gate.quantity == "relevant_passages":
        bar = {"n": number(int(gate.bound), words)}
    if decision.reason == "passed":
        return words(f"presenter.met.{gate.quantity}", **bar)
    if decision.reason == "below_gate":
        return words(f"presenter.unmet.{gate.quantity}", **bar)
    why, rest = why_no_rewrite(decision, words), words(f"presenter.rest.{_rest(decision, record)}")
    return words(f"presenter.forced.{gate.quantity}", **bar, why=why, rest=rest)


def _rest(decision: Decision, record: RunRecord) -> str:
    """From what an answer can still be written."""
    union = record.config.context == "union"
    counted = [item for item in record.decisions if item.round <= decision.round] if union else [decision]
    if any(item.passed for item in counted):
        return "passed"
    return "unverified" if record.config.answer_unverified and decision.kept else "nothing"


def _rewritten(index: int, record: RunRecord, words: Words) -> str:
    rewrite = next(item for item in record.rewrites if item.round == index)
    if rewrite.failed:
        return words("presenter.rewritten.failed")
    if rewrite.repeated:
        return words("presenter.rewritten.repeated")
    key = "presenter.rewritten.by_hand" if rewrite.strategy == "by_hand" else "presenter.rewritten"
    return words(key, query=rewrite.rewritten_query)


def _ended(record: RunRecord, words: Words) -> str:
    if record.outcome == "failed":
        if record.error is None:
            return words("presenter.ended.failed.plain")
        return words("presenter.ended.failed", fact=fault_text(record.error, words)[0])
    if record.outcome not in ("answered", "answered_forced") and not record.answer_note:
        return words(f"presenter.ended.{record.outcome}")
    given = len(record.context.passages) if record.context else 0
    return words.count(f"presenter.ended.{record.answer_note or record.outcome}", given, n=number(given, words))


def what_if_sentence(given: WhatIf, record: RunRecord, words: Words) -> str:
    """What another bar would have done, the bar being the gate's own: a share or a number of passages."""
    bar = bar_text(given.config.grade_pass_threshold, given.config.min_relevant, record, words)
    if not given.path_known:
        return words("presenter.what_if.unknown", bar=bar)
    if given.same_path:
        return words("presenter.what_if.same", bar=bar)
    said = words(
        f"presenter.what_if.{given.outcome}"
        if f"presenter.what_if.{given.outcome}" in words
        else "presenter.what_if.other",
        bar=bar,
        round=given.decisions[-1].round,
        rewrites=_rewrites(given.rewrites, len(record.rewrites), words),
    )
    kept = words("presenter.what_if.stands" if given.state == "known" else "presenter.what_if.generate")
    return _joined(words, said, kept)


def bar_text(share: float, count: int, record: RunRecord, words: Words) -> str:
    """The bar of a run's gate in words."""
    return number(count, words) if record.config.gate == "min_relevant" else percent(share, words)


def _rewrites(now: int, then: int, words: Words) -> str:
    if now == then:
        return words.count("presenter.what_if.equal", now, now=number(now, words))
    return words.count("presenter.what_if.fewer", now, now=number(now, words), then=number(then, words))
