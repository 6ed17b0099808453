"""What each operation needs: one table for the methods of the engine, one for the routes of the API.

A public method or a route that is in neither is refused (``doors.py``, ``engine/api/incoming.py``), and fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.messages import N_
from engine.model.people import Role

RESULT: Final = "="
"""Stands for what an operation returns, where that names what it was done to."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be done."""

    least: Role
    change: str = ""
    """What is noted of it; empty where it changes nothing, or where what it calls is noted."""
    on: tuple[str, ...] = ()
    """Parameters that name what it is done to; empty: the first one."""


LOOK = Operation("viewer")
WORK = Operation("editor")
MANAGE = Operation("admin")
OWN: Final = None
"""The process itself calls it, no matter who acts: opening, closing, what only says how it is made."""


def _work(change: str, *on: str) -> Operation:
    return Operation("editor", change, on)


def _manage(change: str, *on: str) -> Operation:
    return Operation("admin", change, on)


Operations = Mapping[str, Operation | None]

_ENGINE: Operations = {
    **dict.fromkeys(("open", "close", "drain", "part"), OWN),
    # What a run is and was.
    **dict.fromkeys(
        ("warnings_before", "wait", "record", "events", "aevents", "runs", "run_configs", "tags", "what_if", "flush"),
        LOOK,
    ),
    **dict.fromkeys(("under_way", "active_runs", "graph", "worst_case_calls", "ollama", "chat_models"), LOOK),
    "start": _work(N_("Run started"), RESULT),
    "fork": _work(N_("Branch started"), RESULT),
    **dict.fromkeys(("run", "stream", "read_attachment", "condense"), WORK),
    "cancel": _work(N_("Run stopped")),
    "tag_run": _work(N_("Tag put on a run"), "run_id", "tag"),
    "untag_run": _work(N_("Tag taken from a run"), "run_id", "tag"),
    "delete_run": _manage(N_("Run deleted")),
    # The knowledge base.
    **dict.fromkeys(("collections", "describe", "sources", "passages", "source_kinds"), LOOK),
    **dict.fromkeys(("memories", "weak_points", "faults", "noted_faults"), LOOK),
    **dict.fromkeys(("opening_fault", "unopened", "open_again"), LOOK),
    **dict.fromkeys(("wait_until_ready", "ready", "loading"), OWN),
    "delete_source": _manage(N_("Source deleted"), "collection", "source"),
    "limit_collection": _manage(N_("Collection limited to groups"), "collection", "groups"),
    "set_query_prefix": _manage(N_("Query prefix changed"), "collection", "prefix"),
    "ingest": WORK,
    "start_ingest": _work(N_("Files put in"), "collection"),
    "forget_memory": _manage(N_("Memory forgotten")),
    "forget_every_memory": _manage(N_("Every memory forgotten")),
    # Evaluation.
    "start_regrade": WORK,
    **dict.fromkeys(("evaluation", "batches"), LOOK),
}
_LIBRARY: Operations = {
    **dict.fromkeys(("search", "passage_map", "embedding_models", "advice", "given"), LOOK),
    "create": _work(N_("Collection made"), "name"),
    "set_description": _work(N_("Collection described"), "collection"),
    "rename": _manage(N_("Collection renamed"), "collection", "new_name"),
    "set_alias": _manage(N_("Alias set"), "alias", "collection"),
    "drop_alias": _manage(N_("Alias dropped")),
    "drop": _manage(N_("Collection deleted")),
}
_INGESTIONS: Operations = {
    **dict.fromkeys(("close", "here", "begin", "share"), OWN),
    **dict.fromkeys(("jobs", "job", "wait"), LOOK),
    **dict.fromkeys(("preview", "check_graph"), WORK),
    "start": _work(N_("Files put in"), "collection", RESULT),
    "start_graph": _work(N_("Knowledge graph begun"), "collection", RESULT),
    "start_reembed": _manage(N_("Collection embedded again"), "collection", "new_name", "model"),
    "start_add_full_text": _work(N_("Search by words added"), "collection"),
    "stop": _work(N_("Job stopped")),
    "resume": _work(N_("Job resumed")),
    "discard": _work(N_("Job forgotten")),
}
_GRAPHS: Operations = {
    **dict.fromkeys(("jobs", "job", "wait", "describe", "all", "entity", "entities", "communities"), LOOK),
    **dict.fromkeys(("neighbourhood", "overview", "passages", "to_dict"), LOOK),
    "checked": WORK,
    "build": _work(N_("Knowledge graph begun"), "collection", RESULT),
    "stop": _work(N_("Job stopped")),
    "resume": _work(N_("Job resumed")),
    "discard": _work(N_("Job forgotten")),
    "delete": _manage(N_("Knowledge graph deleted")),
}
_HOST: Operations = {
    "close": OWN,
    **dict.fromkeys(("health", "providers", "offered", "models", "pulls"), LOOK),
    **dict.fromkeys(("settings", "diagnosis"), MANAGE),
    "try_model": WORK,
    "start_pull": _manage(N_("Download of a model begun")),
    "stop_pull": _manage(N_("Download of a model stopped")),
    "unload": _manage(N_("Model dropped from memory")),
}
_EVALUATION: Operations = {
    **dict.fromkeys(("owner_of", "orphans"), OWN),
    **dict.fromkeys(("query_sets", "query_set", "batches", "batch", "batch_cases", "settings", "saved_at"), LOOK),
    **dict.fromkeys(("cases_asking", "labels", "answer_judgements"), LOOK),
    **dict.fromkeys(
        ("add_batch", "run_of", "begin_case", "end_case", "forget_cases", "claim_batch", "release_batch"), WORK
    ),
    "save_query_set": _work(N_("Query set saved"), "query_set.name"),
    "remove_case": _work(N_("Question taken from a query set"), "name", "case_id"),
    "add_case": _work(N_("Question added to a query set"), "name", "case.id"),
    "bind_query_set": _work(N_("Query set bound to a collection"), "name", "collection"),
    "delete_query_set": _manage(N_("Query set deleted")),
    "set_label": _work(N_("Passage judged"), "passage_id"),
    "judge_answer": _work(N_("Answer judged"), "judgement.question"),
    "take_judgements": _work(N_("Judgements imported"), "set_name"),
    "remove_answer_judgement": _work(N_("Judgement of an answer taken back"), "judgement.question"),
    "save_settings": _work(N_("Settings saved")),
    "delete_settings": _work(N_("Saved settings deleted")),
}
_DRAFTING: Operations = {
    **dict.fromkeys(("list", "draft"), LOOK),
    "make": WORK,
    "start": _work(N_("Questions drafted"), "collection"),
    "accept": _work(N_("Drafted question accepted"), "draft_id", "set_name"),
    "refuse": _work(N_("Drafted question refused")),
    "reopen": _work(N_("Decision on a drafted question taken back")),
    "forget": _work(N_("Drafted questions removed"), "collection"),
}
_JUDGING: Operations = {
    **dict.fromkeys(("desk", "judges", "guidelines", "exported", "history"), LOOK),
    **dict.fromkeys(("say", "take_back", "named"), WORK),
    "set_guidelines": _work(N_("Guidelines for judges changed"), "set_name"),
    "imported": _work(N_("Judgements imported"), "set_name"),
    "note_history": _work(N_("Note on the scores of a gathering"), "batch_id"),
}
_BATCHES: Operations = {
    **dict.fromkeys(("close", "running", "orphans", "renewed"), OWN),
    **dict.fromkeys(("wait", "progress", "results", "evidence"), LOOK),
    **dict.fromkeys(("judging", "judge_at_work", "wait_judging"), LOOK),
    "start": _work(N_("Batch started"), "set_name", RESULT),
    "resume": _work(N_("Batch resumed")),
    "stop": _work(N_("Batch stopped")),
    "judge": _work(N_("Judging of answers begun"), "batch_id", "model.model"),
    "stop_judging": _work(N_("Judging of answers stopped")),
}
_GRADER_FITS: Operations = {
    "of": LOOK,
    "used_by": OWN,
    "keep": _work(N_("Grader fitted"), "fit.name"),
    "forget": _manage(N_("Fits of a grader removed"), "collection"),
    "rename_collection": MANAGE,
    "start_examples": WORK,
}
_WEAK_POINTS: Operations = {
    **dict.fromkeys(("list", "collections", "is_on", "passages"), LOOK),
    "note": WORK,
    "delete": _manage(N_("Weak point deleted")),
    "delete_all": _manage(N_("Weak points of a collection deleted")),
    "switch": _manage(N_("History of weak points switched"), "collection", "on"),
    "rename_collection": MANAGE,
}
_LIMITS: Operations = {
    **dict.fromkeys(("admitted", "limit_alike", "limit_new", "groups_of"), OWN),
    "all": LOOK,
    "limit": MANAGE,
}
OPERATIONS: Mapping[str, Operations] = {
    "Engine": _ENGINE,
    "Library": _LIBRARY,
    "Ingestions": _INGESTIONS,
    "Graphs": _GRAPHS,
    "Host": _HOST,
    "EvaluationStore": _EVALUATION,
    "Drafting": _DRAFTING,
    "Judging": _JUDGING,
    "BatchRunner": _BATCHES,
    "GraderFits": _GRADER_FITS,
    "WeakPoints": _WEAK_POINTS,
    "CollectionLimits": _LIMITS,
}
"""By the name of the class and of the method."""

