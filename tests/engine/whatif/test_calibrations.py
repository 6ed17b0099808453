"""What a record says of another calibration of its grader is what a real run with it does, without a call."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.model.config import RoleModel, RunConfig, WorkflowName
from engine.model.grader_fit import GraderFit, raw_of, refitted, sigmoid
from engine.model.values import RunRecord, Verdict
from engine.model.values.names import VerdictKind
from engine.replay import what_if
from engine.replay.decision_map import decision_map
from engine.replay.grid import paths
from engine.replay.rejudged import rejudged
from engine.replay.settings import OUTCOMES, STATES, SettingsGrid
from engine.replay.table import run_table
from engine.retrieval.graph_options import GraphOptions
from engine.samples import sample_questions
from engine.settings import Settings
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.contracts.chat_models import fenced
from tests.engine.whatif.foretold import differences
from tests.engine.whatif.world import run_in
from tests.evaluation.gathered import PASSAGES, world
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest
from tests.support.same_roles import SameRoles
from tests.support.tiny_cross_encoder import write_cross_encoder

CROSS = "cross_encoder:tiny/overlap"
LENIENT = {"scores": [-4.0, -1.0, 5.0], "chances": [0.05, 0.3, 0.55, 0.6, 0.75, 0.85, 0.95]}
STRICT = {"scores": [4.0, 12.0], "chances": [0.02, 0.1, 0.3, 0.45, 0.9]}
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"min_confidence": 0.2},
    {"min_confidence": 0.8, "grade_pass_threshold": 0.4},
    {"gate": "min_relevant", "min_relevant": 2, "max_rewrites": 1},
    {"context": "last_round", "max_rewrites": 0},
)
OPTIONS: Mapping[WorkflowName, Mapping[str, Any]] = {
    "self_corrective": {},
    "quality_loop": {},
    "dual_loop": {"options": DualLoopOptions(memory=False)},
    "answer_evaluation": {},
    "graph_hybrid": {"mode": "mix", "options": GraphOptions(rerank="always")},
}
QUESTIONS = ("What is a truth table?", "离散数学", "blood sugar", "proofs")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("calibrations")
    texts = [item.question for item in sample_questions()]
    write_cross_encoder(folder / "rerankers" / "tiny" / "overlap", texts)
    settings = Settings(data_dir=folder, ollama_url="http://127.0.0.1:1")
    with Engine(settings, SameRoles(settings, of=lambda config: (config.workflow, config.models))) as opened:
        opened.wait_until_ready()
        for table in (LENIENT, STRICT):
            opened.grader_fits.keep(GraderFit("calibration", CROSS, "samples", table))
        yield opened


def by(grader: str, config: RunConfig) -> RunConfig:
    return replace(config, models=replace(config.models, grader=RoleModel(grader)))


def graders(engine: Engine) -> tuple[str, ...]:
    return CROSS, *(fit.name for fit in engine.grader_fits.of("samples"))


@pytest.mark.parametrize("workflow", OPTIONS)
def test_a_run_with_another_calibration_is_the_what_if_with_it(engine: Engine, workflow: WorkflowName) -> None:
    """BE-03: choosing one, dropping one and changing one, with other settings moved as well."""
    known = moved = 0
    base = RunConfig(workflow=workflow, budget_s=600, **OPTIONS[workflow])
    for place, question in enumerate(QUESTIONS):
        names = graders(engine)
        own = names[place % len(names)]
        recorded = engine.run(question, by(own, replace(base, grade_probe=place == 0)))
        for grader in names:
            for change in CHANGES:
                asked = by(grader, replace(base, grade_probe=place == 0, **change))
                predicted = engine.what_if(recorded, asked)
                if predicted.path_known:
                    real = engine.run(question, asked)
                    assert differences(predicted, real) == [], (question, own, grader, change)
                    known += grader != own
                    moved += predicted.decisions != recorded.decisions
    # Where answers are evaluated, a new one leaves the rest open; in the dual loop, any other decision does.
    assert known >= 10 and (moved or workflow == "dual_loop"), "a calibration that changes nothing proves nothing"


def test_a_grid_and_a_map_say_of_a_calibration_what_a_what_if_of_it_says(engine: Engine) -> None:
    fits = {fit.id: fit for fit in engine.grader_fits.of("samples")}
    for question in QUESTIONS:
        recorded = engine.run(question, by(CROSS, RunConfig()))
        table = run_table(recorded, fits=fits)
        for grader in graders(engine):
            configs = [by(grader, RunConfig(**change)) for change in CHANGES]
            found = paths(table, SettingsGrid.of(configs))
            for place, config in enumerate(configs):
                replayed = engine.what_if(recorded, config)
                assert STATES[found.state[place]] == replayed.state
                outcome = None if found.outcome[place] < 0 else OUTCOMES[found.outcome[place]]
                assert (outcome, found.rewrites[place]) == (replayed.outcome, replayed.rewrites), (question, config)
        strict = by(graders(engine)[1], RunConfig())
        drawn = decision_map(recorded, strict, "min_confidence", "grade_pass_threshold", fits)
        for cell in drawn.cells:
            at = replace(strict, min_confidence=cell.x_try, grade_pass_threshold=cell.y_try)
            assert cell.outcome == engine.what_if(recorded, at).outcome


def test_a_grid_knows_what_the_rewriter_of_the_run_saw() -> None:
    """Rounds after a rewrite are known only where those that fail are those that failed, by the run's own P."""
    chance, states = random.Random(11), Counter[str]()
    fit = GraderFit("calibration", CROSS, "samples", {"scores": [-0.5, 0.5], "chances": [0.1, 0.3, 0.6, 0.7, 0.9]})
    for _ in range(30):
        raws = [round(chance.gauss(-0.5, 1.0), 1) for _ in range(PASSAGES)]
        judged = tuple(Verdict(raw >= 0, sigmoid(abs(raw)), "", grader=CROSS, raw=raw) for raw in raws)
        recorded = run_in(replace(world(chance), verdicts=judged), by(CROSS, RunConfig(gate="pass_rate")))
        bars = [(pass_, sure) for pass_ in (0.2, 0.4, 0.6, 0.8) for sure in (0.35, 0.5, 0.65)]
        configs = [
            by(fit.name, RunConfig(gate="pass_rate", grade_pass_threshold=pass_, min_confidence=sure))
            for pass_, sure in bars
        ]
        table = run_table(recorded, fits={fit.id: fit})
        assert table.judged_by(RoleModel(fit.name)).plain, "it is walked in arrays"
        found = paths(table, SettingsGrid.of(configs))
        for place, config in enumerate(configs):
            replayed = what_if(rejudged(recorded, config.models.grader, {fit.id: fit}), config, recorded)
            outcome = None if found.outcome[place] < 0 else OUTCOMES[found.outcome[place]]
            assert (STATES[found.state[place]], outcome) == (replayed.state, replayed.outcome), config
            assert (found.rewrites[place], found.passed[place] if replayed.decisions else 0) == (
                replayed.rewrites,
                replayed.decisions[-1].passed if replayed.decisions else 0,
            )
            states[f"{replayed.state} after {min(1, replayed.rewrites)}"] += 1
    assert states["generation after 1"] > 5 and states["needs_calls after 1"] > 5, states


