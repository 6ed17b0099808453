"""Fits that were kept: what a run judges with them, what its record says, and that verdicts are never mixed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.builtin.grader import load_coefficients
from engine.database.base import Database
from engine.database.tables import Part
from engine.engine import Engine
from engine.errors import InvalidConfig
from engine.evaluation.fit_builtin import Refit, weighed_pairs
from engine.evaluation.fit_scores import Calibration, scored_pairs
from engine.evaluation.fitting import Subject, trial
from engine.evaluation.grader_bench import pairs
from engine.evaluation.grader_fits import GraderFits
from engine.model.config import RoleModel, RoleModels, RunConfig, config_from_dict, config_from_stored
from engine.model.grader_fit import GraderFit, calibrated, sigmoid
from engine.model.people import Person
from engine.model.settings_difference import settings_difference
from engine.model.values import RunRecord, Verdict
from engine.people import acting_as
from engine.settings import Settings
from tests.support.tiny_cross_encoder import write_cross_encoder

QUESTION = "How many rows does a truth table with five variables need?"
CROSS = "cross_encoder:tiny/overlap"
TABLE = {"scores": [-3.0, 0.0], "chances": [0.1, 0.2, 0.4, 0.6, 0.8]}
CALIBRATION = GraderFit("calibration", CROSS, "samples", TABLE, judgements=60, figures={"kappa": (0.1, 0.4)})


def config(grader: str, **more: object) -> RunConfig:
    return RunConfig(max_rewrites=0, models=RoleModels(grader=RoleModel(grader)), **more)  # type: ignore[arg-type]


@pytest.fixture
def fits(database_of: Callable[[Part], Database]) -> GraderFits:
    return GraderFits(database_of("evaluation"))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("fits")
    write_cross_encoder(folder / "rerankers" / "tiny" / "overlap", [QUESTION, "rows truth table variables"])
    with Engine.open(Settings.load(data_dir=folder, ollama_url="http://127.0.0.1:1")) as opened:
        opened.wait_until_ready()
        yield opened


def shifted(by: float) -> GraderFit:
    """The shipped coefficients for English with another intercept."""
    own = load_coefficients()["en"]
    return GraderFit(
        "coefficients",
        "builtin",
        "samples",
        {"languages": {"en": {"intercept": own.intercept + by, "weights": dict(own.weights), "strength": 1.0}}},
    )


# -- what is kept ---------------------------------------------------------------------------------------------------


def test_a_fit_is_kept_once_and_found_by_its_id(fits: GraderFits) -> None:
    assert fits.of("samples") == ()
    with acting_as(Person("ada@example.org", "Ada", "editor")):
        kept = fits.keep(CALIBRATION)
    assert kept.author == "ada@example.org" and kept.made_at
    assert fits.keep(replace(CALIBRATION, judgements=99)) == kept, "who keeps the same again changes nothing"
    assert fits.of("samples") == (kept,) and fits.of("other") == ()
    found = fits.used_by(RoleModel(kept.name), "samples")
    assert found == kept and found.data == TABLE and found.figures["kappa"] == (0.1, 0.4)
    assert fits.used_by(RoleModel(CROSS), "samples") is None


@pytest.mark.parametrize(
    ("grader", "collection"), [("builtin", "samples"), ("cross_encoder:other", "samples"), (CROSS, "mine")]
)
def test_a_fit_is_for_its_own_grader_and_collection(fits: GraderFits, grader: str, collection: str) -> None:
    kept = fits.keep(CALIBRATION)
    with pytest.raises(InvalidConfig, match=kept.id):
        fits.used_by(RoleModel(grader, fit=kept.id), collection)
    with pytest.raises(InvalidConfig, match="No fit"):
        fits.used_by(RoleModel(CROSS, fit="0" * 12), "samples")


# -- how a config names it ------------------------------------------------------------------------------------------


def test_a_config_names_a_fit_in_the_name_of_the_grader_and_next_to_it() -> None:
    written = config_from_dict({"models": {"grader": "builtin#0123456789ab"}}).models.grader
    assert written == RoleModel("builtin", fit="0123456789ab") and written.built_in
    assert written.name == "builtin#0123456789ab"
    stored = config_from_stored({"models": {"grader": {"model": CROSS, "fit": "0123456789ab"}}}).models.grader
    assert stored == RoleModel(f"{CROSS}#0123456789ab")
    assert config_from_stored({"models": {"grader": {"model": CROSS}}}).models.grader.fit == ""
    assert RoleModel("ollama:odd#name").model == "ollama:odd#name", "a name with a hash of its own"
    usual = RoleModels(grader=written)
    assert config_from_dict({"models": {"grader": {"model": "ollama:m"}}}, usual).models.grader == RoleModel("ollama:m")


@pytest.mark.parametrize("plain", [{"generator": "builtin#0123456789ab"}, {"grader": {"fit": "no id"}}])
def test_a_fit_that_none_can_be_is_refused(plain: dict[str, object]) -> None:
    with pytest.raises(InvalidConfig):
        config_from_dict({"models": plain})


def test_a_fit_is_a_difference_of_settings() -> None:
    (change,) = settings_difference(config("builtin"), config("builtin#0123456789ab"))
    assert (change.name, change.a, change.b) == ("models.grader.fit", "", "0123456789ab")


# -- what a run does with it ----------------------------------------------------------------------------------------


def test_a_calibrated_run_says_so_and_a_what_if_without_it_needs_no_call(engine: Engine) -> None:
    fit = engine.grader_fits.keep(CALIBRATION)
    plain, fitted = engine.run(QUESTION, config(CROSS)), engine.run(QUESTION, config(fit.name))
    for before, after in zip(verdicts(plain), verdicts(fitted), strict=True):
        assert before.raw == after.raw is not None
        assert before.p_relevant == pytest.approx(sigmoid(before.raw or 0.0)) and before.fit == ""
        assert after.p_relevant == pytest.approx(calibrated(TABLE, after.raw or 0.0)) and after.fit == fit.id
    assert fitted.manifest["grader_fit"] == f"calibration@{fit.id}" and "grader_fit" not in plain.manifest
    assert engine.record(fitted.id).config.models.grader.fit == fit.id
    assert engine.what_if(fitted, fitted.config).same_path
    for record, other in ((fitted, plain), (plain, fitted)):
        found = engine.what_if(record, other.config)
        assert found.path_known and found.decisions == other.decisions


def test_the_built_in_grader_judges_with_the_coefficients_of_its_fit(engine: Engine) -> None:
    fit = engine.grader_fits.keep(shifted(-3.0))
    plain, fitted = engine.run(QUESTION, config("builtin")), engine.run(QUESTION, config(fit.name))
    assert all(
        after.p_relevant < before.p_relevant for before, after in zip(verdicts(plain), verdicts(fitted), strict=True)
    )
    assert fitted.manifest["grader_fit"] == f"coefficients@{fit.id}"
    assert all(item.fit == fit.id for item in verdicts(fitted))


def test_judging_again_uses_the_fit_of_the_run(engine: Engine) -> None:
    for fit, grader in ((CALIBRATION, CROSS), (shifted(-2.0), "builtin")):
        kept = engine.grader_fits.keep(fit)
        record = engine.run(QUESTION, config(kept.name))
        again = engine.start_regrade([record], 1).result(60)
        made = {name: given[0] for name, given in again.verdicts[record.id].items()}
        assert made == dict(record.rounds[0].verdicts), grader


def test_a_run_with_a_fit_of_another_collection_does_not_begin(engine: Engine) -> None:
    fit = engine.grader_fits.keep(replace(CALIBRATION, collection="other"))
    record = engine.run(QUESTION, config(fit.name))
    assert record.outcome == "failed" and fit.id in (record.error.fact if record.error else "")


# -- from judgements to a fit ---------------------------------------------------------------------------------------


def verdicts(record: RunRecord) -> list[Verdict]:
    return list(record.rounds[0].verdicts.values())


def test_the_sample_questions_teach_both_kinds_of_grader(engine: Engine) -> None:
    """Every pair that a run judged is there again, with what the grader saw of it."""
    cases = [case for case in engine.evaluation.query_set("samples").cases if case.language == "en"][:12]
    for grader in ("builtin", CROSS):
        records = {case.id: engine.run(case.question, config(grader, grade_probe=True)) for case in cases}
        graded = pairs(cases, records)
        labelled = [item for item in graded if item.label is not None]
        subject = Subject(grader, "samples", 0.5)
        if grader == "builtin":
            weighed = weighed_pairs(graded, records)
            # Similarities are recorded with four decimals.
            assert Refit().shipped(weighed) == pytest.approx([item.p_relevant for item in labelled], abs=2e-3)
            found = trial(Refit(), weighed, subject)
        else:
            scored = scored_pairs([replace(graded[0], label=None), *graded], records)
            assert Calibration().shipped(scored) == pytest.approx([item.p_relevant for item in labelled])
            found = trial(Calibration(), scored, subject)
        assert found.before.n == len(labelled) > 40
        assert found.fit is not None and found.after is not None
        kept = engine.grader_fits.keep(found.fit)
        again = engine.run(cases[0].question, config(kept.name, grade_probe=True))
        chances = {name: verdict.p_relevant for name, verdict in again.first_verdicts(by_hand=False).items()}
        if grader == CROSS:
            mine = [item for item in scored if item.pair.case_id == cases[0].id]
            expected = dict(
                zip((item.pair.passage_id for item in mine), Calibration().chances(kept.data, mine), strict=True)
            )
            assert chances == pytest.approx(expected)
