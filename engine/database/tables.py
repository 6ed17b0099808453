"""Every table of the records, for SQLite and PostgreSQL; ``migrations`` bring an older database to this state.

With SQLite each part has a file of its own, so that a damaged one harms no other; PostgreSQL holds all parts together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from sqlalchemy import (
    DDL,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    event,
    text,
)
from sqlalchemy.dialects import postgresql

Part = Literal["runs", "evaluation", "verdicts", "weak_points", "team", "people"]
PARTS: tuple[Part, ...] = get_args(Part)

METADATA = MetaData()
TEXT = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Compared byte by byte in both, as Python compares."""


def _table(part: Part, name: str, *columns: Any, **options: Any) -> Table:
    return Table(name, METADATA, *columns, info={"part": part}, **options)


def _key(name: str) -> Column[str]:
    return Column(name, TEXT, primary_key=True, nullable=False)


def _text(name: str, *more: Any, **options: Any) -> Column[str]:
    return Column(name, TEXT, *more, nullable=False, **options)


def _number(name: str, **options: Any) -> Column[int]:
    return Column(name, Integer, nullable=False, **options)


RUNS = _table(
    "runs",
    "runs",
    _key("id"),
    _text("started_at"),
    _text("question"),
    _text("workflow"),
    _text("collection"),
    _text("owner"),
    Column("outcome", TEXT),
    _text("reason"),
    Column("duration_ms", Float, nullable=False),
    _number("calls"),
    _number("rewrites"),
    _text("parent", server_default=""),
    _text("author", server_default=""),
    # The collection by its own name, where ``collection`` may be an alias of it.
    _text("searched", server_default=""),
)
Index("runs_by_start", RUNS.c.started_at, RUNS.c.id)
_UNFINISHED = RUNS.c.outcome.is_(None)
Index("runs_unfinished", RUNS.c.owner, sqlite_where=_UNFINISHED, postgresql_where=_UNFINISHED)
EVENTS = _table(
    "runs",
    "events",
    _key("run_id"),
    Column("seq", Integer, primary_key=True, nullable=False, autoincrement=False),
    Column("t_ms", Float, nullable=False),
    _text("kind"),
    _text("data"),
    sqlite_with_rowid=False,
)
PARTIAL_ANSWERS = _table("runs", "partial_answers", _key("run_id"), _text("pieces"), sqlite_with_rowid=False)
TAGS = _table("runs", "tags", _key("run_id"), _key("tag"), sqlite_with_rowid=False)
Index("tags_by_name", TAGS.c.tag, TAGS.c.run_id)

QUERY_SETS = _table(
    "evaluation",
    "query_sets",
    _key("name"),
    _text("collection"),
    _text("origin"),
    _text("saved_at"),
    _text("author", server_default=""),
)
CASES = _table(
    "evaluation",
    "cases",
    Column("set_name", TEXT, ForeignKey("query_sets.name", ondelete="CASCADE"), primary_key=True, nullable=False),
    _number("place"),
    _key("id"),
    _text("data"),
)
BATCHES = _table(
    "evaluation",
    "batches",
    _key("id"),
    _text("set_name"),
    _text("config"),
    _number("concurrency"),
    _text("created_at"),
    _text("owner"),
    _text("author", server_default=""),
)
BATCH_CASES = _table(
    "evaluation",
    "batch_cases",
    Column("batch_id", TEXT, ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True, nullable=False),
    _number("place"),
    _key("case_id"),
    _text("data"),
    Column("run_id", TEXT),
    _number("ended", server_default=text("0")),
    Column("fault", TEXT),
    _number("calls", server_default=text("0")),
    _number("tokens", server_default=text("0")),
    _text("ended_at", server_default=""),
)
LABELS = _table(
    "evaluation",
    "labels",
    _key("question"),
    _key("passage_id"),
    _number("relevant"),
    _text("labelled_at"),
    _text("author", server_default=""),
    _text("explanation", server_default=""),
    _text("drawn", server_default=""),
    Column("judge", TEXT, primary_key=True, nullable=False, server_default=""),
)
ANSWER_JUDGEMENTS = _table(
    "evaluation",
    "answer_judgements",
    # A digest of question and answer: a whole answer is too long for an index.
    _key("pair"),
    _key("kind"),
    _key("judge"),
    _key("shown"),
    _text("question"),
    _text("answer"),
    _text("verdict"),
    _text("explanation"),
    _text("drawn"),
    _text("claims"),
    _text("judged_at"),
    _text("author"),
)
GRADER_FITS = _table(
    "evaluation",
    "grader_fits",
    _key("id"),
    *(_text(name) for name in ("collection", "model", "content", "made_at", "author")),
)
"""What judgements of a collection taught a grader; ``content`` is all of it, as JSON."""
DRAFTS = _table(
    "evaluation",
    "drafts",
    _key("id"),
    _text("collection"),
    _number("place"),
    _text("made_at"),
    _text("state"),
    _text("set_name", server_default=""),
    _text("decided_at", server_default=""),
    _text("author", server_default=""),
    _text("data"),
)
"""Questions drafted from documents, which are in no query set until a person accepts them."""
GUIDELINES = _table(
    "evaluation",
    "guidelines",
    _key("set_name"),
    _text("text"),
    _text("saved_at"),
    _text("author", server_default=""),
)
"""What judges of a query set should go by."""
JUDGES = _table("evaluation", "judges", _key("name"), _text("made_at"))
"""Names that judges gave themselves."""
SET_SCORES = _table(
    "evaluation",
    "set_scores",
    _key("batch_id"),
    _text("set_name"),
    _text("at"),
    _text("note", server_default=""),
    _text("figures"),
    _text("noted_at", server_default=""),
)
"""What each finished gathering of a query set came to, as it was when it was noted."""
SAVED_SETTINGS = _table("evaluation", "saved_settings", _key("name"), _text("config"), _text("saved_at"))

