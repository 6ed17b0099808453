"""Names of jobs and of what can be done with a collection."""

from __future__ import annotations

from engine.messages import N_, NC_

JOB_KINDS = {
    "graph": N_("Knowledge graph of {name}"),
    "ingest": N_("Files into {name}"),
    "reembed": N_("Re-embedding into {name}"),
    "add_full_text": N_("Full text for {name}"),
    "index": N_("Index of {name}"),
}

JOB_STATES = {
    "extracting": N_("reading"),
    "summarising": N_("finding communities"),
    "indexing": N_("building the index"),
    "measuring": N_("measuring what it finds"),
    "waiting": N_("waiting"),
    "reading": NC_("knowledge", "reading"),
    "embedding": N_("embedding"),
    "writing": N_("writing"),
    "done": N_("done"),
    "stopped": N_("stopped"),
    "failed": N_("failed"),
    "interrupted": N_("interrupted"),
}

COLLECTION_ACTIONS = {
    "rename": N_("Rename"),
    "alias": N_("Aliases"),
    "describe": N_("Description"),
    "reembed": N_("Re-embed"),
    "full_text": N_("Add full text"),
    "prefix": N_("Query prefix"),
    "limit": N_("Limit"),
    "drop": N_("Delete collection"),
}

NAME_RULE = N_(
    "Letters, digits and underscores, beginning with a letter: runs and links name it so. Anything else can stand in "
    "the description."
)
"""What the name of a collection may be."""

BUILTIN_EXTRACTOR = N_(
    "The built-in rules know key terms, plain patterns such as “X is a Y” and what stands together. Fast and free, but "
    "weak: many relationships only say “related to”."
)
"""How good a graph is that no model extracted."""
