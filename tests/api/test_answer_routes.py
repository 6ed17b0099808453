"""What is known of a run's answer over HTTP: figures, people's judgements, and a model that judges."""

from __future__ import annotations

from pathlib import Path

from engine.builtin.direct import without_markers
from engine.evaluation.cases import Case, Expectation, QuerySet
from engine.model.config import RunConfig
from tests.api.served import calling
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn

ASKED = Case("a", "Why?", (Expectation("source", "p1.md"),), "en", answerable=True)


def test_an_answer_has_figures_and_is_judged_and_the_judgement_taken_back(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, engine):
        engine.evaluation.save_query_set(QuerySet("mine", (ASKED,), "samples"))
        run = engine.run("Why?", RunConfig())
        path = f"/api/runs/{run.id}/answer"
        known = client.get(path).json()
        assert (known["run"], known["right"], known["told_by"]) == (run.id, True, "passage")
        assert (known["f1"], known["judgements"], known["gold_answers"]) == (None, [], [])
        said = client.put(f"{path}/judgement", json={"right": "in_part", "judge": "Ada", "explanation": "No month."})
        assert (said.json()["right"], said.json()["told_by"]) == (False, "judgement")
        (judgement,) = client.get(path).json()["judgements"]
        assert (judgement["judge"], judgement["right"], judgement["explanation"]) == ("Ada", "in_part", "No month.")
        engine.evaluation.save_query_set(
            QuerySet("gold", (Case("b", "Why?", gold_answers=(without_markers(run.answer),)),), "samples")
        )
        golden = client.get(path).json()
        assert (golden["right"], golden["told_by"], golden["f1"]) == (True, "gold", 1.0)
        taken = client.put(f"{path}/judgement", json={"right": None, "judge": "Ada"})
        assert taken.json()["judgements"] == []


def test_a_model_judges_an_answer_once(tmp_path: Path) -> None:
    with OllamaStandIn(["judge:1b"], reply=obedient) as server, calling(tmp_path, ollama_url=server.url) as found:
        client, engine = found
        run = engine.run("Why?", RunConfig())
        path = f"/api/runs/{run.id}/answer"
        verdict = client.post(f"{path}/verdict", json={"model": "ollama:judge:1b"}).json()
        (said,) = verdict["judgements"]
        assert (said["by"], said["judge"]) == ("model", "ollama:judge:1b")
        assert said["claims"] and verdict["faithfulness"] is not None
        assert (verdict["right"], verdict["told_by"]) == (None, None), "a model's word never tells"
        assert client.post(f"{path}/verdict", json={"model": "ollama:judge:1b"}).json() == verdict
        assert len(server.requests) == 1


def test_what_cannot_be_judged_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, engine):
        run = engine.run("Why?", RunConfig())
        path = f"/api/runs/{run.id}/answer"
        builtin = client.post(f"{path}/verdict", json={})
        assert builtin.status_code == 422 and "only a chat model" in builtin.text
        assert client.put(f"{path}/judgement", json={"right": "perhaps"}).status_code == 422
        assert client.get("/api/runs/nowhere/answer").status_code == 404
        refused = engine.run("Why?", RunConfig(similarity_threshold=1.0, max_rewrites=0))
        assert refused.outcome == "abstained"
        silent = client.put(f"/api/runs/{refused.id}/answer/judgement", json={"right": "yes"})
        assert silent.status_code == 409 and silent.json()["code"] == "WB827"
        assert client.get(f"/api/runs/{refused.id}/answer").json()["right"] is None