ROUTES: Mapping[str, Role] = {
    "POST /self-corrective-rag": "editor",
    "GET /health": "viewer",
    "GET /ready": "viewer",
    "GET /openapi.json": "viewer",
    "GET /runs": "viewer",
    "POST /runs": "editor",
    "POST /runs/check": "viewer",
    "GET /runs/{run_id}": "viewer",
    "DELETE /runs/{run_id}": "admin",
    "GET /runs/{run_id}/events": "viewer",
    "GET /runs/{run_id}/view": "viewer",
    "GET /runs/{run_id}/answer": "viewer",
    "PUT /runs/{run_id}/answer/judgement": "editor",
    "POST /runs/{run_id}/answer/verdict": "editor",
    "POST /runs/{run_id}/cancel": "editor",
    "POST /runs/{run_id}/what-if": "viewer",
    "POST /runs/{run_id}/fork": "editor",
    "POST /runs/{run_id}/fork/price": "viewer",
    "PUT /runs/{run_id}/tags/{tag:path}": "editor",
    "DELETE /runs/{run_id}/tags/{tag:path}": "editor",
    "GET /memories": "viewer",
    "DELETE /memories/{memory_id}": "admin",
    "POST /attachments": "editor",
    "GET /host/health": "viewer",
    "GET /host/diagnosis": "admin",
    "GET /collections": "viewer",
    "GET /collections/{name}/sources": "viewer",
    "POST /collections/{name}/sources": "editor",
    "GET /collections/{name}/graph": "viewer",
    "POST /collections/{name}/graph": "editor",
    "DELETE /collections/{name}/graph": "admin",
    "GET /collections/{name}/graph/neighbourhood": "viewer",
    "PUT /collections/{name}/weak-points": "admin",
    "POST /collections/{name}/drafts": "editor",
    "GET /collections/{name}/fits": "viewer",
    "GET /query-sets/{set_name:path}/judgements": "viewer",
    "POST /query-sets/{set_name:path}/judgements": "editor",
    "GET /query-sets/{set_name:path}/history": "viewer",
    "GET /drafts": "viewer",
    "PUT /drafts/{draft_id}": "editor",
    "GET /ingestions": "viewer",
    "GET /ingestions/{job_id}": "viewer",
    "POST /ingestions/{job_id}/stop": "editor",
    "POST /ingestions/{job_id}/resume": "editor",
    "DELETE /ingestions/{job_id}": "editor",
    "GET /weak-points": "viewer",
    "DELETE /weak-points/{point_id}": "admin",
}
"""By method and path, as the API declares them; plug-ins have more."""
OPEN = "/ready"
"""The one route that needs no token: it says whether this replica takes work, and a proxy that asks has none."""
