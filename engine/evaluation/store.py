"""Query sets, batches, labels and saved settings on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    Update,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from engine.database.base import among, clean, put
from engine.database.tables import BATCH_CASES, BATCHES, CASES, GUIDELINES, QUERY_SETS
from engine.errors import EvaluationError, UnknownBatch, UnknownQuerySet
from engine.evaluation.cases import SAMPLE_SET, Case, QuerySet, case_from_dict, sample_set
from engine.evaluation.judgement_store import JudgementStore
from engine.evaluation.saved_settings import SavedSettings
from engine.evaluation.store_database import now, require_readable, stored_json, visible_name
from engine.evaluation.values import (
    NOTHING_SPENT,
    SHIPPED_BATCH,
    Batch,
    Spent,
    shipped_batch,
)
from engine.messages import N_
from engine.model.config import RunConfig, config_from_stored
from engine.model.values import SAMPLE_COLLECTION, Fault, RunId
from engine.people import current_user
from engine.people.authorization import authorized, internal, needs

_CASE_COLUMNS = [BATCH_CASES.c[name] for name in ("case_id", "run_id", "ended", "fault", "calls", "tokens", "ended_at")]
"""What a batch knows of its cases: all but the cases themselves."""


@authorized
class EvaluationStore(JudgementStore, SavedSettings):
    """Several processes may use it at once; safe from any thread.

    Everything written is in the database when the call returns. Every method raises ``EvaluationError`` where the
    database cannot be used, and ``EngineClosed`` after :meth:`close`. The samples are a query set of their own, which
    cannot be changed. A damaged file is left as it is, because labels and query sets are work of the user.
    """

    # -- query sets ---------------------------------------------------------------------------------------------

    @needs("viewer")
    def query_sets(self) -> tuple[str, ...]:
        """Names, the samples first, then by name."""
        rows = self._rows(select(QUERY_SETS.c.name, QUERY_SETS.c.collection).order_by(QUERY_SETS.c.name))
        return (SAMPLE_SET, *(str(name) for name, collection in rows if current_user().may_read(str(collection))))

    @needs("viewer")
    def query_set(self, name: str) -> QuerySet:
        """Return a query set by its id; raises ``UnknownQuerySet``."""
        if name == SAMPLE_SET:
            return sample_set()
        wanted = clean(name)
        with self._reading() as connection:
            columns = (QUERY_SETS.c[column] for column in ("collection", "origin", "author"))
            head = select(*columns).where(QUERY_SETS.c.name == wanted)
            found = connection.execute(head).one_or_none()
            query = select(CASES.c.data).where(CASES.c.set_name == wanted).order_by(CASES.c.place)
            rows = connection.scalars(query).all()
        if found is None or not current_user().may_read(str(found.collection)):
            raise UnknownQuerySet(name=name)
        cases = tuple(self._case(data) for data in rows)
        return QuerySet(name, cases, str(found.collection), str(found.origin), str(found.author))

    @needs("viewer")
    def cases_asking(self, question: str, collection: str, run_id: RunId | None = None) -> tuple[Case, ...]:
        """Return the cases of a collection's sets that ask this question, by set, and the one that ``run_id`` answered.

        White space around it aside; the samples are among them.
        """
        asked = clean(question.strip())
        # A filter of the database's own first: a collection may have thousands of questions.
        holds = CASES.c.data.contains(stored_json(asked)[1:-1], autoescape=True)
        bound = QUERY_SETS.c.collection == clean(collection)
        named = select(CASES.c.data).join(QUERY_SETS, QUERY_SETS.c.name == CASES.c.set_name).where(holds, bound)
        rows = (
            self._rows(named.order_by(CASES.c.set_name, CASES.c.place)) if current_user().may_read(collection) else ()
        )
        found = [self._case(data) for (data,) in rows]
        if run_id is not None and current_user().may_read(collection):
            own = select(BATCH_CASES.c.data).where(BATCH_CASES.c.run_id == run_id)
            found += [self._case(data) for (data,) in self._rows(own)]
        shipped = sample_set()
        found = [*(shipped.cases if shipped.collection == collection else ()), *found]
        return tuple(case for case in found if clean(case.question.strip()) == asked)

    @needs("editor", log=N_("Query set saved"), on=("query_set.name",))
    def save_query_set(self, query_set: QuerySet) -> None:
        """Keep a set; one of the same name is replaced. Batches keep the cases they started with.

        Raises ``EvaluationError`` for the samples' name, an unusable name, one that a set has which is kept from who
        acts, or an id that stands twice.
        """
        name = usable_set_name(query_set.name)
        seen: set[str] = set()
        for case in query_set.cases:
            case_id = clean(case.id)
            if case_id in seen:
                raise EvaluationError.case_twice(name=name, case=case_id)
            seen.add(case_id)
        rows = [_case_row(name, place, case) for place, case in enumerate(query_set.cases)]
        self._bound_to(name)
        require_readable(query_set.collection)
        with self._writing() as connection:
            # The set first: another process that saves it waits here, and finds these cases.
            put(connection, QUERY_SETS, _set_row(name, query_set.collection, query_set.origin))
            connection.execute(delete(CASES).where(CASES.c.set_name == name))
            put(connection, CASES, rows)

    @needs("editor", log=N_("Question added to a query set"), on=("name", "case.id"))
    def add_case(self, name: str, case: Case, collection: str = "samples", origin: str = "runs") -> None:
        """Put a case at the end of a set, which is made where it is missing; a case of the same id is replaced.

        ``origin`` says where the cases of a new set come from.

        Raises ``EvaluationError`` where its collection is kept from some people who see the set.
        """
        usable = usable_set_name(name)
        bound = self._bound_to(usable)
        require_readable(collection)
        if bound is not None and not self._same_readers(collection, bound):
            raise EvaluationError.other_readers(name=name, collection=collection)
        with self._writing() as connection:
            put(connection, QUERY_SETS, _set_row(usable, collection, origin), changes=())
            last = select(func.coalesce(func.max(CASES.c.place), -1) + 1).where(CASES.c.set_name == usable)
            place = connection.scalar(last) or 0
            put(connection, CASES, _case_row(usable, place, case), changes=("data",))

    @needs("editor", log=N_("Question taken from a query set"), on=("name", "case_id"))
    def remove_case(self, name: str, case_id: str) -> None:
        """Take a case out of a set; batches keep theirs.

        Raises ``UnknownQuerySet``, and ``EvaluationError`` for the samples.
        """
        if name == SAMPLE_SET:
            raise EvaluationError.set_reserved(name=name)
        if self._bound_to(name) is None:
            raise UnknownQuerySet(name=name)
        with self._writing() as connection:
            connection.execute(delete(CASES).where(CASES.c.set_name == clean(name), CASES.c.id == clean(case_id)))

    @needs("editor", log=N_("Query set bound to a collection"), on=("name", "collection"))
    def bind_query_set(self, name: str, collection: str) -> None:
        """Ask a set of another collection from now on; its batches keep theirs.

        Raises ``UnknownQuerySet``, and ``EvaluationError`` for the samples, and where the collection it was made from
        is kept from some people.
        """
        if name != SAMPLE_SET:
            bound = self._bound_to(name)
            require_readable(collection)
            if bound is not None and not self._same_readers(bound, collection):
                raise EvaluationError.other_readers(name=name, collection=bound)
        self._change_set(name, update(QUERY_SETS).values(collection=clean(collection)))

    @needs("admin", log=N_("Query set deleted"))
    def delete_query_set(self, name: str) -> None:
        """Remove a set with its guidelines; its batches stay.

        Raises ``UnknownQuerySet``, and ``EvaluationError`` for the samples.
        """
        self._change_set(name, delete(QUERY_SETS))
        with self._writing() as connection:
            connection.execute(delete(GUIDELINES).where(GUIDELINES.c.set_name == clean(name)))

    # -- batches ------------------------------------------------------------------------------------------------

    @needs("editor")
    def add_batch(self, batch: Batch, cases: Sequence[Case], owner: str) -> None:
        """Keep a batch before its first case; ``owner`` is the process that runs it.

        Raises ``EvaluationError`` where the collection of its set, whose cases it keeps, is kept from some people who
        see the batch.
        """
        bound = self._bound_to(batch.set_name)
        if bound is not None and not self._same_readers(bound, batch.config.collection):
            raise EvaluationError.other_readers(name=batch.set_name, collection=bound)
        rows = [
            {"batch_id": batch.id, "place": place, "case_id": clean(case.id), "data": stored_json(case.to_dict())}
            for place, case in enumerate(cases)
        ]
        head = {
            "id": batch.id,
            "set_name": clean(batch.set_name),
            "config": stored_json(asdict(batch.config)),
            "concurrency": batch.concurrency,
            "created_at": batch.created_at,
            "owner": owner,
            "author": clean(batch.author),
        }
        with self._writing() as connection:
            connection.execute(insert(BATCHES), head)
            if rows:
                connection.execute(insert(BATCH_CASES), rows)

    @needs("viewer")
    def batches(self, set_name: str | None = None, most: int | None = None) -> tuple[Batch, ...]:
        """List the batches of one query set or of all, newest first; ``most`` of them at most.

        Of the samples, the shipped runs come last until they are deleted; no list of all batches has them.
        """
        query = select(BATCHES).where(BATCHES.c.id != SHIPPED_BATCH)
        query = query.order_by(BATCHES.c.created_at.desc(), BATCHES.c.id.desc())
        if set_name is not None:
            query = query.where(BATCHES.c.set_name == clean(set_name))
        with self._reading() as connection:
            heads = connection.execute(query).all()
            readable = (head for head in heads if self._may_read(connection, head))
            found = tuple(self._batch(connection, head) for head in islice(readable, most))
            ships = set_name == SAMPLE_SET and self._ships(connection)
        return (*found, shipped_batch())[:most] if ships else found

    def _ships(self, connection: Connection) -> bool:
        """Return whether the current user may read the shipped runs, and they were not deleted."""
        deleted = select(BATCHES.c.id).where(BATCHES.c.id == SHIPPED_BATCH)
        return current_user().may_read(SAMPLE_COLLECTION) and connection.scalar(deleted) is None

    @needs("admin", log=N_("Shipped runs of the samples deleted"))
    def delete_shipped(self) -> None:
        """Show the shipped runs of the samples no more; a row with the id of their batch says so."""
        batch = shipped_batch()
        head = {"id": batch.id, "set_name": "", "config": stored_json(asdict(batch.config)), "concurrency": 1}
        with self._writing() as connection:
            put(connection, BATCHES, [{**head, "created_at": now(), "owner": "", "author": current_user().author}])

    @needs("viewer")
    def batch(self, batch_id: str) -> Batch:
        """Return a batch by its id; raises ``UnknownBatch``."""
        with self._reading() as connection:
            if batch_id == SHIPPED_BATCH and self._ships(connection):
                return shipped_batch()
            return self._batch(connection, self._head(connection, batch_id))

    def _head(self, connection: Connection, batch_id: str) -> Row[Any]:
        """Return a batch without its cases; raises ``UnknownBatch``, also if the current user may not read it."""
        found = connection.execute(select(BATCHES).where(BATCHES.c.id == clean(batch_id))).one_or_none()
        if found is None or found.id == SHIPPED_BATCH or not self._may_read(connection, found):
            raise UnknownBatch(batch=batch_id)
        return found

    def _may_read(self, connection: Connection, head: Row[Any]) -> bool:
        """Return whether the current user may read a batch's collection, and that of its set, whose cases it keeps."""
        person = current_user()
        if person.reads_all:
            return True
        config: RunConfig = self._read(head.config, config_from_stored)
        bound = connection.scalar(select(QUERY_SETS.c.collection).where(QUERY_SETS.c.name == head.set_name))
        return person.may_read(config.collection) and (bound is None or person.may_read(str(bound)))

    def _batch(self, connection: Connection, head: Row[Any]) -> Batch:
        query = select(BATCH_CASES).where(BATCH_CASES.c.batch_id == head.id).order_by(BATCH_CASES.c.place)
        rows = connection.execute(query.with_only_columns(*_CASE_COLUMNS)).all()
        return Batch(
            id=str(head.id),
            set_name=str(head.set_name),
            config=self._read(head.config, config_from_stored),
            concurrency=int(head.concurrency),
            created_at=str(head.created_at),
            case_ids=tuple(str(row.case_id) for row in rows),
            runs={str(row.case_id): RunId(row.run_id) for row in rows if row.run_id is not None},
            failures={row.case_id: self._read(row.fault, _fault) for row in rows if row.fault is not None},
            done=frozenset(str(row.case_id) for row in rows if row.ended and row.fault is None),
            author=str(head.author),
            spent=Spent(sum(row.calls for row in rows), sum(row.tokens for row in rows)),
            ended_at={str(row.case_id): str(row.ended_at) for row in rows if row.ended and row.ended_at},
        )

    @needs("viewer")
    def batch_cases(self, batch_id: str) -> tuple[Case, ...]:
        """The cases as they were when the batch started, in order; raises ``UnknownBatch``."""
        if self.batch(batch_id).shipped:
            return sample_set().cases
        query = select(BATCH_CASES.c.data).where(BATCH_CASES.c.batch_id == clean(batch_id))
        rows = self._rows(query.order_by(BATCH_CASES.c.place))
        if not rows:
            raise UnknownBatch(batch=batch_id)
        return tuple(self._case(data) for (data,) in rows)

    @needs("editor")
    def begin_case(self, batch_id: str, case_id: str, run_id: str) -> bool:
        """Note which run a case gets, before that run begins: what a killed process had finished is then found.

        False where the case has ended already. A run that was noted before counts no more: where its worker was given
        up too early, it finds so at its end. Raises ``UnknownBatch``.
        """
        return self._set_case(batch_id, case_id, BATCH_CASES.c.ended == 0, run_id=run_id)

    @needs("editor")
    def end_case(
        self, batch_id: str, case_id: str, run_id: str, fault: Fault | None = None, spent: Spent = NOTHING_SPENT
    ) -> bool:
        """Note that a case has ended, well or with ``fault``; only after its record is in the database of runs.

        False where it has ended before, or where another run was started for it since.
        """
        ours = and_(BATCH_CASES.c.run_id == clean(run_id), BATCH_CASES.c.ended == 0)
        stored = None if fault is None else stored_json(asdict(fault))
        return self._set_case(
            batch_id, case_id, ours, ended=1, fault=stored, calls=spent.calls, tokens=spent.tokens, ended_at=now()
        )

    @needs("editor")
    def run_of(self, batch_id: str, case_id: str) -> RunId | None:
        """The run that a case was given last, if any; raises ``UnknownBatch``."""
        with self._reading() as connection:
            self._head(connection, batch_id)
            query = select(BATCH_CASES.c.run_id).where(*_this_case(batch_id, case_id))
            found = connection.execute(query).one_or_none()
        if found is None:
            raise UnknownBatch(batch=batch_id)
        return None if found.run_id is None else RunId(found.run_id)

    @needs("editor")
    def forget_cases(self, batch_id: str, case_ids: Iterable[str], *, done: bool = False) -> None:
        """Let cases be run again that have failed or not ended; with ``done`` also those that ended well."""
        again = true() if done else or_(BATCH_CASES.c.ended == 0, BATCH_CASES.c.fault.is_not(None))
        fresh = {"ended": 0, "fault": None, "run_id": None, "ended_at": "", "calls": 0, "tokens": 0}
        with self._writing() as connection:
            self._head(connection, batch_id)
            these = (BATCH_CASES.c.batch_id == clean(batch_id), among(connection, BATCH_CASES.c.case_id, case_ids))
            connection.execute(update(BATCH_CASES).where(*these, again).values(**fresh))

    @internal
    def owner_of(self, batch_id: str) -> str:
        """The process that runs a batch, or ran it last; empty where it was let go in order."""
        found = self._rows(select(BATCHES.c.owner).where(BATCHES.c.id == clean(batch_id)))
        if batch_id == SHIPPED_BATCH:
            return ""
        if not found:
            raise UnknownBatch(batch=batch_id)
        return str(found[0][0])

    @internal
    def orphans(self, lives: Callable[[str], bool]) -> tuple[str, ...]:
        """Batches with cases left whose owner is set and does not live, oldest first."""
        left = select(BATCH_CASES.c.batch_id).where(BATCH_CASES.c.ended == 0).distinct()
        query = select(BATCHES.c.id, BATCHES.c.owner).where(BATCHES.c.owner != "", BATCHES.c.id.in_(left))
        rows = self._rows(query.order_by(BATCHES.c.created_at, BATCHES.c.id))
        dead = {owner for owner in {row.owner for row in rows} if not lives(owner)}
        return tuple(row.id for row in rows if row.owner in dead)

    @needs("editor")
    def claim_batch(self, batch_id: str, owner: str, lives: Callable[[str], bool]) -> str | None:
        """Become the owner of a batch in the place of another, which is returned: empty where it was let go.

        None where a process that ``lives`` has it. Raises ``UnknownBatch``.
        """
        present = self.owner_of(batch_id)
        if present not in ("", owner) and lives(present):
            return None
        # Another process may have claimed it since: then it has another owner than the one just seen.
        return present if self._change_owner(batch_id, present, owner) else None

    @needs("editor")
    def release_batch(self, batch_id: str, owner: str, former: str = "") -> None:
        """Let a batch go, for this or another process to resume it; or give it back to its ``former`` owner."""
        self._change_owner(batch_id, owner, former)

    def _change_owner(self, batch_id: str, present: str, owner: str) -> bool:
        ours = update(BATCHES).where(BATCHES.c.id == batch_id, BATCHES.c.owner == present)
        with self._writing() as connection:
            self._head(connection, batch_id)
            return connection.execute(ours.values(owner=owner)).rowcount > 0

    # -- the database -------------------------------------------------------------------------------------------

    def _change_set(self, name: str, change: Update | Delete) -> None:
        if name == SAMPLE_SET:
            raise EvaluationError.set_reserved(name=name)
        with self._writing() as connection:
            changed = connection.execute(change.where(QUERY_SETS.c.name == clean(name))).rowcount
        if not changed:
            raise UnknownQuerySet(name=name)

    def _bound_to(self, name: str) -> str | None:
        """The collection of a set; None where there is no such set. Raises ``EvaluationError`` for a hidden one."""
        found = self._rows(select(QUERY_SETS.c.collection).where(QUERY_SETS.c.name == clean(name)))
        if found and not current_user().may_read(str(found[0].collection)):
            raise EvaluationError.set_taken(name=name)
        return str(found[0].collection) if found else None

    def _same_readers(self, collection: str, bound: str) -> bool:
        """Return whether all who see a set bound to one collection may read another one too."""
        groups = self._groups_of(collection)
        return not groups or frozenset() < self._groups_of(bound) <= groups

    def _set_case(self, batch_id: str, case_id: str, only: ColumnElement[bool], **values: str | int | None) -> bool:
        """Change a case where a condition holds, and say whether it did; raises ``UnknownBatch`` for no such case."""
        this = _this_case(batch_id, case_id)
        with self._writing() as connection:
            self._head(connection, batch_id)
            if connection.execute(update(BATCH_CASES).where(*this, only).values(**values)).rowcount:
                return True
            if connection.scalar(select(BATCH_CASES.c.place).where(*this)) is None:
                raise UnknownBatch(batch=batch_id)
        return False

    def _case(self, data: str) -> Case:
        case: Case = self._read(data, case_from_dict)
        return case


def _this_case(batch_id: str, case_id: str) -> tuple[ColumnElement[bool], ...]:
    return (BATCH_CASES.c.batch_id == clean(batch_id), BATCH_CASES.c.case_id == clean(case_id))


def usable_set_name(name: str) -> str:
    """The name of a set without the spaces around it; raises ``EvaluationError`` for one that a set cannot have."""
    if name.strip() == SAMPLE_SET:
        raise EvaluationError.set_reserved(name=name)
    return visible_name(name)


def _fault(plain: Any) -> Fault:
    return Fault(**plain)


def _set_row(name: str, collection: str, origin: str) -> dict[str, str]:
    made = {"name": name, "collection": clean(collection), "origin": clean(origin)}
    return {**made, "saved_at": now(), "author": clean(current_user().author)}


def _case_row(set_name: str, place: int, case: Case) -> dict[str, str | int]:
    return {"set_name": set_name, "place": place, "id": clean(case.id), "data": stored_json(case.to_dict())}
