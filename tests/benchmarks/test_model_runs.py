"""A chat model in whole runs on a tree of documentation, next to the built-in roles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import model_runs
from tests.benchmarks.documentation import opened
from tests.benchmarks.harness import Bench, Sizes
from tests.contracts.chat_models import obedient, obedient_word
from tests.support.ollama_stand_in import OllamaStandIn

_PAGE = "# Harbour\n\nThe lighthouse of Brandau was built in 1868 by the port authority.\n"


def test_a_tree_that_was_kept_apart_is_asked_of_both_and_not_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees, data = tmp_path / "trees", tmp_path / "data"
    (data / "harbour").mkdir(parents=True)
    (data / "harbour" / "page.md").write_text(_PAGE, encoding="utf-8")
    trees.mkdir()
    questions = {
        "answerable": [
            {"en": "When was the lighthouse of Brandau built?", "answers": ["1868"], "sources": ["page.md"]}
        ],
        "unanswerable": [{"en": "Which wines does Brandau export?"}],
    }
    tree = {"name": "harbour", "language": "en", "kept_apart": True, **questions}
    (trees / "harbour.json").write_text(json.dumps(tree), encoding="utf-8")
    (trees / "seen.json").write_text(json.dumps({**tree, "name": "seen", "kept_apart": False}), encoding="utf-8")
    monkeypatch.setattr(model_runs, "TREES", trees)
    with OllamaStandIn(["m"], reply=obedient, weigh=obedient_word) as server:
        bench = Bench(
            tmp_path / "new", Sizes(drawn=2), data, tmp_path / "vectors", model="ollama:m", url=server.url, called="M"
        )
        with opened(bench) as engine:
            first = list(model_runs.of_trees(bench, engine))
            asked = len(server.requests)
            assert list(model_runs.of_trees(bench, engine))[1] == first[1]
            assert len(server.requests) == asked
    assert asked >= 2
    assert [(entry["model"], entry["of"]) for entry in first] == [
        ("builtin", "harbour, kept apart"),
        ("M", "harbour, kept apart"),
    ]
    for entry in first:
        assert (entry["answerable"], entry["unanswerable"]) == (1, 1)
        assert entry["right"][0] == entry["refused"][0] == 1.0
        assert entry["wrong"][0] == 0.0
