"""Collection of a question set on Tune, and whether it contains the expected sources."""

from __future__ import annotations

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.knowledge.draw import quiet
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.cases import QuerySet
from engine.evaluation.matching import SourceCoverage, refuse_uncovered, source_coverage
from engine.model.values import Fault


def collection_choice(engine: Engine, chosen: str, label: str, *, key: str) -> str:
    """A select box of collections that begins with ``chosen``, also where that is not known yet."""
    try:
        known = [item.name for item in engine.collections()] if engine.ready else []
    except WorkbenchError:
        known = []
    options = list(dict.fromkeys((chosen, *known)))
    return str(st.selectbox(label, options, key=f"{key}_{chosen}") or chosen)


def sources_of(engine: Engine, collection: str) -> tuple[str, ...] | None:
    """Names of a collection's sources; None where they cannot be learned."""
    try:
        return tuple(item.source for item in engine.sources(collection)) if engine.ready else None
    except WorkbenchError:
        return None


def source_coverage_note(found: SourceCoverage, words: Words, *, key: str) -> None:
    """Show how many expected sources are present: a warning if none or not all are."""
    try:
        refuse_uncovered(found)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key=key)
        return
    if found.partly:
        there = words(
            "{present} of {n} expected sources exist in this collection; what the others hold cannot be found.",
            n=found.expected,
            present=found.present,
        )
        quiet(f"! {there}", words, key=key)
    elif found.expected:
        quiet(
            words.count(
                "The expected source exists in this collection.",
                "All {n} expected sources exist in this collection.",
                found.expected,
            ),
            words,
            key=key,
        )


def nothing_there(engine: Engine, query_set: QuerySet) -> bool:
    """Return whether the set's collection is known to hold nothing of what it expects."""
    sources = sources_of(engine, query_set.collection)
    return sources is not None and source_coverage(query_set.cases, query_set.collection, sources).nowhere


def misplaced(engine: Engine, query_set: QuerySet, words: Words) -> None:
    """Say it above every figure where the set's collection lacks sources that the set expects."""
    sources = sources_of(engine, query_set.collection)
    if sources is None:
        return
    found = source_coverage(query_set.cases, query_set.collection, sources)
    if found.nowhere or found.partly:
        source_coverage_note(found, words, key="tune_presence")


def bind_form(engine: Engine, query_set: QuerySet, words: Words) -> None:
    """Ask a set of another collection from now on."""
    wanted = collection_choice(engine, query_set.collection, words("Collection"), key=f"tune_bind_{query_set.name}")
    sources = sources_of(engine, wanted)
    if sources is not None:
        source_coverage_note(source_coverage(query_set.cases, wanted, sources), words, key="tune_bind_presence")
    same = wanted == query_set.collection
    help_ = words("What was gathered on the former collection stays, and shows when the set is bound to it again.")
    if st.button(
        words("Ask this collection from now on"), disabled=same, help=help_, icon=":material/link:", key="tune_bind_do"
    ):
        engine.evaluation.bind_query_set(query_set.name, wanted)
        st.rerun()
