"""Origin of an imported run, and what its trace contains and omits."""

from __future__ import annotations

from collections.abc import Mapping

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node
from engine.messages import N_, NN_
from engine.model.config import BUILTIN
from engine.model.values import Origin, RunRecord

TOOLS: Mapping[str, str] = {
    "phoenix": "Phoenix",
    "otlp": "OpenTelemetry",
    "langfuse": "Langfuse",
    "langsmith": "LangSmith",
    "observed": "rag_workbench.observe",
}
"""Names, the same in every language."""
_NOTES: Mapping[str, str | tuple[str, str]] = {
    "other_path": N_(
        "The program went on after round {round}; the four-node loop would not have, under any gate that was tried."
    ),
    "other_context": N_(
        "Its generator was given other passages than the four-node loop would give: what the loop would answer takes "
        "a generation."
    ),
    "context_order": N_("Its generator was given the same passages as the loop would give, in another order."),
    "would_refuse": N_(
        "No passage passed: under these settings the four-node loop would not have answered, and that program did."
    ),
    "context_unknown": N_(
        "The trace does not say what its generator was given, so its answer stands for no other settings."
    ),
    "context_elsewhere": N_(
        "Its generator was given documents that no recorded search found, such as web pages, so its answer stands "
        "for no other settings."
    ),
    "no_verdicts": N_("Nothing was graded there, so nothing is decided yet."),
    "some_ungraded": N_("{n} of {of} passages were not graded there; where one decides, calls are needed."),
    "by_survival": NN_(
        "1 verdict is read off a step that was given the passage and gave it on, or dropped it.",
        "{n} verdicts are read off steps that were given passages and gave some of them on.",
    ),
    "from_annotations": NN_(
        "1 verdict is an annotation of the trace and had no part in that run.",
        "{n} verdicts are annotations of the trace and had no part in that run.",
    ),
    "fused": N_("Searches at the same time are one round here; their {n} lists are merged by reciprocal rank."),
    "beyond_top_k": N_("A search gave {n} passages; the loop keeps the best {limit} at most."),
    "cut_depth": N_("A search gave {n} passages; the best {limit} are kept here."),
    "no_answer": N_("The trace holds no answer: writing one is a call that only the other program can make."),
    "contents_missing": NN_(
        "What 1 search or call of a model gave is not in the trace.",
        "What {n} searches and calls of models gave is not in the trace.",
    ),
    "their_decision": N_("Its own step “{name}” said: {said}"),
    "verdicts_unmatched": NN_(
        "1 verdict is left out: it cannot be told which passage it is about.",
        "{n} verdicts are left out: it cannot be told which passages they are about.",
    ),
    "question_guessed": N_("The trace names no question; the first query stands for it."),
}


def origin_note(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the label of an imported run, with what is known and what is not."""
    origin = record.origin
    if origin is None:
        return
    head = node("div", "chips", chip("accent", origin_text(origin, words)), *_scales(origin, words))
    rest = [
        node("p", "muted small", node("bdi", "", text)) for text in (explanation(words), *note_texts(record, words))
    ]
    draw((node("div", "", head, *rest),), words, key=key)


def origin_text(origin: Origin, words: Words) -> str:
    """``Imported from Phoenix · replayed under the four-node policy``."""
    return words("Imported from {tool} · replayed under the four-node policy", tool=TOOLS[origin.tool])


def explanation(words: Words) -> str:
    """Explain which figures come from the trace and which do not."""
    return words(
        "Passages, verdicts, queries and the answer are the other program's. The decisions are not: they are what the "
        "four-node loop makes of that evidence, under settings that follow the path that program took. Calls that are "
        "still needed can only be made there."
    )


def _scales(origin: Origin, words: Words) -> list[Node]:
    chips = [chip("plain", words("project {name}", name=origin.project))] if origin.project else []
    if origin.similarity == "given":
        similarity = words("scores taken as similarity")
        why = words("Every score lay between 0 and 1 and fell with the rank, so they are taken as they are.")
    else:
        similarity = words("similarity not known")
        why = words("Its scores have no scale that is known here, so no threshold of similarity can be tried.")
    chips.append(chip("grey", similarity, why))
    if origin.confidence == "unknown" and origin.graders:
        why = words("Its verdicts are only yes or no, so no other threshold of P(relevant) can be tried.")
        chips.append(chip("grey", words("confidence not known"), why))
    if origin.judged_here:
        graders = [words("the built-in grader") if name == BUILTIN else name for name in origin.judged_here]
        chips.append(chip("pass", words("judged here by {graders}", graders=words(", ").join(graders))))
    return chips


def note_texts(record: RunRecord, words: Words) -> list[str]:
    """List notes on this trace, one sentence each."""
    found = []
    for note in record.origin.notes if record.origin else ():
        text = _NOTES[note.code]
        if isinstance(text, tuple):
            found.append(words.count(*text, int(note.params["n"])))
        else:
            found.append(words(text, **note.params))
    return found
