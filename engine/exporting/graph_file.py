"""The exported ``graph.py``: the loop with the settings at hand, and the parts of the engine that it imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from engine.builtin.generator import BuiltinGenerator
from engine.exporting.bundle import Bundle, import_lines
from engine.exporting.collection import Collection
from engine.exporting.folding import folded, used_parts
from engine.exporting.literals import assigned
from engine.exporting.module_source import Imported
from engine.exporting.prompts import prompt_values, prompt_versions
from engine.knowledge.milvus_words import FROM_LITE
from engine.llm.chat import SHORTEST_REPLY
from engine.llm.generator import ChatGenerator
from engine.llm.rewriter import ChatRewriter
from engine.llm.role import ChatRole
from engine.model.config import RoleModel, RunConfig
from engine.retrieval.reciprocal import RANK_CONSTANT, TEXT_WEIGHT, search_depth
from engine.settings import Settings

PARTS = "workbench_parts"
_FIRST_MARK, _LAST_MARK = "# settings: ", "# end of settings\n"
_CLASS = re.compile(r"@dataclass\(frozen=True\)\nclass ChatModel:.*?\n\n\n", re.S)


@dataclass(frozen=True, slots=True)
class Machine:
    """What settings of this machine a run's course depends on."""

    ollama_url: str
    openai_url: str
    keep_alive: str | int
    call_timeout_s: float
    answer_allowance_s: float
    calls_at_once: int


@dataclass(frozen=True, slots=True)
class GraphFile:
    """``graph.py`` with the module beside it."""

    text: str
    parts: Bundle
    packages: frozenset[str]
    """Top names of what both import."""


def graph_file(config: RunConfig, collection: Collection, machine: Machine, settings: Settings) -> GraphFile:
    """Write the program of a config that :func:`engine.exporting.project.refuse` lets through."""
    template = Path(__file__).with_name("loop.py").read_text(encoding="utf-8")
    _, head, rest = template.partition(_FIRST_MARK)
    imports, (_, _, program) = template.partition(_FIRST_MARK)[0], rest.partition(_LAST_MARK)
    assert head and program
    decided = decided_by(config, collection)
    chat_model = _CLASS.search(rest)
    assert chat_model is not None
    values = "".join(_settings(config, collection, machine, settings, chat_model.group()))
    body = used_parts(values + _decided(program, tuple(decided.items())), ["graph"])
    nodes = list(ast.walk(ast.parse(body)))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    wanted = {name: item for name, item in _imports(imports).items() if name in used}
    ours = {name: item for name, item in wanted.items() if item.ours}
    parts = Bundle(f"{item.module}:{item.name}" for item in ours.values())
    others = {name: item for name, item in wanted.items() if not item.ours}
    text = (
        f'"""{_docstring(config)}"""\n\nfrom __future__ import annotations\n\n{import_lines(others)}'
        f"{import_lines({name: Imported(PARTS, name) for name in ours})}{body.lstrip()}"
    )
    packages = parts.packages | {item.module.partition(".")[0] for item in others.values()} | _lazily(nodes)
    return GraphFile(text, parts, packages)


@lru_cache(maxsize=64)
def _decided(program: str, known: tuple[tuple[str, object], ...]) -> str:
    """The program folded: few settings decide any of it, and the others change values alone."""
    return folded(program, dict(known))


def decided_by(config: RunConfig, collection: Collection) -> Mapping[str, object]:
    """The names of the loop that settings decide for good."""
    chats = [model.model for model in _chats(config).values()]
    providers = {name.partition(":")[0] for name in chats}
    return {
        "SEARCH": config.search,
        "GATE": config.gate,
        "CONTEXT": config.context,
        "BUILT_IN_GRADER": config.models.grader.built_in,
        "BUILT_IN_REWRITER": config.models.rewriter.built_in,
        "BUILT_IN_GENERATOR": config.models.generator.built_in,
        "USES_OLLAMA": "ollama" in providers,
        "USES_OPENAI": "openai" in providers,
        "USES_OTHERS": bool(providers - {"ollama", "openai"}),
        "USES_PROVIDERS": bool(providers - {"ollama"}),
        "EMBEDDER": collection.embedder,
        "OWN": collection.own,
        "KEY_IS_TEXT": collection.key_is_text,
        "ORDERED": not collection.beyond,
        "GRADE_ALL": config.grade_probe,
        "NEEDS_WHOLE": config.needs_whole,
        "ANSWER_UNVERIFIED": config.answer_unverified,
        # The file tells by itself whether the address is of the kind that it was made for.
        **({"LITE": collection.lite} if config.search != "vector" else {}),
    }


def _chats(config: RunConfig) -> dict[str, RoleModel]:
    """Chat models by role, of those that the loop asks."""
    models = {"GRADER": config.models.grader, "REWRITER": config.models.rewriter, "GENERATOR": config.models.generator}
    return {role: model for role, model in models.items() if model.chats}


@cache
def _imports(text: str) -> Mapping[str, Imported]:
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                found[alias.asname or alias.name] = Imported(node.module or "", alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name] = Imported(alias.name)
    return found


def _lazily(nodes: Iterable[ast.AST]) -> set[str]:
    """Packages that are imported inside functions."""
    return {(node.module or "").partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}


