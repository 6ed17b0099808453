"""Figures of a gathering never rest on runs that are gone."""

from __future__ import annotations

from pathlib import Path

from engine.engine import Engine
from engine.evaluation.cases import QuerySet, sample_set
from engine.model.config import RunConfig
from engine.settings import Settings
from pages.parts.tune.evidence import Gathering, evidence_of

_PATIENCE_S = 60.0


def shown(engine: Engine, batch_id: str) -> set[str]:
    gathering = Gathering(engine.evaluation.query_set("three"), engine.evaluation.batch(batch_id))
    found = evidence_of(engine, gathering)
    assert found is not None
    return {item.run_id for item in found.evidence.gathered}


def test_a_deleted_run_leaves_the_figures_and_is_made_again_by_a_resume(tmp_path: Path) -> None:
    with Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        engine.evaluation.save_query_set(QuerySet("three", sample_set().cases[:3]))
        batch = engine.batches.start("three", RunConfig(), 1)
        assert engine.batches.wait(batch, _PATIENCE_S)
        before = shown(engine, batch)
        victim = engine.evaluation.batch(batch).runs[sample_set().cases[0].id]
        engine.delete_run(victim)
        assert shown(engine, batch) == before - {victim}
        assert engine.batches.resume(batch) and engine.batches.wait(batch, _PATIENCE_S)
        after = shown(engine, batch)
        assert len(after) == 3 and victim not in after
