"""Names of what a run or a setting says by a code, in words that the pages translate."""

from __future__ import annotations

from collections.abc import Mapping

from engine.flow import workflows
from engine.messages import N_, NC_
from engine.model.config import every_setting
from engine.model.values import PassageContext, VerdictKind

_OTHERS = {
    "workflow": (N_("Workflow"), ""),
    "collection": (N_("Collection"), ""),
    "models": (N_("Models"), ""),
    "num_ctx": (
        N_("Context, tokens (num_ctx)"),
        N_(
            "How much a model of Ollama reads at once. A prompt that does not fit is refused; more needs more memory. "
            "Usual: 8192."
        ),
    ),
    "temperature": (
        N_("Temperature"),
        N_("0 gives the same reply each time; more varies the wording, and verdicts with it. Usual: 0."),
    ),
    "fit": (N_("Fit to the collection"), ""),
}
"""Name and explanation of what a panel sets in addition to the settings that ``engine.model.config`` declares."""
VERDICT_KINDS: Mapping[VerdictKind, str] = {
    "builtin": NC_("kind of P", "built-in"),
    "score": NC_("kind of P", "from scores"),
    "token": NC_("kind of P", "probability of a token"),
    "said": NC_("kind of P", "self-reported"),
}
"""What a probability is."""
STRATEGY_NAMES = {
    "hierarchical_search": N_("hierarchical search"),
    "direct_chunk_search": N_("direct passage search"),
    "web_search": N_("web search"),
}

VERDICTS = {
    "better": N_("better"),
    "worse": N_("worse"),
    "cheaper": N_("cheaper"),
    "dearer": N_("dearer"),
    "same": N_("same"),
    "unknown": N_("unknown"),
    "not_distinguishable": N_("not distinguishable"),
}
JOB_KINDS = {
    "graph": N_("Knowledge graph"),
    "ingest": N_("Files"),
    "reembed": N_("Re-embed"),
    "add_full_text": N_("Add full text"),
    "index": N_("Index"),
    "pull": N_("Download"),
    "draft": N_("Draft questions"),
    "batch": N_("batch"),
}

JOB_STATES = {
    "describing": N_("writing context"),
    "extracting": N_("reading"),
    "summarising": N_("finding communities"),
    "indexing": N_("indexing"),
    "measuring": N_("measuring"),
    "downloading": N_("running"),
    "running": N_("running"),
    "waiting": N_("waiting"),
    "reading": N_("reading"),
    "embedding": N_("embedding"),
    "writing": N_("writing"),
    "done": N_("done"),
    "stopped": N_("stopped"),
    "failed": N_("failed"),
    "interrupted": N_("interrupted"),
}

KEPT = N_("What was done is kept; Resume continues from there.")
"""What a job that was stopped or interrupted leaves."""

COLLECTION_ACTIONS = {
    "rename": N_("Rename"),
    "alias": N_("Aliases"),
    "describe": N_("Description"),
    "reembed": N_("Re-embed"),
    "full_text": N_("Add full text"),
    "prefix": N_("Query prefix"),
    "limit": N_("Groups"),
    "drop": N_("Delete"),
}

NAME_RULE = N_("Letters, digits and underscores, beginning with a letter.")
"""What the name of a collection may be."""

BUILTIN_EXTRACTOR = N_("The built-in rules are fast and free but weak: many relationships only say “related to”.")
"""How good a graph is that no model extracted."""
GRADE_NAMES = {
    "high": N_("high"),
    "medium": N_("medium"),
    "low": N_("low"),
}

SOURCE_KIND_NAMES = {
    "vector": N_("knowledge base"),
    "graph": N_("entities and relations"),
    "temporal": N_("dated history"),
    "web": N_("web · untrusted"),
}


GRAPH_LISTS = {
    "vector": N_("Vectors"),
    "local": N_("Entities"),
    "global": N_("Communities"),
    "near": N_("Nearest"),
    "attachment": N_("Attachment"),
}

VARIED_SETTINGS = {
    "similarity_threshold": N_("similarity"),
    "grade_pass_threshold": N_("pass rate"),
    "top_k": N_("top-k"),
    "max_rewrites": N_("rewrites"),
    "min_confidence": N_("P(relevant)"),
    "min_relevant": N_("passages"),
    "gate": NC_("setting", "gate"),
}

COMPLEXITIES = {
    "simple": N_("a simple query"),
    "single": N_("a question of one step"),
    "multi_hop": N_("a question of several steps"),
    "overview": N_("a question about the whole"),
}

MODE_NOTES = {
    "no_graph": N_("no knowledge graph; build one under Knowledge → Graph"),
    "no_entity": N_("the query names no entity of the graph"),
    "no_passages": N_("the graph led to no passage"),
    "no_communities": N_("the graph has no summaries"),
    "graph_unfinished": N_("the graph is not finished"),
    "graph_stale": N_("the graph is older than the collection"),
    "graph_unreachable": N_("the graph could not be read in time"),
}

MESSAGE_ROLES = {
    "system": N_("System message"),
    "user": N_("User message"),
    "assistant": N_("Assistant message"),
}

DEMO_NAMES = {
    "passes": N_("Passes at once"),
    "noise": N_("Noise filtered"),
    "rescue": N_("Rewrite rescues"),
    "forced": N_("Answered below the bar"),
    "abstains": N_("Honest refusal"),
    "quality": N_("Quality rises"),
    "correction": N_("Answer corrected"),
    "revision": N_("Answer revised"),
    "chain": N_("Graph joins passages"),
}

SPAN_NAMES = {
    "visit": N_("step"),
    "rewrite": N_("rewrite"),
    "chat": N_("model call"),
    "built_in": N_("built-in"),
    "cached": N_("from cache"),
    "fault": N_("error"),
}

WEB_PASSAGE = N_(
    "From a web search: anybody may have written it. It is shown as plain text, and its address is no link."
)
"""What a passage of the web is."""

NOTHING_FOUND = N_("Nothing found.")


def name_of(name: str) -> str:
    """The message that names a setting; empty for a name that is none."""
    declared = every_setting().get(name)
    return declared.name if declared else _OTHERS.get(name, ("", ""))[0]


def help_of(name: str) -> str:
    """The message that explains a setting; empty for one that needs none."""
    declared = every_setting().get(name)
    return declared.help if declared else _OTHERS.get(name, ("", ""))[1]


def choices_of(name: str) -> Mapping[str, str]:
    """The messages that name the values of a setting that is a choice; empty for any other."""
    if name == "workflow":
        return {workflow: own.title or own.name for workflow, own in workflows().items()}
    declared = every_setting().get(name)
    return declared.choices if declared else {}


PRESET_NAMES = {
    "lenient": N_("Lenient"),
    "balanced": N_("Balanced"),
    "strict": N_("Strict"),
}

CONTEXT = N_("Context of passages")
CONTEXT_NAMES: Mapping[PassageContext, str] = {
    "none": N_("None"),
    "path": N_("Title and section"),
    "written": N_("Title, section, written sentence"),
}
CONTEXT_HELP = N_("What is embedded, and searched by words, in front of a passage. Its own text stays as it is.")
