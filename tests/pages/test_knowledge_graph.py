"""The view Graph of the Knowledge page: what a link opens, the ways to look, building and deleting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from components.labels import BUILTIN_EXTRACTOR
from engine.engine import Engine
from engine.knowledge.items import IngestItem
from tests.pages.driving import button, given, inline, opened, setting, visible

EN = words_for("en")
NAME = "graph_page"
NOTES = b"# Tides\n\nThe Moon causes the tides. A tide is a rise of the sea.\n\n# Sea\n\nThe sea contains salt."


@pytest.fixture
def collection(engine: Engine) -> Iterator[str]:
    """A small one that has no graph yet."""
    engine.ingest([IngestItem("tides.md", data=NOTES)], NAME, embedding_model="hashing")
    yield NAME
    engine.library.drop(NAME)


def graph(language: str = "en", **query: str) -> AppTest:
    return opened("knowledge", language, view="graph", **{"kb_collection": "samples", **query})


def test_the_samples_open_with_an_overview_of_their_communities(engine: Engine) -> None:
    """GH-03: communities with summaries, as an overview; the samples have a graph written by hand."""
    words = words_for("zh")
    app = graph("zh")
    drawn = inline(app)
    assert words("up to date") in drawn
    assert words("Written by hand") in drawn
    assert '"overview": true' in drawn


def test_a_link_opens_the_neighbours_of_an_entity(engine: Engine) -> None:
    """GH-03: an entity leads to its relationships, and these to passages."""
    app = graph(look="entities", entity="胰岛素")
    drawn = inline(app)
    assert '"look": "centre"' in drawn
    assert '"overview": false' in drawn
    assert given(app, "entity") == "胰岛素"
    chosen = {"selected": engine.graphs.entities("samples", 1, "胰岛素")[0].id}
    app.session_state["kg_entities_samples"] = chosen
    app.run()
    assert ".zh.md § " in inline(app)


def test_a_name_that_is_not_quite_one_is_answered_with_those_like_it(engine: Engine) -> None:
    app = graph(look="entities", entity="insul")
    assert EN("Did you mean:") in visible(app)
    button(app, lambda label: label == "Insulin").click().run()
    assert not app.exception
    assert given(app, "entity") == "Insulin"
    assert '"look": "centre"' in inline(app)
    app.text_input(key="entity").set_value("<b>nothing</b>").run()
    assert EN("Nothing found.") in visible(app)


def test_tables_hold_every_entity_and_every_relationship(engine: Engine) -> None:
    """The equivalent of the picture for whoever reads with the keyboard or hears the page."""
    app = graph(look="table")
    entities, relations = (item.value for item in app.dataframe)
    info = engine.graphs.describe("samples")
    assert info is not None
    assert (len(entities), len(relations)) == (info.info.entities, info.info.relationships)
    name = entities.iloc[1][EN("Name")]
    app.session_state["kg_table"] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    app.run()
    assert not app.exception
    assert given(app, "entity") == name


def test_a_graph_is_built_looked_at_and_deleted_from_the_page(engine: Engine, collection: str) -> None:
    """GH-03: built for a collection that is there already, by the built-in rules."""
    app = graph(kb_collection=collection)
    assert EN("Build the graph") in visible(app)
    assert EN(BUILTIN_EXTRACTOR) in visible(app)
    button(app, lambda label: label == EN("Build the graph")).click().run()
    (job,) = (job for job in engine.ingestions.jobs() if (job.kind, job.collection) == ("graph", collection))
    assert engine.ingestions.wait(job.id, 60).state == "done"
    app.run()
    assert not app.exception
    state = engine.graphs.describe(collection)
    assert state is not None and state.info.entities
    assert EN("up to date") in inline(app)
    engine.ingest([IngestItem("more.md", data=b"# Wind\n\nThe wind moves the sea.")], collection)
    app.run()
    assert EN("out of date") in inline(app)
    assert button(app, lambda label: label == EN("Update"))
    setting(app, "kg_again").set_value("other").run()
    app.text_input(key="kg_again_name").set_value("ollama:not-here").run()
    assert "Model missing" in [item.value for item in app.warning]
    assert button(app, lambda label: label == EN("Rebuild")).disabled
    asked = next(item for item in app.button if item.key == "kg_delete_yes")
    asked.click().run()
    assert engine.graphs.describe(collection) is None
    assert EN("Build the graph") in visible(app)
    assert setting(app, "kg_extractor").value == "builtin"
