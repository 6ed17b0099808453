"""Origin of an imported run, and what its trace contains and omits."""

from __future__ import annotations

from collections.abc import Mapping

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, fold, node
from components.common.outcomes import round_text
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
    "other_path": N_("The program went on after {round}; the four-node loop would have stopped there."),
    "other_context": N_("Its generator read other passages than the loop would give: the loop's answer is unknown."),
    "context_order": N_("Its generator read the same passages in another order."),
    "would_refuse": N_("No passage passed: the loop would have refused, that program answered."),
    "context_unknown": N_("What its generator read is not recorded, so its answer holds for no other settings."),
    "context_elsewhere": N_(
        "Its generator read documents that no recorded search found, so its answer holds for no other settings."
    ),
    "no_verdicts": N_("Nothing was graded there, so nothing is decided yet."),
    "some_ungraded": N_("{n} of {of} passages were not graded there."),
    "by_survival": NN_(
        "1 verdict is inferred from a step that kept or dropped the passage.",
        "{n} verdicts are inferred from steps that kept or dropped passages.",
    ),
    "from_annotations": NN_(
        "1 verdict is an annotation and had no part in that run.",
        "{n} verdicts are annotations and had no part in that run.",
    ),
    "fused": N_("Parallel searches are one round here; their {n} lists are merged by rank."),
    "beyond_top_k": N_("A search gave {n} passages; the best {limit} are kept here."),
    "cut_depth": N_("A search gave {n} passages; the best {limit} are kept here."),
    "no_answer": N_("The trace holds no answer."),
    "contents_missing": NN_(
        "The result of 1 search or call is not in the trace.",
        "The results of {n} searches and calls are not in the trace.",
    ),
    "their_decision": N_("Its own step “{name}” said: {said}"),
    "verdicts_unmatched": NN_(
        "1 verdict is left out: its passage is not named.",
        "{n} verdicts are left out: their passages are not named.",
    ),
    "question_guessed": N_("The trace names no question; the first query stands for it."),
}


def origin_note(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the label of an imported run, with what is known and what is not."""
    origin = record.origin
    if origin is None:
        return
    head = node("div", "chips", chip("accent", origin_text(origin, words)), *_scales(origin, words))
    notes = (
        node("p", "muted small", node("bdi", "", text)) for text in (explanation(words), *note_texts(record, words))
    )
    draw((node("div", "", head, fold("origin", words("What the trace holds"), *notes)),), words, key=key)


def origin_text(origin: Origin, words: Words) -> str:
    """``Imported from Phoenix · replayed under the four-node policy``."""
    return words("Imported from {tool} · replayed under the four-node policy", tool=TOOLS[origin.tool])


def explanation(words: Words) -> str:
    """Explain which figures come from the trace and which do not."""
    return words(
        "Passages, verdicts, queries and the answer are the other program's; the decisions are what the four-node loop "
        "makes of them. Calls that are still needed can only be made there."
    )


def _scales(origin: Origin, words: Words) -> list[Node]:
    chips = [chip("plain", words("project {name}", name=origin.project))] if origin.project else []
    if origin.similarity == "given":
        similarity = words("scores taken as similarity")
        why = words("Every score was between 0 and 1 and fell with the rank.")
    else:
        similarity = words("similarity not known")
        why = words("The scale of its scores is unknown, so no similarity threshold can be tried.")
    chips.append(chip("grey", similarity, why))
    if origin.confidence == "unknown" and origin.graders:
        why = words("Its verdicts are yes or no, so no P(relevant) threshold can be tried.")
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
            params = {**note.params}
            if "round" in params:
                params["round"] = round_text(int(params["round"]), words)
            found.append(words(text, **params))
    return found
