"""Measured speed: whether several calls at once are really faster here, what is kept of it, and who uses it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import HostBusy, InvalidConfig, ModelError
from engine.host.notes import SpeedNotes
from engine.host.values import ModelSpeed, SpeedStep
from engine.llm import speed as speeds
from engine.llm.speed import best_at_once, measure
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.running.resources import Resources
from engine.settings import Settings
from tests.host.hosting import hosting, until
from tests.llm.recording import passage, settings_for
from tests.support.ollama_stand_in import NotFound, OllamaStandIn, ServerError
from tests.support.ollama_stand_in.models import card_for
from tests.support.openai_stand_in import OpenAIStandIn

MODEL = "ollama:qwen3:8b"
VERDICT = '{"relevant":true,"confidence":0.9,"reason":"So."}'
"""One piece of a stream, so that a call takes the time of one piece."""


def step(at_once: int, wall_s: float, failed: int = 0, calls: int = 8) -> SpeedStep:
    return SpeedStep(at_once, calls, wall_s, failed)


def measured(server: OllamaStandIn | OpenAIStandIn, model: str = MODEL, budget_s: float = 6.0) -> ModelSpeed:
    own = isinstance(server, OpenAIStandIn)
    settings = settings_for("http://127.0.0.1:1", openai_url=server.url) if own else settings_for(server.url)
    return asyncio.run(measure(RoleModel(model), settings, "d", lambda *_: None, budget_s))


def kept(model: str = MODEL, digest: str = "d", best: int = 2) -> ModelSpeed:
    steps = (step(1, 8.0), step(2, 4.0))
    return ModelSpeed(model, digest, 1.5, 200.0, 30.0, steps, best, "2026-01-01T00:00:00+00:00")


@pytest.mark.parametrize(
    ("steps", "best"),
    [
        ((step(1, 8), step(2, 8), step(4, 8), step(8, 8)), 1),
        ((step(1, 8), step(2, 4), step(4, 2), step(8, 1)), 8),
        ((step(1, 8), step(2, 4), step(4, 2.1), step(8, 2)), 4),
        ((step(1, 8), step(2, 4), step(4, 2, failed=1), step(8, 1, failed=3)), 2),
        ((step(1, 8, failed=1), step(2, 4, failed=1)), 2),
        ((step(1, 8),), 1),
    ],
)
def test_the_best_is_the_smallest_number_within_a_tenth_of_the_quickest(
    steps: tuple[SpeedStep, ...], best: int
) -> None:
    assert best_at_once(steps) == best


def test_four_at_once_are_faster_only_where_the_server_works_on_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speeds, "REPEATS", 1)

    def best(works_on: int, expected: Callable[[int], bool]) -> int:
        """What is measured: once more where what else this machine did was in the way."""
        for _ in range(4):
            with OllamaStandIn(["qwen3:8b"], lambda _: VERDICT, per_token_s=0.1, at_once=works_on) as server:
                found = measured(server, budget_s=60.0).best_at_once
                assert server.max_concurrent >= 4
            if expected(found):
                break
        return found

    assert best(8, lambda found: found > 2) > 2
    assert best(1, lambda found: found <= 2) <= 2


def test_the_warm_up_is_that_of_a_cold_model_and_tokens_come_from_ollamas_counters() -> None:
    with OllamaStandIn(["qwen3:8b"], lambda _: "one two three four", per_token_s=0.01, load_s=0.4) as server:
        server.script("chat", NotFound())
        with pytest.raises(ModelError):
            measured(server)
        server.forget_script("chat")
        server.loaded["qwen3:8b"] = card_for("qwen3:8b")
        found = measured(server, budget_s=0.5)
    assert found.warm_up_s >= 0.4
    assert found.tokens_per_s is not None and 20 < found.tokens_per_s < 2000
    assert found.prompt_tokens_per_s is not None and found.prompt_tokens_per_s > 0
    assert server.requests_to("chat")[1].body["keep_alive"] == 0


def test_a_slow_model_leaves_steps_out_and_stays_near_its_budget() -> None:
    with OllamaStandIn(["qwen3:8b"], lambda _: VERDICT, per_token_s=0.25, at_once=1) as server:
        found = measured(server, budget_s=2.0)
    assert found.steps and found.steps[-1].at_once <= 4
    assert len(server.requests_to("chat")) < 24


def test_another_provider_is_timed_from_outside() -> None:
    with OpenAIStandIn(reply=lambda _: "one two three four five", per_token_s=0.02) as server:
        found = measured(server, "openai:qwen2.5-7b-instruct", budget_s=1.0)
    assert found.prompt_tokens_per_s is None
    # No upper end: on a busy machine all tokens are read at once.
    assert found.tokens_per_s is not None and found.tokens_per_s > 0
    assert found.warm_up_s > 0.02


def test_failing_calls_are_counted_and_a_model_that_never_answers_is_a_fault(tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b"], lambda _: VERDICT) as server, hosting(tmp_path, ollama_url=server.url) as host:
        server.script("chat", *[ServerError(500)] * 60)
        host.start_measure(MODEL)
        failed = until(lambda: host.measuring, lambda found: found is not None and found.over)
        assert failed is not None and failed.fault is not None
        assert (failed.state, failed.fault.code, failed.result) == ("failed", "WB405", None)
        assert host.speeds() == ()


def test_a_measurement_is_kept_by_the_digest_of_its_model_and_used_by_graders(tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b"], lambda _: VERDICT) as server, hosting(tmp_path, ollama_url=server.url) as host:
        assert host.concurrency_of(MODEL) == 4
        host.start_measure(MODEL)
        with pytest.raises(HostBusy):
            host.start_measure(MODEL)
        done = until(lambda: host.measuring, lambda found: found is not None and found.over)
        assert done is not None and done.state == "done" and done.result is not None
        assert host.speeds() == (done.result,)
        assert done.result.digest == card_for("qwen3:8b").digest
        assert host.concurrency_of(MODEL) == done.result.best_at_once
        assert host.concurrency_of("ollama:other") == 4
    assert SpeedNotes(tmp_path / "host.json").all() == (done.result,)


def test_a_measurement_can_be_stopped_and_leaves_nothing(tmp_path: Path) -> None:
    server = OllamaStandIn(["qwen3:8b"], lambda _: VERDICT, per_token_s=0.3)
    with server, hosting(tmp_path, ollama_url=server.url) as host:
        host.start_measure(MODEL)
        until(lambda: host.measuring, lambda found: found is not None and found.done > 2)
        host.stop_measure()
        stopped = host.measuring
        assert stopped is not None and (stopped.state, stopped.result) == ("stopped", None)
        server.wait_for(lambda seen: seen.in_flight == 0)
    assert not (tmp_path / "host.json").exists()


def test_what_makes_no_calls_cannot_be_measured(tmp_path: Path) -> None:
    with hosting(tmp_path) as host:
        for name in ("builtin", "nonsense"):
            with pytest.raises(InvalidConfig):
                host.start_measure(name)
        assert host.measuring is None


def test_a_newer_measurement_takes_the_place_of_the_older_of_its_model(tmp_path: Path) -> None:
    notes = SpeedNotes(tmp_path / "host.json")
    notes.keep(kept(digest="old"))
    notes.keep(kept("openai:x", ""))
    notes.keep(kept(digest="new", best=8))
    assert [(item.model, item.digest) for item in notes.all()] == [(MODEL, "new"), ("openai:x", "")]
    assert notes.of(MODEL, "old") is None
    assert SpeedNotes(notes.path).all() == notes.all()
    assert [path.name for path in tmp_path.iterdir()] == ["host.json"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"speeds": [{"model": 1}]}', '{"speeds": [3]}', "\x00", '{"speeds": 7}']
)
def test_a_damaged_file_is_ignored_and_said(content: str, tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    path.write_text(content, encoding="utf-8")
    with hosting(tmp_path) as host:
        assert host.speeds() == ()
        (faults,) = [item for item in host.health() if item.part == "faults"]
    assert faults.health == "warning"
    assert faults.fault is not None and (faults.fault.code, faults.fault.params["path"]) == ("WB617", str(path))
    assert path.read_text(encoding="utf-8") == content


def test_a_number_out_of_range_in_the_file_is_damage_too(tmp_path: Path) -> None:
    notes = SpeedNotes(tmp_path / "host.json")
    notes.keep(kept())
    spoiled = json.loads(notes.path.read_text(encoding="utf-8"))
    spoiled["speeds"][0]["best_at_once"] = 10_000
    notes.path.write_text(json.dumps(spoiled), encoding="utf-8")
    again = SpeedNotes(notes.path)
    assert again.all() == () and again.damage is not None


def test_a_measured_number_is_used_and_said_in_the_manifest_unless_one_was_set(tmp_path: Path) -> None:
    """SC-10: the record says with how many calls at once its passages were graded."""

    async def said(settings: Settings) -> tuple[str, str]:
        resources = Resources(settings)
        resources.speeds.keep(kept(digest=card_for("qwen3:8b").digest, best=2))
        try:
            _, chat = await resources.roles(RunConfig(models=RoleModels(grader=RoleModel(MODEL))))
            _, builtin = await resources.roles(RunConfig())
            return chat["grader_concurrency"], builtin["grader_concurrency"]
        finally:
            await resources.close()

    with OllamaStandIn(["qwen3:8b"]) as server:
        found = asyncio.run(said(Settings.load(ollama_url=server.url, data_dir=tmp_path)))
        assert found == ("2", "4")
        with hosting(tmp_path, ollama_url=server.url) as measured_here:
            assert measured_here.concurrency_of(MODEL) == 2
        with hosting(tmp_path, ollama_url=server.url, grader_concurrency=4) as set_by_hand:
            assert set_by_hand.concurrency_of(MODEL) == 4


def test_gradings_really_go_out_as_many_at_once_as_were_measured(tmp_path: Path) -> None:
    async def graded(resources: Resources) -> None:
        grader = await resources.fresh_grader(RunConfig(models=RoleModels(grader=RoleModel(MODEL))))
        await grader.grade("Why?", [passage(number) for number in range(6)])
        await resources.close()

    with OllamaStandIn(["qwen3:8b"], lambda _: VERDICT, per_token_s=0.02) as server:
        resources = Resources(Settings.load(ollama_url=server.url, data_dir=tmp_path))
        resources.speeds.keep(kept(digest=card_for("qwen3:8b").digest, best=2))
        asyncio.run(graded(resources))
    concurrent = max(
        sum(other.started <= one.started < (other.finished or 0.0) for other in server.requests_to("chat"))
        for one in server.requests_to("chat")
    )
    assert concurrent == 2


def test_the_widest_step_has_as_many_calls_as_it_makes_at_once() -> None:
    assert max(speeds.AT_ONCE) <= speeds.CALLS
