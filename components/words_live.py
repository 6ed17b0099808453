"""Every word of the live workflow picture by its key; the drawing code has none of its own.

Places in braces are filled by the drawing. ``key_one`` stands in for ``key`` where the number is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

from components.i18n import words_for
from components.words_live_graph import GRAPH
from components.words_live_loops import LOOPS
from engine.messages import N_, NC_, NN_

LiveWords = Mapping[str, str]
LiveMessages = Mapping[str, str | tuple[str, str]]
"""A message by its key, or for a count the one for exactly one thing and that for many."""

_PICTURE: LiveMessages = {
    # Nodes and where a decision leads
    "node_retrieve": N_("Retrieve"),
    "node_grade": N_("Grade"),
    "node_rewrite": N_("Rewrite"),
    "node_generate": N_("Generate"),
    "route_retrieve": N_("retrieve"),
    "route_grade": N_("grade"),
    "route_rewrite": N_("rewrite"),
    "route_generate": N_("generate"),
    "route_end": N_("end"),
    "start": N_("Question"),
    "end": N_("End"),
    # At rest
    "role_retrieve": N_("The retriever"),
    "role_grade": N_("The grader"),
    "role_rewrite": N_("The rewriter"),
    "role_generate": N_("The generator"),
    "rest_retrieve": N_("finds passages"),
    "rest_grade": N_("judges each passage"),
    "rest_rewrite": N_("rephrases the question"),
    "rest_generate": N_("writes, with citations"),
    "picture": N_("Workflow of the run"),
    "unfold": N_("Show workflow"),
    "fold": N_("Fold workflow"),
    "idle_hint": N_("Ask a question and the steps light up here, one by one."),
    # Facts
    "searching": N_("searching"),
    "search_full_text": N_("by words alone"),
    "search_full_text_short": N_("by words"),
    "search_fused": N_("by meaning and words"),
    "search_fused_short": N_("fused"),
    "probed": N_("{n} probed"),
    "kept": N_("{n} kept"),
    "judged": N_("{n} of {total} judged"),
    "ticks": N_("✓ {yes}  ✗ {no}"),
    "before": N_("{rates} before"),
    "passed_once": N_("{a} passed"),
    "passed_twice": N_("{a} passed, then {b}"),
    "passed_often": N_("{all}, then {b} passed"),
    "passed_best": N_("best {best}, last {b} passed"),
    "passed_last": N_("last {b} passed"),
    "reused": NN_("1 verdict reused", "{n} verdicts reused"),
    "rephrasing": N_("rephrasing"),
    "gain_rate": N_("pass rate {gain}"),
    "gain_score": N_("score {gain}"),
    "repeated": N_("repeated itself"),
    "rewriter_failed": N_("failed, old query stands"),
    "given": NN_("1 passage", "{n} passages"),
    "cited": N_("{n} cited"),
    "writing": NC_("picture", "writing"),
    "tokens": NN_("1 token", "{n} tokens"),
    "calls": NN_("1 call", "{n} calls"),
    "abstained_fact": N_("nothing passed, says so"),
    "ms": N_("{n} ms"),
    "s": NC_("picture", "{n} s"),
    # Inequalities
    "joint": NC_("picture", " and "),
    "comma": NC_("picture", ", "),
    "decision": N_("Round {round}: {why} → {target}"),
    "quantity_pass_rate": N_("pass rate"),
    "quantity_relevant_passages": NC_("picture", "relevant passages"),
    "quantity_rewrites": N_("rewrites"),
    "quantity_elapsed_s": N_("seconds spent"),
    "quantity_candidates": NC_("picture", "candidates"),
    "quantity_unreadable": NC_("picture", "unreadable verdicts"),
    "quantity_repeated_rewrites": NC_("picture", "repeated rewrites"),
    "quantity_failed_rewrites": NC_("picture", "failed rewrites"),
    "quantity_ungraded": NC_("picture", "passages left ungraded"),
    "short_pass_rate": "",
    "short_relevant_passages": N_("relevant"),
    "short_rewrites": "",
    "short_elapsed_s": NC_("picture", "seconds"),
    "short_candidates": N_("found"),
    "short_unreadable": N_("unreadable"),
    "short_repeated_rewrites": N_("repeated"),
    "short_failed_rewrites": N_("failed"),
    "short_ungraded": N_("ungraded"),
    # Status
    "visits": N_("{n} visits"),
    "state_plain": N_("not visited"),
    "state_active": N_("working"),
    "state_passed": NC_("picture", "done"),
    "state_rewrite": NC_("picture", "done"),
    "state_forced": N_("done, the gate was not met"),
    "state_fault": N_("failed"),
    "state_stopped": N_("stopped"),
    "starting": N_("Starting …"),
    "doing": N_("{title} is working"),
    "doing_retrieve": N_("The retriever is looking for passages"),
    "doing_grade": N_("The grader has judged {n} of {total}"),
    "doing_rewrite": N_("The rewriter is rephrasing the question"),
    "doing_generate": N_("The generator is writing the answer"),
    "outcome_cannot_tell": N_("Says it cannot tell"),
    "outcome_uncited": N_("{outcome}, uncited"),
    "outcome_answered": N_("Answered"),
    "outcome_answered_forced": N_("Answered below the bar"),
    "outcome_answered_unverified": N_("Answered from unverified passages"),
    "outcome_abstained": N_("No passage helped, and the answer says so"),
    "outcome_fallback": N_("Ended without an answer"),
    "outcome_cancelled": N_("Stopped"),
    "outcome_failed": N_("Failed"),
    "outcome_interrupted": NC_("picture", "Interrupted"),
    "after_rewrites": NN_("after 1 rewrite", "after {n} rewrites"),
    # Connection, answer, export
    "connection_lost": N_("Connection lost, retrying …"),
    "not_found": N_("This run is not known here any more. Run the question again."),
    "save_png": N_("PNG"),
    "save_svg": N_("SVG"),
    "save_png_hint": N_("Save the workflow as a PNG image"),
    "save_svg_hint": N_("Save the workflow as an SVG image"),
    "file_name": N_("workflow"),
    "question": N_("Question"),
    "round": N_("round {n}"),
}
_ALL: LiveMessages = {**_PICTURE, **LOOPS, **GRAPH}


@cache
def live_words(language: Literal["zh", "en"]) -> LiveWords:
    """The table of one language, with its places unfilled."""
    words = words_for(language)
    table = {"language": words.html_language}
    for key, text in _ALL.items():
        if isinstance(text, str):
            table[key] = words(text) if text else ""
        else:
            one, many = text
            table[key] = words.count(one, many, 2, n="{n}")
            table[f"{key}_one"] = words.count(one, many, 1, n="{n}")
    return MappingProxyType(table)
