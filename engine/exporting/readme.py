"""What an exported project says of itself: how it is run, what it does alike, and what it leaves to the workbench."""

from __future__ import annotations

from engine.exporting.collection import Collection
from engine.exporting.graph_file import Machine
from engine.llm.faults import known_provider
from engine.model.config import RunConfig
from engine.model.version import __version__


def readme(config: RunConfig, collection: Collection, machine: Machine) -> str:
    """``README.md``, in English with a paragraph of Chinese."""
    return f"""# A self-corrective RAG loop

Exported by the Self-Corrective RAG Workbench {__version__}: the four-node loop with the settings that you chose, as a
LangGraph graph. It takes the decisions that the workbench takes with these settings, on the same Milvus and the same
models.

```sh
python3 -m venv .venv
.venv/bin/python -m pip install -r requirements.txt
.venv/bin/python graph.py "your question"
```

Addresses and keys are environment variables, listed in `.env.example` with the values that count without them.
After `cp .env.example .env`, `langgraph dev` (package `langgraph-cli[inmem]`) opens the graph in LangGraph Studio, by
`langgraph.json`. In a program of your own: `from graph import graph`, then `await graph.ainvoke({{"question": "…"}})`.

**中文** 这是从工作台导出的四节点循环（LangGraph），带有所选设置与提示词，不依赖工作台即可运行；
用同样的 Milvus 与模型，作出同样的决策。按上面几行命令安装并运行；地址与密钥是环境变量，见 `.env.example`。

| file | what it is |
| --- | --- |
| `graph.py` | settings, prompts, state, nodes and edges: read and change this one |
| `workbench_parts.py` | functions of the workbench, word for word: reading replies, words, citations |
| `*.json` beside them | word lists of those functions |
| `anchors.npz` | vectors that tell which cosine counts as similarity 0, for {collection.embedding_model} |
| `langgraph.json`, `requirements.txt`, `.env.example` | for LangGraph's command line, pip, and your addresses |

## What it needs

- The collection `{collection.name}` at `{collection.uri}`.{_lite(collection)}
- The embedding model `{collection.embedding_model}`{_served(collection, machine)}
{_models(config)}
## What it does not do

- It keeps no records and no verdicts: each run asks the models again, and no page shows it.
- The similarity floor belongs to the embedding model, and the fields to this collection: after a change of
  either, export again.
{_pace(config, machine)}- It does not note how questions ended, which other workflows of the workbench learn from.
"""


def env_example(config: RunConfig, collection: Collection, machine: Machine) -> str:
    """``.env.example``: what the files read from the environment, with the values that they take without it."""
    lines = [f"MILVUS_URI={collection.uri}", "MILVUS_TOKEN=", f"MILVUS_DATABASE={collection.database}"]
    providers = providers_of(config)
    if "ollama" in providers or collection.embedder == "ollama":
        lines.append(f"OLLAMA_BASE_URL={machine.ollama_url}")
    if "openai" in providers:
        lines += [f"OPENAI_BASE_URL={machine.openai_url}", "OPENAI_API_KEY="]
    lines += [f"{known_provider(name).variable}=" for name in sorted(providers - {"ollama", "openai"})]
    return "\n".join(lines) + "\n"


def providers_of(config: RunConfig) -> set[str]:
    """The providers of the chat models that the loop asks."""
    models = config.models
    chats = [model for model in (models.grader, models.rewriter, models.generator) if model.chats]
    return {model.model.partition(":")[0] for model in chats}


def _lite(collection: Collection) -> str:
    if not collection.lite:
        return " `MILVUS_URI` and `MILVUS_TOKEN` lead to it."
    return " That is a folder of Milvus Lite, which one process\n  can open at a time: close the workbench first."


def _served(collection: Collection, machine: Machine) -> str:
    if collection.embedder == "ollama":
        return f", served by Ollama at `{machine.ollama_url}`."
    return ", which needs no server."


def _models(config: RunConfig) -> str:
    models = config.models
    roles = {"grader": models.grader, "rewriter": models.rewriter, "generator": models.generator}
    built_in = "the built-in one of the workbench, in `workbench_parts.py`"
    return "".join(f"- As {role}: {built_in if item.built_in else item.model}.\n" for role, item in roles.items())


def _pace(config: RunConfig, machine: Machine) -> str:
    if not config.models.grader.chats:
        return ""
    return (
        "- It does not slow down for other runs, and does not learn how long a model takes: a verdict has\n"
        f"  {machine.call_timeout_s:g} s, and {machine.calls_at_once} are asked for at the same time.\n"
    )
