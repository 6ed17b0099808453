"""The grader bench fits the built-in grader to judgements: tried, used for the next run, and taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from components.common.phrases import verdict_reason
from engine.api.process import use_engine
from engine.engine import Engine
from engine.evaluation.cases import QuerySet, sample_set
from engine.evaluation.fitting import LEAST, LEAST_QUESTIONS
from engine.evaluation.grader_bench import Pair, compare, cut_for_precision
from engine.messages import NC_
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import PassageId
from engine.settings import Settings
from pages.parts.tune.bench import of_one_kind, settled_text
from pages.parts.tune.bench_charts import ranged_text
from tests.contracts.chat_models import fenced
from tests.pages.driving import button, inline, on_pages, opened, visible
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest
from tests.support.tiny_cross_encoder import write_cross_encoder

EN = words_for("en")
_PATIENCE_S = 240.0
MANY, FEW = "many judgements", "few judgements"


@pytest.fixture
def gathered(engine: Engine) -> Engine:
    """Twelve questions with their evidence, and two."""
    if MANY not in engine.evaluation.query_sets():
        cases = [case for case in sample_set().cases if case.language == "en"]
        for name, some in ((MANY, cases[:12]), (FEW, cases[:2])):
            engine.evaluation.save_query_set(QuerySet(name, tuple(some)))
            batch = engine.batches.start(name, RunConfig(grade_probe=True, max_rewrites=0), 2)
            assert engine.batches.wait(batch, _PATIENCE_S)
    return engine


def bench(name: str, language: str = "en") -> AppTest:
    return opened("tune", language, {"query_set": name, "tune_tabs": words_for(language)(NC_("tab", "Grader"))})


def pressed(app: AppTest, name: str) -> AppTest:
    button(app, lambda label: label == EN(name)).click().run()
    assert not app.exception, app.exception
    return app


def test_with_few_judgements_it_says_how_many_more_it_wants(gathered: Engine) -> None:
    words = words_for("zh")
    app = bench(FEW, "zh")
    needs = (f"{LEAST_QUESTIONS} 个问题的 {LEAST} 个标注", "现有 2 个问题的")
    assert all(part in visible(app) for part in needs)
    assert not [item for item in app.button if item.label == words("Try a fit")]


def test_a_fit_is_tried_used_by_the_next_run_and_taken_back(gathered: Engine) -> None:
    app = pressed(bench(MANY), "Try a fit")
    assert EN("Brier score") in inline(app) and EN("With it") in inline(app)
    assert gathered.grader_fits.of("samples") == (), "trying keeps nothing"
    pressed(app, "Use")
    (fit,) = gathered.grader_fits.of("samples")
    assert fit.kind == "coefficients" and fit.judgements > 20
    before, after = fit.figures["brier"]
    assert before is not None and after is not None and after < before
    assert app.session_state["grader"] == fit.name
    record = gathered.run("What is a truth table?", RunConfig(models=chosen(app)))
    assert record.manifest["grader_fit"] == f"coefficients@{fit.id}"
    pressed(app, "Back to the shipped grader")
    assert app.session_state["grader"] == "builtin"
    assert fit.id in visible(app), "it is still there to be used again"


def chosen(app: AppTest) -> RoleModels:
    return RoleModels(grader=RoleModel(str(app.session_state["grader"])))


# -- a chat grader --------------------------------------------------------------------------------------------------


def odd(text: str) -> bool:
    """What a person finds relevant here, and the model only once an example shows it."""
    return len(text.split()) % 2 == 1


def learning(request: RecordedRequest) -> str:
    rules, asked = str(request.messages[0]["content"]), str(request.messages[1]["content"])
    relevant = "relevant: true" in rules and odd(fenced("passage", asked)[0])
    return json.dumps({"finding": "nothing", "relevant": relevant, "sure": 0.9, "why": "So it seems."})


@pytest.fixture
def chatting(tmp_path: Path) -> Iterator[Engine]:
    """Fourteen questions judged by a chat model that says no to all, and by a person."""
    with (
        OllamaStandIn(["qwen3:8b"], reply=learning) as ollama,
        Engine.open(Settings(data_dir=tmp_path, ollama_url=ollama.url)) as engine,
    ):
        engine.wait_until_ready()
        use_engine(engine)
        cases = [case for case in sample_set().cases if case.language == "en"][:14]
        engine.evaluation.save_query_set(QuerySet("by chat", tuple(cases)))
        models = RoleModels(grader=RoleModel("ollama:qwen3:8b"))
        batch = engine.batches.start("by chat", RunConfig(max_rewrites=0, top_k=6, models=models), 2)
        assert engine.batches.wait(batch, _PATIENCE_S)
        for case, record in engine.batches.results(batch):
            for name in record.first_verdicts(by_hand=False):
                engine.evaluation.set_label(case.question, name, odd(record.passages[name].text))
        yield engine
        use_engine(None)


def by_examples(app: AppTest) -> AppTest:
    app.session_state["bench_fit_way"] = "examples"
    return app.run()


def test_what_a_chat_model_says_of_itself_is_calibrated_without_a_call(chatting: Engine) -> None:
    """Its 0.9 for every no is what the labels make of it; figures and what-if go by it at once."""
    app = pressed(bench("by chat"), "Try a fit")
    assert EN("With it") in inline(app)
    (batch,) = chatting.evaluation.batches("by chat")
    ((_, record), *_) = chatting.batches.results(batch.id)
    fit = GraderFit(
        "calibration", "ollama:qwen3:8b", "samples", {"of": "said", "scores": [0.1], "chances": [0.1, 0.6, 0.9]}
    )
    kept = chatting.grader_fits.keep(fit)
    app = bench("by chat")
    assert kept.id in visible(app)
    app.button(key=f"bench_fit_use_{kept.id}").click().run()
    assert app.session_state["grader"] == kept.name and not app.exception
    assert "go by it already" in visible(app)
    wanted = replace(record.config, models=RoleModels(grader=RoleModel(kept.name)))
    assert record.outcome != "answered" and chatting.what_if(record, wanted).outcome == "answered"


def test_corrections_of_a_chat_grader_are_tried_as_examples_and_used(chatting: Engine) -> None:
    app = by_examples(bench("by chat"))
    label = next(item.label for item in app.button if item.key == "bench_examples_try")
    assert label.endswith(" calls")
    button(app, lambda text: text == label).click().run()
    (batch,) = chatting.evaluation.batches("by chat")
    app.session_state[f"bench_examples_{batch.id}"].future.result(_PATIENCE_S)
    app.run()
    assert EN("With it") in inline(app) and not app.exception
    pressed(app, "Use")
    (fit,) = chatting.grader_fits.of("samples")
    assert fit.kind == "examples" and app.session_state["grader"] == fit.name
    before, after = fit.figures["kappa"]
    assert before is not None and after is not None and after > before
    for case, record in chatting.batches.results(batch.id):
        for name in record.first_verdicts(by_hand=False):
            chatting.evaluation.set_label(case.question, name, False)
    app = by_examples(bench("by chat"))
    assert EN("No label contradicts a verdict.") in visible(app)
    assert not [item for item in app.button if item.key == "bench_examples_try"]


# -- a cross-encoder ------------------------------------------------------------------------------------------------


@pytest.fixture
def scoring(tmp_path: Path) -> Iterator[Engine]:
    """Fourteen questions whose passages a tiny cross-encoder judged."""
    cases = [case for case in sample_set().cases if case.language == "en"][:14]
    write_cross_encoder(tmp_path / "rerankers" / "tiny" / "overlap", [case.question for case in cases])
    with on_pages(Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1"))) as engine:
        engine.wait_until_ready()
        engine.evaluation.save_query_set(QuerySet("scored", tuple(cases)))
        models = RoleModels(grader=RoleModel("cross_encoder:tiny/overlap"))
        batch = engine.batches.start("scored", RunConfig(max_rewrites=0, grade_probe=True, models=models), 2)
        assert engine.batches.wait(batch, _PATIENCE_S)
        yield engine


def test_scores_are_calibrated_on_judgements_and_a_verdict_says_so(scoring: Engine) -> None:
    app = pressed(bench("scored"), "Try a fit")
    pressed(app, "Use")
    (fit,) = scoring.grader_fits.of("samples")
    assert fit.kind == "calibration" and app.session_state["grader"] == fit.name
    before, after = fit.figures["brier"]
    assert before is not None and after is not None and after < before
    record = scoring.run("What is a truth table?", RunConfig(max_rewrites=0, models=chosen(app)))
    judged = list(record.rounds[0].verdicts.values())
    assert judged
    for verdict in judged:
        score = f"{verdict.raw:.3g}"
        reason = EN("score {score}, calibrated on judgements ({fit})", score=score, fit=fit.id)
        assert verdict_reason(verdict, EN) == reason
        plain = verdict_reason(replace(verdict, fit=""), EN)
        assert "not calibrated" in plain and score in plain


# -- what the figures mean ------------------------------------------------------------------------------------------


def kinds_page() -> None:
    import streamlit as st

    from components.common.i18n import words_for
    from engine.evaluation.grader_bench import Pair, figures
    from engine.model.values import PassageId
    from pages.parts.tune.bench import of_one_kind
    from pages.parts.tune.bench_charts import bench_figures, counted_text, worst_bin_text

    words = words_for("en")
    pairs = [
        Pair(f"c{place}", f"Q{place}?", PassageId(str(place)), p, label, "thumb", p, kind=kind)  # type: ignore[arg-type]
        for place, (p, label, kind) in enumerate(
            [(0.9, place < 4, "said") for place in range(12)]
            + [(0.1, False, "said") for _ in range(8)]
            + [(0.6, True, "token"), (0.4, None, "token"), (None, True, "token")]
        )
    ]
    found = figures(of_one_kind(tuple(pairs), words))
    st.text(worst_bin_text(found, words))
    st.text(counted_text(found, words))
    bench_figures(found, words, key="figures")


def counts_page() -> None:
    import streamlit as st

    from components.common.i18n import words_for
    from engine.evaluation.annotation.agreement import Agreement
    from engine.evaluation.annotation.store import Scores
    from engine.evaluation.noise import noise
    from engine.model.values import PassageId, Verdict
    from pages.parts.tune.bench_charts import noise_table
    from pages.parts.tune.judge import agreement_table, history_rows

    words = words_for("zh")
    agreement_table([Agreement("Ada", "Bo", 4, 3, None)], words, key="agreement")
    gradings = {PassageId("a"): [Verdict(p > 0.5, p, "") for p in (0.9, 0.6, 0.4, 0.8, 0.3)]}
    noise_table(noise(gradings), words, key="noise", texts={})
    (row,) = history_rows([Scores("b", "set", "2025-03-01T00:00:00+00:00", {"quality": (0.833333, 12)})], words)
    st.text(" ".join(row.values()))


def test_a_share_of_a_few_is_a_count() -> None:
    app = AppTest.from_function(counts_page).run(timeout=60)
    drawn = inline(app)
    assert " 10 / 12 " in app.text[0].value
    assert '"3 / 4"' in drawn and '"一致"' in drawn and '"2 / 5"' in drawn and '"翻转"' in drawn


def test_two_graders_and_a_wanted_precision_come_with_intervals() -> None:
    pairs = [
        Pair(f"c{place}", f"Q{place}?", PassageId(str(place)), p, place % 3 > 0, "thumb", p)
        for place, p in enumerate([0.9, 0.8, 0.3, 0.7, 0.6, 0.2] * 4)
    ]
    others = [replace(item, reach=1 - item.reach if place % 4 == 0 else item.reach) for place, item in enumerate(pairs)]
    found = compare(pairs, others)
    assert re.fullmatch(r"0\.75 \(95 %: 0\.\d\d – 0\.\d\d\)", ranged_text(found.agreement, found.agreement_interval))
    assert re.fullmatch(r"0\.\d\d \(95 %: 0\.\d\d – 0\.\d\d\)", ranged_text(found.kappa, found.kappa_interval))
    cut = cut_for_precision(pairs, 0.6)
    assert cut is not None and "95 %" in ranged_text(cut.recall, cut.intervals.get("recall"))
    assert ranged_text(0.5, None) == "0.50"


def test_passages_that_a_screener_decided_are_in_no_figure_and_counted() -> None:
    """BE-03"""
    said = Pair("c", "Q?", PassageId("1"), 0.6, True, "thumb", 0.6, kind="token")
    settled = Pair("c", "Q?", PassageId("2"), 0.95, True, "thumb", 1.0, by_cut=True)
    assert of_one_kind((said, settled), EN) == (said,)
    (text,) = settled_text((said, settled), EN)
    assert text == "The screener decided 1 other passage: the figures are about what it left to the grader."
    assert settled_text((said,), EN) == [] and of_one_kind((settled,), EN) == ()


def test_each_kind_of_p_is_shown_by_itself_in_words_a_newcomer_reads() -> None:
    app = AppTest.from_function(kinds_page).run(timeout=60)
    said, counted = (item.value for item in app.text)
    assert said.startswith("Of 12 passages with P(relevant) near 0.90, a share of 0.33 is labelled relevant (95 %: 0.1")
    assert counted.startswith("From 20 questions. Small figures: 95 % intervals") and "1 unreadable" in counted
    tiles = re.findall(r"\d\.\d\d – \d\.\d\d(?: · n = \d+)?|n = \d+", inline(app))
    assert tiles[0].endswith("n = 12"), "precision is of what passes"
    assert tiles[1] == "n = 4", "recall on four questions, which say nothing of others"
    assert tiles[2].endswith("n = 12") and "n =" not in tiles[3], "F1, and κ over all"
    app.session_state["bench_kind"] = "token"
    said, counted = (item.value for item in app.run(timeout=60).text)
    assert said.startswith("The 1 passage with P(relevant) near 0.60: a share of 1.00")
    assert counted.startswith("From 1 question.") and "Left out: 1 without a label, 0 unreadable." in counted