def test_what_no_calibration_tells_stays_unknown(engine: Engine) -> None:
    recorded = engine.run(QUESTIONS[0], by(CROSS, RunConfig()))
    (fit, *_) = engine.grader_fits.of("samples")
    fits = {fit.id: fit}
    wanted = RoleModel(fit.name)
    assert rejudged(recorded, wanted, fits) is not recorded
    elsewhere = {fit.id: replace(fit, collection="other")}
    of_another = {fit.id: replace(fit, model=f"{CROSS}2")}
    examples = {fit.id: replace(fit, kind="examples")}
    parted = first_verdict_as(recorded, parts=(0.5,))
    unscored = first_verdict_as(recorded, raw=None)
    for record, known in (
        (recorded, {}),
        (recorded, elsewhere),
        (recorded, of_another),
        (recorded, examples),
        (parted, fits),
        (unscored, fits),
    ):
        assert rejudged(record, wanted, known) is record
    for other in (RoleModel(f"{CROSS}2#{fit.id}"), RoleModel(fit.name, seed=8), RoleModel("builtin")):
        assert rejudged(recorded, other, fits) is recorded
    with_examples = replace(
        recorded,
        config=by(f"{CROSS}#{'0' * 12}", recorded.config),
        manifest={**recorded.manifest, "grader_fit": f"examples@{'0' * 12}"},
    )
    assert rejudged(with_examples, RoleModel(CROSS), fits) is with_examples, "what the prompt showed is in its scores"


def first_verdict_as(record: RunRecord, **changes: Any) -> RunRecord:
    first = record.rounds[0]
    name = next(iter(first.verdicts))
    verdicts = {**first.verdicts, name: replace(first.verdicts[name], **changes)}
    return replace(record, rounds=(replace(first, verdicts=verdicts), *record.rounds[1:]))


def shared_words(request: RecordedRequest) -> int:
    asked = "\n".join(str(message["content"]) for message in request.messages)
    passage, question = fenced("passage", asked)[-1], fenced("question", asked)[-1]
    return min(3, len({*question.lower().split()} & {*passage.lower().split()}))


