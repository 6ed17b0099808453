"""What the Tune page says about two settings: cards, flips, links, and which mark of a chart was clicked."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.common.outcomes import outcome_text
from components.common.run_link import run_link, settings_in_url
from components.tune.bars import outcome_rows
from components.tune.charts import Point, clicked, scale_of
from components.tune.figures import AFTER, basis_text, cards_of, value_text
from components.tune.question_changes import change_text, changes_csv, side_text
from components.tune.recommendation import recommendation_text
from engine.evaluation.aggregate import evaluate
from engine.evaluation.anytime import Drawn, anytime_of
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.figures import Evaluation, Figure, Measured
from engine.evaluation.judgements import Judged, pair_id
from engine.evaluation.question_changes import ChangeReason, QuestionChange, QuestionChanges, Side, question_changes
from engine.evaluation.recommend import Recommendation, recommend
from engine.evaluation.statistics import paired_means
from engine.evaluation.sweep import Axis, front, sweep
from engine.evaluation.values import BatchProgress, Spent
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import RunId
from pages.parts.tune.gather import progress_parts
from pages.parts.tune.sweep import points_of
from pages.parts.tune.tried import Tried
from tests.evaluation.gathered import evidence_of, questions
from tests.evaluation.test_sweep import hidden

EN, ZH = words_for("en"), words_for("zh")
BOTH: tuple[UiLanguage, ...] = ("en", "zh")
BEFORE = RunConfig(gate="pass_rate", grade_probe=True)
REASONS: tuple[ChangeReason, ...] = (
    *("gained_expected", "lost_expected", "now_answers", "now_refuses", "now_refuses_unanswerable"),
    *("now_answers_unanswerable", "fewer_calls", "more_calls", "other_outcome", "nothing"),
    *("unknown_before", "unknown_after"),
)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return evidence_of(24, BEFORE)


def change(reason: ChangeReason, *, steps: tuple[int, int] = (5, 4), question: str = "What is tea?") -> QuestionChange:
    sides = [Side(known=True, outcome="answered", round=1, steps=count, quality=1.0) for count in steps]
    return QuestionChange("case", question, RunId("run"), sides[0], sides[1], "better", reason)


@pytest.mark.parametrize("language", BOTH)
def test_cards_say_what_stays_and_what_changes(evidence: Evidence, language: UiLanguage) -> None:
    """SC-08"""
    words = words_for(language)
    same = cards_of(evaluate(evidence, [BEFORE, BEFORE]), words)
    assert [card.label for card in same][:3] == [
        words("Right passage in context"),
        words("Rewrites wasted"),
        words("Unanswerable refused"),
    ]
    assert {card.note for card in same} == {words("= as compared")}
    gentle = cards_of(evaluate(evidence, [BEFORE, replace(BEFORE, grade_pass_threshold=0.0)]), words)
    assert gentle[3].note.startswith("▼")
    assert gentle[3].look == "pass", "fewer steps are better"
    assert gentle[1].note == words("no rewrites at all")


def test_refusals_have_no_card_where_nothing_has_to_be_refused() -> None:
    cases, records = questions(8, BEFORE)
    answerable = [case for case in cases if case.answerable]
    evaluation = evaluate(gather(answerable, records), [BEFORE, BEFORE])
    labels = [card.label for card in cards_of(evaluation, EN)]
    assert EN("Unanswerable refused") not in labels
    assert EN("Found and answered") in labels


def test_without_labels_the_cards_speak_of_answers_and_pass_rates() -> None:
    cases, records = questions(8, BEFORE)
    bare = [replace(case, expected=(), answerable=None) for case in cases]
    labels = [card.label for card in cards_of(evaluate(gather(bare, records), [BEFORE, BEFORE]), EN)]
    assert labels[:3] == [EN("Found and answered"), EN("Rewrites a question"), EN("Pass rate, last round")]


def test_the_caption_says_by_what_answers_are_told_and_of_how_many() -> None:
    cases, records = questions(12, BEFORE)
    assert basis_text(evaluate(gather(cases, records), [BEFORE, BEFORE]), EN) == ""
    bare = [replace(case, expected=(), answerable=None) for case in cases[:4]]
    gold = [replace(case, gold_answers=("x",), answerable=True) for case in cases[4:6]]
    answered = [case for case in bare if records[case.id].answer]
    judged = {pair_id(answered[0].question, records[answered[0].id].answer): Judged(right=True, at_random=False)}
    evidence = gather([*bare, *gold, *cases[6:]], records, judged=judged)
    refusals = sum(case.answerable is False for case in cases[6:])
    said = basis_text(evaluate(evidence, [BEFORE, BEFORE]), EN)
    assert said == EN(
        "Answered right is judged {by}.",
        by=", ".join(
            [
                EN("by gold answers for {n} questions", n=2),
                EN("by people's judgements of the answer for {n}", n=1),
                EN("by the passages given for {n}", n=6 - refusals),
                EN("by refusing for {n} that cannot be answered", n=refusals),
                EN("not at all for {n} without a label", n=3),
            ]
        ),
    )
    other = replace(BEFORE, min_confidence=0.9)
    assert "no answer is recorded under these settings" in basis_text(evaluate(evidence, [BEFORE, other]), EN)


def test_settings_that_need_calls_leave_bounds_and_no_guess(evidence: Evidence) -> None:
    """SC-02"""
    other = replace(BEFORE, models=RoleModels(grader=RoleModel("ollama:qwen3:8b")), top_k=7)
    evaluation = evaluate(evidence, [BEFORE, replace(other, collection="elsewhere")])
    assert not evaluation.known_n[1]
    cards = cards_of(evaluation, EN)
    assert [card.value for card in cards][:3] == ["0.00–1.00", "0.00–1.00", "0–6 / 6"]
    assert cards[-1].value == "0 ms or more"
    assert [card.note for card in cards][:3] == ["18 unknown", "18 unknown", "6 unknown"]


def test_a_figure_has_the_unit_of_its_measure() -> None:
    assert value_text("seconds", 1.24) == "1.2 s"
    assert value_text("steps", 6.14) == "6.1"
    assert value_text("quality", 0.934) == "0.93"
    assert value_text("quality", None) == value_text("quality", float("nan")) == "–"


@pytest.mark.parametrize("language", BOTH)
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_for_a_flip_has_words(language: UiLanguage, reason: ChangeReason) -> None:
    said = change_text(change(reason), words_for(language))
    assert said
    assert said.isascii() == (language == "en")


def test_one_step_is_one_step() -> None:
    assert change_text(change("fewer_calls", steps=(5, 4)), EN) == "1 step fewer"
    assert change_text(change("more_calls", steps=(3, 6)), EN) == "3 steps more"
    assert change_text(change("fewer_calls", steps=(5, 2)), ZH) == "少 3 步"


def test_a_side_says_how_it_ends_or_that_calls_would_tell() -> None:
    assert side_text(Side(known=True, outcome="abstained", round=2), EN).endswith("Refused · rewrite 2")
    assert side_text(Side(known=True, outcome="abstained", round=2), ZH).endswith("改写 2")
    doubted = Side(known=True, outcome="answered", answer_note="unsupported", round=1)
    assert side_text(doubted, EN) == "Answered, not supported · rewrite 1"
    assert side_text(doubted, ZH).startswith("已作答，缺乏依据")
    assert side_text(Side(known=False), EN) == "would need calls"
    assert side_text(Side(known=False), ZH) == "需要调用才知道"


@pytest.mark.parametrize("language", BOTH)
def test_an_answer_that_is_not_supported_is_no_part_of_the_green_bar(language: UiLanguage) -> None:
    """SC-04: it has a label of its own, on both sides where it stands under both settings."""
    words = words_for(language)
    made, records = questions(12, BEFORE)
    answered = [item.id for item in made if records[item.id].answer and records[item.id].outcome == "answered"]
    doubted = replace(records[answered[0]], answer_note="unsupported")
    evaluation = evaluate(gather(made, {**records, answered[0]: doubted}), [BEFORE, BEFORE])
    rows = outcome_rows(evaluation, words)
    for side in (words("before"), words("after")):
        counts = {row["outcome"]: row["count"] for row in rows if row["side"] == side}
        assert counts[outcome_text("answered", words, "unsupported")] == 1
        assert counts[outcome_text("answered", words)] == len(answered) - 1
        assert sum(int(count) for count in counts.values()) == len(made)


def test_the_file_of_flips_has_every_flip_and_no_formula(evidence: Evidence) -> None:
    found = question_changes(evidence, BEFORE, replace(BEFORE, grade_pass_threshold=0.0))
    rows = list(csv.reader(io.StringIO(changes_csv(found, EN).decode("utf-8-sig"))))
    assert len(rows) == len(found.shown) + 1
    hostile = QuestionChanges((change("now_answers", question="=HYPERLINK(1)"),), found.test)
    assert "\n'=HYPERLINK(1)" in changes_csv(hostile, EN).decode("utf-8-sig").replace("\r", "")


def test_a_link_to_a_run_holds_the_settings_that_are_not_the_defaults() -> None:
    """SC-12"""
    chat = RoleModel("ollama:qwen3:8b", num_ctx=4096)
    config = RunConfig(top_k=7, similarity_threshold=0.25, gate="min_relevant", models=RoleModels(grader=chat))
    address = urlsplit(run_link("r1", config, EN, "/base"))
    assert address.path == "/base/"
    named = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert named.pop("run") == "r1"
    assert named.pop("lang") == "en"
    assert named == {
        "top_k": "7",
        "similarity_threshold": "0.25",
        "gate": "min_relevant",
        "grader": "ollama:qwen3:8b",
        "num_ctx": "4096",
    }
    assert settings_in_url(RunConfig()) == {"gate": "min_relevant"}
    assert settings_in_url(RunConfig(grade_probe=True)) == {"gate": "min_relevant", "grade_probe": "true"}


def test_a_click_is_told_from_the_selection_before_and_after_it() -> None:
    a, b = {"x": 0.1, "y": 0.2}, {"x": 0.3, "y": 0.2}
    assert clicked([], [a]) == a
    assert clicked([a], [a, b]) == b
    assert clicked([a, b], [b]) == a, "a second click on a mark takes it out of the selection"
    assert clicked([a, b], []) is None, "a chart that was redrawn has lost its selection"
    assert clicked([a], [a]) is None


def drawn_heat(values: list[list[float]], known: list[list[int]], **more: Any) -> Any:
    """The specification of a heat map of two by two settings over ten questions, and what is said above and below.

    ``values`` are the lower ends; the upper ones are 1 where fewer than ten questions are known.
    """

    def page(values: list[list[float]], known: list[list[int]], more: dict) -> None:  # type: ignore[type-arg]
        import numpy as np

        from components.common.i18n import words_for
        from components.tune.charts import heat_map
        from engine.evaluation.figures import Figures
        from engine.evaluation.sweep import Axis, HeatMap
        from engine.model.config import RunConfig

        lower, known_n = np.array(values), np.array(known)
        upper = np.where(known_n < 10, 1.0, lower)
        heat = HeatMap(
            x=Axis("top_k", (1, 2)),
            y=Axis("max_rewrites", (0, 1)),
            figures=Figures("quality", lower, upper, known_n, np.full((2, 2), 10)),
            settings=np.arange(4).reshape(2, 2),
            possible=np.array(more.pop("possible", [[True, True], [True, True]])),
        )
        heat_map(heat, RunConfig(), words_for("en"), key="heat", tried=lambda _: None, **more)

    app = AppTest.from_function(page, kwargs={"values": values, "known": known, "more": more}).run()
    assert not app.exception, app.exception
    (chart,) = app.get("vega_lite_chart") or app.get("arrow_vega_lite_chart")
    return json.loads(chart.proto.spec), [item.value for item in app.caption]


def test_the_colours_of_a_share_go_from_0_to_1_so_that_a_poor_best_looks_poor() -> None:
    spec, said = drawn_heat([[0.0, 0.11], [0.05, 0.1]], [[10, 10], [10, 10]])
    colour = spec["layer"][0]["encoding"]["color"]
    assert colour["scale"]["domain"] == [0.0, 1.0]
    assert "opacity" not in spec["layer"][0]["encoding"]
    assert "0.00 to 0.11 here; colours from 0.00 to 1.00" in said[0]


def test_the_frame_of_a_certified_setting_is_seen_also_where_the_sliders_stand() -> None:
    full = [[10, 10], [10, 10]]
    spec, said = drawn_heat([[0.1, 0.1], [0.1, 0.1]], full, safe=frozenset({0, 3}), promise="So few are wrong.")
    marked, framed = spec["layer"][-2:]
    assert {row["setting"] for row in framed["data"]["values"]} == {0, 3}
    # The sliders stand on 3: the later layer lies over the earlier one, and is thinner.
    assert [row["setting"] for row in marked["data"]["values"]] == [3]
    assert framed["mark"]["strokeWidth"] < marked["mark"]["strokeWidth"]
    assert said[-1] == "Framed in amber: certified. So few are wrong."
    _, without = drawn_heat([[0.1, 0.1], [0.1, 0.1]], full, safe=frozenset({70}), promise="So few are wrong.")
    assert len(without) == 1, "no frame is explained where the map has none"


def test_a_cell_is_coloured_by_its_worse_end_and_hatched_and_grey_by_what_is_unknown() -> None:
    """BE-01"""
    spec, said = drawn_heat([[0.9, 0.8], [0.5, 0.1]], [[10, 9], [5, 1]])
    cells, hatched = spec["layer"][0]["data"]["values"], spec["layer"][1]["data"]["values"]
    assert [cell["value"] for cell in cells] == [0.9, 0.8, 0.5, 0.1]
    assert [cell["text"] for cell in cells] == ["0.90", "0.80–1.00", "0.50–1.00", "0.10–1.00"]
    assert [cell["known_text"] for cell in cells][1:] == ["known for 9 of 10", "known for 5 of 10", "known for 1 of 10"]
    assert [cell["grey"] for cell in cells] == [False, False, True, True]
    assert [cell["hatching"] for cell in cells] == ["", "╱", "╱╱╱", "╱╱╱"]
    assert len(hatched) == 3
    assert spec["layer"][0]["encoding"]["color"]["condition"]["test"] == "datum.grey"
    assert "0.80 to 0.90 here" in said[0], "grey cells are in no range of colours"
    assert said[-1] == (
        "Hatched: some questions are unknown and count as the worst they can be. Grey: more than one in ten is unknown."
    )


def test_where_too_much_is_unknown_of_every_setting_no_range_of_colours_is_said() -> None:
    spec, said = drawn_heat([[0.1, 0.2], [0.3, 0.4]], [[1, 2], [3, 4]])
    assert all(cell["grey"] for cell in spec["layer"][0]["data"]["values"])
    assert said[0] == "found and answered: too much is unknown of every setting for a colour; click to try"


def test_a_setting_whose_gate_no_round_can_meet_is_not_drawn() -> None:
    spec, said = drawn_heat([[1.0, 1.0], [0.4, 0.4]], [[10, 10], [10, 10]], possible=[[False, False], [True, True]])
    assert [cell["setting"] for cell in spec["layer"][0]["data"]["values"]] == [2, 3]
    assert "0.40 to 0.40 here" in said[0]
    assert said[-1] == "Empty: more passages must pass than can be kept."


def test_a_point_stands_at_its_worse_ends_and_is_none_where_nothing_limits_its_cost() -> None:
    quality, endless = Figure(None, 0.08, 1.0, 1, 12), Figure(None, 2.0, None, 1, 12)
    assert Point(quality, Figure(None, 2.0, 31.0, 1, 12), "").place == (31.0, 0.08)
    assert Point(quality, endless, "").place is None
    assert Point(quality, Figure(2.5, 2.5, 2.5, 12, 12), "").known == pytest.approx(1 / 12)


def test_a_cost_has_a_scale_of_its_own_that_begins_at_zero() -> None:
    assert scale_of("steps", 12.5) == (0.0, 12.5)
    assert scale_of("seconds", 0.0) == (0.0, 1.0)
    assert scale_of("refused_unanswerable", 0.2) == (0.0, 1.0)


@pytest.mark.parametrize("language", BOTH)
def test_a_figure_that_moved_is_never_said_to_be_as_compared(language: UiLanguage) -> None:
    """A share of rewrites can move although every question that is rewritten on both sides stays the same."""
    words = words_for(language)
    total = np.array([[2.0, 2.0], [0.0, np.nan], [1.0, 1.0]])
    weight = np.array([[3.0, 3.0], [1.0, 0.0], [1.0, 1.0]])
    moved = Measured(np.nan_to_num(total), weight)
    evidence = evidence_of(3, BEFORE)
    whole = evaluate(evidence, [BEFORE, BEFORE])
    evaluation = replace(whole, measures={**whole.measures, "false_rewrites": moved})
    card = next(item for item in cards_of(evaluation, words) if item.label == words("Rewrites wasted"))
    assert (card.value, card.note) == (
        "0.75",
        words(
            "{before} as compared (n = {before_n}, now {after_n}); the same on the {n} of both",
            before="0.60",
            before_n=3,
            after_n=2,
            n=2,
        ),
    )


def with_unknown(after: list[float | None]) -> Evaluation:
    """Twelve questions, nine of them with the right passage in the context; None where that is unknown afterwards."""
    whole = evaluate(evidence_of(12, BEFORE), [BEFORE, BEFORE])
    hits = np.array([[1.0, 0.0 if value is None else value] for value in after])
    hits[9:, 0] = 0.0
    open_ = np.array([[False, value is None] for value in after])
    return replace(whole, measures={**whole.measures, "context_hit": Measured(hits, (~open_).astype(float), open_)})


NINE_OF_TWELVE: list[float | None] = [*[1.0] * 9, *[0.0] * 3]


@pytest.mark.parametrize("language", BOTH)
@pytest.mark.parametrize(("unknown", "value"), [(2, "0.75–0.92"), (11, "0.08–1.00")])
def test_a_tile_with_unknown_questions_is_an_interval_and_says_what_changed_first(
    language: UiLanguage, unknown: int, value: str
) -> None:
    """BE-01: two missed questions that become unknown improve nothing; one known of twelve is nearly anything."""
    words = words_for(language)
    after = [*NINE_OF_TWELVE[: 12 - unknown], *[None] * unknown]
    card = cards_of(with_unknown(after), words)[0]
    same = words.count("Same on 1 question", "Same on {n} questions", 12 - unknown)
    assert (card.label, card.value) == (words("Right passage in context"), value)
    assert card.note == f"{same} · {words('{n} unknown', n=unknown)}"
    assert card.look == "muted"


def test_a_change_is_called_better_only_where_the_unknown_questions_could_not_turn_it() -> None:
    for lost, look in ((4, "warn"), (3, "muted")):
        evaluation = with_unknown([*[0.0] * lost, *[1.0] * (8 - lost), *[None] * 4])
        card = cards_of(evaluation, EN)[0]
        assert (card.look, card.note.endswith("4 unknown")) == (look, True), card
        known = evaluation.measures["context_hit"]
        alone = paired_means(known.of(0), known.of(1), lower_is_better=False)
        assert alone.verdict == "worse", "by the known questions alone both are"


def recommended(better: int, **more: Any) -> Recommendation:
    base = replace(BEFORE, top_k=2)
    found = recommend(sweep(hidden(40, better=better), base, [Axis("top_k", (1, 2, 3))]), base)
    return replace(found, **more)


def drawn_recommendation(found: Recommendation, language: UiLanguage) -> str:
    def page() -> None:
        import streamlit as st

        from components.tune.recommendation import recommendation_card

        recommendation_card(*st.session_state["shown"], key="card")

    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["shown"] = (found, ["Top-k 3"], words_for(language))
    app.run()
    assert not app.exception, app.exception
    (drawn,) = [item.proto.json for item in app.get("bidi_component")]
    return json.dumps(json.loads(drawn), ensure_ascii=False)


@pytest.mark.parametrize("language", BOTH)
def test_only_a_measurably_better_setting_is_called_recommended(language: UiLanguage) -> None:
    words = words_for(language)
    better = drawn_recommendation(recommended(15), language)
    assert words("Recommended") in better and words("No setting is measurably better") not in better
    equal = recommended(2, cost_verdict="better", never_corrects=True)
    said = drawn_recommendation(equal, language)
    for part in (
        words("No setting is measurably better"),
        words("The cheapest equal one: {settings}", settings="Top-k 3"),
        words(
            "It switches self-correction off: on these questions no rewrite was measurably of use; on others one may "
            "be."
        ),
    ):
        assert part in said and part in recommendation_text(equal, ["Top-k 3"], words)
    assert words("Recommended") not in said


def test_too_poor_a_sweep_recommends_nothing_and_says_why() -> None:
    said = drawn_recommendation(recommended(15, choice="too_poor"), "en")
    assert "No recommendation" in said and "reaches 0.30 (found and answered)" in said
    assert "Try it" not in said


@pytest.mark.parametrize(("better", "stars"), [(15, [2]), (2, [])])
def test_a_star_stands_only_where_a_setting_is_measurably_better(better: int, stars: list[int]) -> None:
    base = replace(BEFORE, top_k=2)
    swept = sweep(hidden(40, better=better), base, [Axis("top_k", (1, 2, 3))])
    made = Tried(
        swept.axes,
        swept.configs,
        tuple(swept.settings(place) for place in range(3)),
        {measure: swept.evaluation.figures(measure) for measure in ("quality", "steps")},
        swept.possible,
        {"steps": front(swept)},
    )
    points = points_of(made, evaluate(swept.evidence, [base, base]), "steps", recommend(swept, base), EN)
    assert [place for place, item in enumerate(points) if item.kind == "recommended"] == stars
    assert [item.kind for item in points].count("current") == 1


@pytest.mark.parametrize("language", BOTH)
def test_while_questions_run_a_card_says_where_its_figure_will_end_and_no_change(
    evidence: Evidence, language: UiLanguage
) -> None:
    """Who looks again and again, and stops where it pleases, must not be misled."""
    words = words_for(language)
    names = tuple(case.id for case in evidence.cases)
    evaluation = evaluate(evidence, [BEFORE, replace(BEFORE, grade_pass_threshold=0.0)])
    still = tuple(f"to come {place}" for place in range(40))
    first = cards_of(evaluation, words, Drawn((*names, *still), frozenset(names)))[0]
    interval = anytime_of(evaluation, "context_hit", AFTER, Drawn((*names, *still), frozenset(names)))
    assert interval is not None and 0 < interval.low < interval.value < interval.high <= 1
    assert first.note == words("{low} – {high} at the end", low=f"{interval.low:.2f}", high=f"{interval.high:.2f}")
    seconds = cards_of(evaluation, words, Drawn((*names, *still), frozenset(names)))[-1]
    assert seconds.note == words("n = {n} so far", n=evaluation.figure("seconds", AFTER).n)


def test_the_bar_of_a_running_batch_says_what_it_has_cost_and_who_is_at_work() -> None:
    progress = BatchProgress(40, 2, 100, 2.5, 23.2, running=True, spent=Spent(1234, 56789), workers=3)
    said = ["42 of 100", "2 failed", "3 workers", "2.5 a second", "23 s left", "1234 calls so far"]
    assert progress_parts(progress, EN) == [*said, "56\N{THIN SPACE}789 tokens"]
    assert progress_parts(progress, ZH)[2] == "3 个工作进程"
    waiting = replace(progress, workers=0, spent=Spent(), rate_per_s=0.0, remaining_s=None)
    assert progress_parts(waiting, EN) == ["42 of 100", "2 failed", "waiting for a worker"]
    assert progress_parts(replace(waiting, gives_up_s=90.0), EN)[-1] == "gives up in 90 s"