VERDICTS = _table("verdicts", "verdicts", _key("key"), _text("value"), sqlite_with_rowid=False)

WEAK_POINTS = _table(
    "weak_points",
    "weak_points",
    _key("id"),
    _text("collection"),
    _text("question"),
    _text("why"),
    _text("run_id"),
    _text("noted_at"),
)
Index("weak_points_by_date", WEAK_POINTS.c.collection, WEAK_POINTS.c.noted_at)
SWITCHES = _table("weak_points", "switches", _key("collection"), _number("on"))

INSTANCES = _table("team", "instances", _key("id"), Column("until", DateTime(timezone=True), nullable=False))
"""Leases of the processes that share a PostgreSQL database."""

JOBS = _table("team", "jobs", _key("id"), _text("owner"), _text("started_at"), _text("manifest"), _text("status"))
"""Ingestions and other jobs of the knowledge base, where several processes share them."""
JOB_FILES = _table(
    "team",
    "job_files",
    Column("job_id", TEXT, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, nullable=False),
    Column("name", TEXT, primary_key=True, nullable=False),
    Column("block", Integer, primary_key=True, nullable=False, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""Their uploads, in blocks, until they are done."""

CONNECTIONS = _table("team", "connections", _key("name"), _text("data"), _text("secret"))
"""Connected collections of other programs, each token encrypted; with files they stand in ``connections.json``."""
SECRET_CHECKS = _table("team", "secret_checks", _key("id"), _text("value"))
"""A known text, encrypted with the key of the secrets: whether a process has that key."""

MODEL_SLOTS = _table(
    "team",
    "model_slots",
    _key("server"),
    Column("slot", Integer, primary_key=True, nullable=False, autoincrement=False),
    _text("holder"),
    Column("until", DateTime(timezone=True), nullable=False),
)
"""Calls that a model server may be given at the same time, each lent to a process for a while."""
MODEL_PACES = _table("team", "model_paces", _key("server"), Column("next_at", DateTime(timezone=True), nullable=False))
"""When a model server may be given its next call."""


TOKENS = _table(
    "people",
    "tokens",
    _key("id"),
    _text("name"),
    _text("digest", unique=True),
    _text("role"),
    # A list as JSON, or nothing where it may read what everybody may.
    Column("collections", TEXT),
    _text("made_by"),
    _text("made_at"),
    _text("expires_at"),
    _text("used_at", server_default=""),
    _text("revoked_at", server_default=""),
)
AUDIT = _table(
    "people",
    "audit",
    Column("number", Integer, primary_key=True, nullable=False, autoincrement=False),
    _text("at"),
    _text("who"),
    _text("name"),
    _text("role"),
    _text("operation"),
    _text("object"),
)
COLLECTION_GROUPS = _table("people", "collection_groups", _key("collection"), _key("group_name"))

APPEND_ONLY = {
    "sqlite": tuple(
        f"CREATE TRIGGER audit_no_{change.lower()} BEFORE {change} ON audit "
        "BEGIN SELECT RAISE(ABORT, 'the log of changes is only added to'); END"
        for change in ("UPDATE", "DELETE")
    ),
    "postgresql": (
        "CREATE FUNCTION audit_is_added_to() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the log of changes is only added to'; END $$",
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_added_to()",
    ),
}
"""What keeps the log of changes from being changed, by the kind of database."""
for _kind, _statements in APPEND_ONLY.items():
    for _statement in _statements:
        made = DDL(_statement)  # type: ignore[no-untyped-call]
        event.listen(AUDIT, "after_create", made.execute_if(dialect=_kind))


def tables_of(parts: Iterable[Part]) -> list[Table]:
    """The tables of some parts, those first that others refer to."""
    wanted = frozenset(parts)
    return [table for table in METADATA.sorted_tables if table.info["part"] in wanted]