def overlapping(request: RecordedRequest) -> str:
    """As small models do: 0.5 for most of what is not relevant, 0.8 or 1.0 for what is."""
    shared = shared_words(request)
    sure = {0: 0.9, 1: 0.5, 2: 0.8}.get(shared, 1.0)
    return json.dumps({"finding": "it", "relevant": shared > 1, "sure": sure, "why": "So it seems."})


def weighing(request: RecordedRequest) -> dict[str, float]:
    yes = (0.1, 0.4, 0.7, 0.9)[shared_words(request)]
    return {"yes": yes, "no": 1.0 - yes}


@pytest.mark.parametrize("kind", ["said", "token"])
def test_what_a_chat_model_gives_is_calibrated_by_a_run_as_by_a_what_if(tmp_path: Path, kind: VerdictKind) -> None:
    grader = "ollama:llama3.2:3b"
    scores = [0.1, 0.5, 0.8, 1.0] if kind == "said" else [-2.0, -0.3, 0.8, 2.1]
    table = {"of": kind, "scores": scores, "chances": [0.02, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.7, 0.9]}
    known = moved = 0
    weigh = weighing if kind == "token" else None
    with (
        OllamaStandIn(["llama3.2:3b"], reply=overlapping, weigh=weigh) as ollama,
        Engine.open(Settings(data_dir=tmp_path, ollama_url=ollama.url)) as engine,
    ):
        engine.wait_until_ready()
        fit = engine.grader_fits.keep(GraderFit("calibration", grader, "samples", table))
        for question in ("What is a truth table?", "How many rows does a truth table need?"):
            for own, other in ((grader, fit.name), (fit.name, grader)):
                recorded = engine.run(question, by(own, RunConfig(max_rewrites=1)))
                for change in CHANGES:
                    asked = by(other, RunConfig(**{"max_rewrites": 1, **change}))
                    predicted, real = engine.what_if(recorded, asked), engine.run(question, asked)
                    verdicts = list(real.rounds[0].verdicts.values())
                    assert {verdict.kind for verdict in verdicts} == {kind}
                    assert {verdict.fit for verdict in verdicts} == {fit.id if other == fit.name else ""}
                    if predicted.path_known:
                        assert differences(predicted, real) == []
                        known, moved = known + 1, moved + (predicted.decisions != recorded.decisions)
    assert known > 10 and moved > 3


# -- each kind of verdict -------------------------------------------------------------------------------------------


def fit_of(kind: str, scores: list[float]) -> GraderFit:
    chances = [round((place + 1) / (2 * len(scores) + 2), 3) for place in range(2 * len(scores) + 1)]
    table = {"scores": scores, "chances": chances} | ({} if kind == "score" else {"of": kind})
    return GraderFit("calibration", "openai:m", "samples", table)


def test_a_self_reported_p_is_calibrated_as_it_was_said_and_comes_back_unchanged() -> None:
    fit = fit_of("said", [0.2, 0.5, 0.9])
    for said in (Verdict(True, 0.9, "r", grader="openai:m"), Verdict(True, 0.5, "r", grader="openai:m")):
        fitted = refitted(said, fit)
        assert fitted is not None and fitted.kind == "said" and fitted.fit == fit.id and fitted.raw == said.p_relevant
        assert refitted(fitted, None) == said
    no, yes = Verdict(False, 0.5, "r", grader="openai:m"), Verdict(True, 0.5, "r", grader="openai:m")
    below, above = refitted(no, fit), refitted(yes, fit)
    assert below is not None and above is not None and below.p_relevant < above.p_relevant, "a no at 0.5 is a no"
    back = refitted(below, None)
    assert back is not None and (back.relevant, back.reach) == (no.relevant, no.reach)
    assert back.confidence == pytest.approx(no.confidence, abs=1e-12)


def test_a_calibration_is_for_one_kind_of_verdict() -> None:
    token = Verdict(True, sigmoid(1.5), "", grader="openai:m", raw=1.5, kind="token")
    fitted = refitted(token, fit_of("token", [-1.0, 1.0]))
    assert fitted is not None and fitted.kind == "token" and fitted.p_relevant != token.p_relevant
    assert refitted(fitted, None) == token and refitted(fitted, fit_of("said", [0.5])) == token
    unread = Verdict(None, 0.0, "r", grader="openai:m")
    assert refitted(unread, fit_of("said", [0.5])) == unread and raw_of(unread) is None
    assert refitted(Verdict(True, 0.9, "r"), fit_of("score", [0.5])) is None, "the built-in grader has no such number"
    assert raw_of(Verdict(True, 1.0, "", grader="other", bare=True)) is None
