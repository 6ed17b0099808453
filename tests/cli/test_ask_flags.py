"""Flags of ``ask``: each reaches the configuration of the run, and help says its range."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cli import main as cli
from engine.errors import InvalidConfig
from engine.model.config import (
    PARAMETERS,
    SETTINGS,
    RoleModel,
    RunConfig,
    config_from_dict,
)


def config_of(*flags: str) -> RunConfig:
    return cli._config(cli._parser().parse_args(["ask", "hi", *flags]))


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def test_without_flags_a_run_has_the_defaults() -> None:
    assert config_of() == RunConfig()


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_number_of_a_run_can_be_set(name: str) -> None:
    """SC-08"""
    limits = PARAMETERS[name]
    for value in (limits.low, limits.high):
        # Cuts must not cross.
        both = {"cascade_low": 0, "cascade_high": 1} if name.startswith("cascade") else {}
        given = [part for other, bound in {**both, name: value}.items() for part in (flag(other), f"{bound:g}")]
        assert config_of(*given) == RunConfig(**{**both, name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, choice) for name, setting in SETTINGS.items() for choice in setting.choices),
        ("collection", "mine"),
    ],
)
def test_every_choice_of_a_run_can_be_set(name: str, value: Any) -> None:
    """SC-05, SC-07"""
    assert getattr(config_of(flag(name), value), name) == value


@pytest.mark.parametrize(
    ("workflow", "flags", "options"),
    [
        ("quality_loop", ["--grade-on", "top3", "--medium-score", "0.4"], {"grade_on": "top3", "medium_score": 0.4}),
        ("dual_loop", ["--max-corrections", "1", "--no-memory", "--web-search"], None),
        (
            "graph_hybrid",
            [
                "--hops",
                "1",
                "--rerank",
                "always",
                "--mode-from",
                "analysis",
                "--refine",
                "--no-answer-directly",
                "--tables-only",
            ],
            {
                "hops": 1,
                "rerank": "always",
                "mode_from": "analysis",
                "refine": True,
                "answer_directly": False,
                "tables_only": True,
            },
        ),
        ("answer_evaluation", ["--gener-epoch", "5"], {"gener_epoch": 5}),
    ],
)
def test_options_of_a_workflow_can_be_set(workflow: str, flags: list[str], options: dict[str, Any] | None) -> None:
    """QL-02, DL-04, DL-07, AE-01"""
    wanted = options or {"max_corrections": 1, "memory": False, "web_search": True}
    assert config_of("--workflow", workflow, *flags) == config_from_dict({"workflow": workflow, "options": wanted})


def test_an_option_of_another_workflow_is_refused() -> None:
    with pytest.raises(InvalidConfig):
        config_of("--gener-epoch", "2")


@pytest.mark.parametrize("name", ["answer_unverified", "ignore_cache"])
def test_every_switch_of_a_run_can_be_set(name: str) -> None:
    assert getattr(config_of(flag(name)), name) is True


def test_numbers_of_models_apply_to_the_chat_models_named_and_to_no_others() -> None:
    config = config_of("--grader", "ollama:qwen3:8b", "--num-ctx", "16384", "--temperature", "0.5")
    assert config.models.grader == RoleModel("ollama:qwen3:8b", temperature=0.5, num_ctx=16384)
    assert config.models.rewriter == config.models.generator == RoleModel()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--num-ctx", "1"], "num_ctx must lie between 512 and 1048576."),
        (["--temperature", "2.5"], "temperature must lie between 0 and 2."),
        (["--probe-k", "101"], "probe_k must lie between 1 and 100."),
        (["--generator", "ollama:"], "names a provider and no model"),
    ],
)
def test_a_value_out_of_range_is_bad_use(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ask", "hi", *flags]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--attach", "note.png"], "Choose the workflow graph_hybrid"),
        (["--workflow", "graph_hybrid", "--attach", "no/such/note.png"], "'no/such/note.png' cannot be read"),
        (["--workflow", "graph_hybrid", *["--attach", "note.png"] * 7], "7 attachments; the limit is 6"),
    ],
)
def test_attachments_that_nothing_would_look_at_are_bad_use(
    flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """GH-05"""
    assert cli.main(["ask", "hi", *flags]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("flags", [["--gate", "all"], ["--context", "none"], ["--num-ctx", "4096.5"]])
def test_what_is_no_choice_at_all_is_bad_use(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["ask", "hi", *flags])
    assert caught.value.code == 2
    assert flags[0] in capsys.readouterr().err


def test_help_shows_every_range_and_every_choice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        cli.main(["ask", "--help"])
    shown = capsys.readouterr().out
    for name, limits in PARAMETERS.items():
        assert f"{flag(name)} {limits.low:g}..{limits.high:g}" in shown
    assert "--num-ctx 512..1048576" in shown
    assert "--temperature 0..2" in shown
    assert "--gate {min_relevant,pass_rate}" in shown
    assert "--context {union,last_round}" in shown
