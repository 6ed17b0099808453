"""README of an exported project: how it is run, what it does as the workbench does, and what it leaves to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.flow import workflow
from engine.knowledge.milvus_connection import embedded
from engine.llm.faults import known_provider
from engine.model.config import RunConfig
from engine.settings import Settings
from engine.version import __version__
from plugins.export.program import VARIABLES


def readme(config: RunConfig, saved: Mapping[str, Any], modules: int) -> str:
    """``README.md``, in English with a paragraph of Chinese."""
    return f"""# {workflow(config.workflow).name} as a LangGraph project

Exported by the Self-Corrective RAG Workbench {__version__}: the workflow `{config.workflow}` with the settings that you
chose. It runs the workbench's own steps, so it takes the decisions that the workbench takes with these settings, on the
same Milvus and the same models.

```sh
python3 -m venv .venv
.venv/bin/python -m pip install -r requirements.txt
.venv/bin/python graph.py "your question"
```

Addresses and keys are environment variables, listed in `.env.example`. After `cp .env.example .env`, `langgraph dev`
(package `langgraph-cli[inmem]`) opens the graph in LangGraph Studio, by `langgraph.json`. In a program of your own:
`from graph import graph`, then `await graph.ainvoke({{"question": "…"}})`.

**中文** 这是从工作台导出的工作流（LangGraph），带有所选设置，运行的就是工作台自己的步骤，但不依赖工作台；
用同样的 Milvus 与模型，作出同样的决策。按上面几行命令安装并运行；地址与密钥是环境变量，见 `.env.example`。

| file | what it is |
| --- | --- |
| `graph.py` | the graph: nodes and ways of the workflow, each node a step |
| `settings.json` | thresholds, models, and where the collection is: change them here |
| `engine/`, `plugins/` | the workbench's own modules that these settings need, word for word: {modules} files |
| `engine/workflows/{config.workflow}/` | the workflow: what its steps do, and what decides |
| `anchors/` or `engine/samples/` | vectors from which it follows which cosine counts as similarity 0 |
| `langgraph.json`, `requirements.txt`, `.env.example` | for LangGraph's command line, pip, and your addresses |

## What it needs

{"".join(_needs(config, saved))}
## What it does not do

- It keeps no records and no verdicts: each run asks the models again, and no page shows it.
- The anchors belong to the embedding model, and layout and kinds of sources to the collection as it was: after a
  change of either, export again.
- It does not note how questions ended, which the quality-control loop of the workbench learns from.
- Questions come without images and tables.
"""


def env_example(config: RunConfig, saved: Mapping[str, Any]) -> str:
    """``.env.example``: what the files read from the environment, with the values that they take without it."""
    collection, settings = saved["collection"], saved["settings"]
    lines = [f"MILVUS_URI={collection['uri']}", "MILVUS_TOKEN=", f"MILVUS_DATABASE={collection['database']}"]
    if saved["graphs"]:
        lines.append(f"GRAPHS={saved['graphs']}")
    models = [config.models.of(role).model for role in workflow(config.workflow).roles_asked(config)]
    used = {name.partition(":")[0] for name in (*models, collection["info"]["embedding_model"])}
    for name, variable in VARIABLES.items():
        if name.partition("_")[0] in used or (name == "searxng_url" and name in settings):
            usual = Settings.model_fields[name].default
            lines.append(f"{variable}={settings.get(name, usual if isinstance(usual, str) else '')}")
    known = sorted({name.partition(":")[0] for name in models if ":" in name} - {"ollama", "openai"})
    keys = (known_provider(name).variable for name in known if name not in ("rerank", "cross_encoder"))
    return "\n".join([*lines, *(f"{variable}=" for variable in keys)]) + "\n"


def _needs(config: RunConfig, saved: Mapping[str, Any]) -> Iterator[str]:
    collection = saved["collection"]
    lite = embedded(collection["uri"])
    closed = " That is a folder of Milvus Lite, which one\n  process can open at a time: close the workbench first."
    led = closed if lite else " `MILVUS_URI` and `MILVUS_TOKEN` lead to it."
    yield f"- The collection `{collection['layout']['collection']}` at `{collection['uri']}`.{led}\n"
    yield f"- The embedding model `{collection['info']['embedding_model']}`.\n"
    for role in workflow(config.workflow).roles_asked(config):
        model = config.models.of(role)
        yield f"- As {role}: {'the built-in one' if model.built_in else model.name}.\n"
    for role in saved["fits"]:
        yield f"- The fit of the {role} to the collection is in `settings.json`, with the examples that it may have.\n"
    if saved["graphs"]:
        yield f"- The knowledge graph in `{saved['graphs']}`, which it only reads.\n"
    if saved["history"]:
        yield f"- The {len(saved['history'])} newest questions of the history of weak points are in `settings.json`.\n"
