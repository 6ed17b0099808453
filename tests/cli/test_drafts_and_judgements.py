"""``python -m engine drafts`` and ``judgements`` against a workbench that has the knowledge base open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.drafting.values import Draft, draft_id
from engine.engine import Engine
from engine.evaluation.cases import Case, QuerySet
from engine.model.grader_fit import GraderFit
from tests.api.served import SAMPLES
from tests.cli.test_handing_over import handed_over

QUESTION = "How long does tea draw?"
DRAFT = Draft(draft_id(SAMPLES.name, QUESTION), SAMPLES.name, QUESTION, "way", "en", source="long.md")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(folder))
    with handed_over(folder) as (_, opened):
        yield opened


def test_drafts_are_listed_and_decided_in_the_app(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine._evaluations.drafts.add([DRAFT])
    assert main(["drafts", "list", SAMPLES.name]) == 0
    assert QUESTION in capsys.readouterr().out
    assert main(["drafts", "accept", DRAFT.id, "--set", "tea", "--gold", "4 minutes"]) == 0
    assert engine.evaluation.query_set("tea").cases[0].gold_answers == ("4 minutes",)
    assert main(["drafts", "reopen", DRAFT.id]) == 0
    assert main(["drafts", "refuse", DRAFT.id]) == 0
    assert engine.drafting.draft(DRAFT.id).state == "refused"
    capsys.readouterr()
    assert main(["drafts", "list", "--state", "refused", "--json"]) == 0
    assert [item["id"] for item in json.loads(capsys.readouterr().out)] == [DRAFT.id]
    assert main(["drafts", "refuse", "d-none"]) == 1
    assert "no drafted question" in capsys.readouterr().err
    assert main(["drafts", "make", "nowhere"]) == 1
    assert "nowhere" in capsys.readouterr().err


def test_judgements_go_into_the_app_and_come_out_of_it(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.evaluation.save_query_set(QuerySet("tea / 茶", (Case("q 1", QUESTION),)))
    file = tmp_path / "tea.qrels"
    file.write_text("q%201 0 long.md#1 1\n", encoding="utf-8")
    assert main(["judgements", "import", "tea / 茶", str(file), "--judge", "Ada"]) == 0
    (label,) = engine.evaluation.labels(QUESTION)
    assert (label.relevant, label.judge) == (True, "Ada")
    capsys.readouterr()
    assert main(["judgements", "export", "tea / 茶", "--format", "qrels"]) == 0
    assert capsys.readouterr().out == "q%201 0 long.md#1 1\n"
    assert main(["judgements", "history", "tea / 茶", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["judgements", "export", "nowhere"]) == 1
    assert "no query set named 'nowhere'" in capsys.readouterr().err


def test_fits_are_listed_by_the_name_that_a_run_takes(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    """What verdicts depend on stays out: examples of a chat grader are passages."""
    assert main(["fits", SAMPLES.name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    figures = {"kappa": (0.31, 0.42)}
    data = {"examples": ["a passage"]}
    fit = engine.grader_fits.keep(GraderFit("examples", "ollama:m", SAMPLES.name, data, 57, figures=figures))
    assert main(["fits", SAMPLES.name, "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["kind"], listed["figures"]) == (fit.name, "examples", {"kappa": [0.31, 0.42]})
    assert "data" not in listed
    assert main(["fits", SAMPLES.name]) == 0
    said = capsys.readouterr().out
    assert fit.name in said and "57 judgements · kappa 0.31 → 0.42" in said
    assert main(["fits", "nowhere"]) == 1
    assert "nowhere" in capsys.readouterr().err