def _settings(
    config: RunConfig, collection: Collection, machine: Machine, settings: Settings, chat_model: str
) -> Iterator[str]:
    yield assigned("TOP_K", config.top_k, "candidates that may be kept and judged")
    yield assigned("FETCH_K", config.fetch_k, "candidates that are looked at")
    yield assigned("SIMILARITY_THRESHOLD", config.similarity_threshold, "below it a candidate is not judged")
    yield assigned("MIN_CONFIDENCE", config.min_confidence, "P(relevant) from which a passage passes")
    yield assigned("PASS_RATE", config.grade_pass_threshold, "share of the kept passages that must pass")
    yield assigned("MIN_RELEVANT", config.min_relevant, "passages that must pass")
    yield assigned("MAX_REWRITES", config.max_rewrites)
    yield assigned("BUDGET_S", config.budget_s, "after so many seconds one answer is made from what there is")
    yield assigned("ANSWER_ALLOWANCE_S", machine.answer_allowance_s, "what that answer may take at least")
    yield assigned("CALL_TIMEOUT_S", machine.call_timeout_s, "the longest that a verdict or a rewrite may take")
    yield assigned("CALLS_AT_ONCE", machine.calls_at_once, "verdicts that are asked for at the same time")
    depth = search_depth(config.fetch_k)
    yield assigned("DEPTH", depth, "hits of each list that words have a part in")
    yield assigned("MOST_RESCORED", FROM_LITE, "hits by words that are scored over the whole collection, at least")
    yield assigned("RANK_CONSTANT", RANK_CONSTANT, "k of 1 / (k + rank), where two lists become one")
    yield assigned("TEXT_WEIGHT", TEXT_WEIGHT, "what a place by words counts for, against 1 for one by meaning")
    yield "\n"
    yield from _store(collection)
    yield _environment("OLLAMA_URL", "OLLAMA_BASE_URL", machine.ollama_url)
    yield assigned("OLLAMA_KEEP_ALIVE", machine.keep_alive)
    yield _environment("OPENAI_URL", "OPENAI_BASE_URL", machine.openai_url)
    yield "\n\n" + chat_model
    yield from _models(config, settings)
    for name, value in prompt_values().items():
        kind = ": dict[str, Any]" if isinstance(value, dict) and "SCHEMA" in name else ""
        yield assigned(f"{name}{kind}", value)
    yield assigned("SHORTEST_REPLY", SHORTEST_REPLY, "tokens that must be left for a reply")


def _store(collection: Collection) -> Iterator[str]:
    yield _environment("MILVUS_URI", "MILVUS_URI", collection.uri)
    yield _environment("MILVUS_TOKEN", "MILVUS_TOKEN", "")
    yield _environment("MILVUS_DATABASE", "MILVUS_DATABASE", collection.database)
    yield assigned("LITE", collection.lite, "whether it is a folder of Milvus Lite, and no server")
    yield assigned("COLLECTION", collection.name)
    yield assigned("KEY", collection.key)
    yield assigned("VECTOR", collection.vector)
    yield assigned("FIELDS", dict(collection.fields), "of a passage, by what they are")
    yield assigned("OUTPUT", list(collection.output))
    yield assigned("ONLY", collection.only, "notes on the entities of a graph are no passages" * bool(collection.only))
    yield assigned("SEARCH_PARAMS: dict[str, int]", dict(collection.params), "how far the index looks")
    yield assigned("FOUND_BEYOND", collection.beyond, "hits that are fetched beyond those wanted")
    yield assigned("EMBEDDING_MODEL", collection.embedding_model.removeprefix("ollama:"))
    yield assigned("QUERY_PREFIX", collection.query_prefix)
    yield assigned("DIMENSION", collection.dim)
    yield "\n"


def _models(config: RunConfig, settings: Settings) -> Iterator[str]:
    chats = _chats(config)
    for role, model in chats.items():
        kind = ChatGenerator if role == "GENERATOR" else ChatRewriter if role == "REWRITER" else ChatRole
        tokens = reply_tokens(kind, model)
        think = None if role == "GENERATOR" else False
        said = f'"{model.model}", {model.temperature!r}, {model.seed}, {model.num_ctx}, {tokens}, {think}'
        yield f"{role} = ChatModel({said})\n"
    generator = config.models.generator
    room = ChatGenerator(generator, settings).context_tokens if generator.chats else BuiltinGenerator().context_tokens
    yield assigned("CONTEXT_TOKENS", room, "of passages that the generator is given")
    if "REWRITER" in chats:
        room = ChatRewriter(chats["REWRITER"], settings).passage_tokens
        yield assigned("FAILED_TOKENS", room, "of passages that the rewriter is shown")
    yield "\n"


def reply_tokens(kind: type[ChatRole], model: RoleModel) -> int:
    """Tokens that a reply of a role may have."""
    return min(kind.reply_tokens, model.num_ctx // kind.reply_share) if kind.reply_share else kind.reply_tokens


def _environment(name: str, variable: str, usual: str) -> str:
    quoted = assigned("x", usual)[4:].rstrip("\n")
    return f'{name} = os.environ.get("{variable}", {quoted})\n'


def _docstring(config: RunConfig) -> str:
    gate = {
        "pass_rate": "a share of the kept passages passed",
        "min_relevant": "enough passages passed",
    }[config.gate]
    search = {"vector": "by meaning", "full_text": "by words", "fused": "by meaning and by words"}[config.search]
    versions = prompt_versions(config)
    told = f"\nPrompts of this version: {', '.join(versions)}.\n" if versions else ""
    context = {"union": "all rounds", "last_round": "the last round"}[config.context]
    return (
        "Self-corrective retrieval: retrieve, grade, and rewrite or generate.\n\n"
        f"Passages are searched {search}, and each is judged against the question as asked.\n"
        f"Once {gate}, the answer is written from those of {context} that passed, with citations.\n"
        "Exported by the Self-Corrective RAG Workbench; ``README.md`` says how to run it.\n"
        f"{told}"
    )
