"""The fits of graders that people chose to keep, by collection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from sqlalchemy import Connection, delete, select

from engine.database.base import Database, clean, put
from engine.database.faults import UNUSABLE, cause_at
from engine.database.tables import GRADER_FITS
from engine.errors import EvaluationError, InvalidConfig, UnknownCollection
from engine.messages import N_
from engine.model.config import RoleModel, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.loop_thread import LoopThread
from engine.model.values import Fault
from engine.people import current_user
from engine.people.authorization import authorized, internal, needs

if TYPE_CHECKING:
    from engine.evaluation.fit_examples import ExamplesSource, Plan
    from engine.evaluation.fitting import Subject, Trial


@authorized
class GraderFits:
    """Fits by id, in the database of evaluations; one that was kept stays as long as its collection: records name it.

    Every method raises ``EvaluationError`` where the database cannot be used.
    """

    def __init__(
        self, database: Database, loop: LoopThread | None = None, graders: ExamplesSource | None = None
    ) -> None:
        """``loop`` and ``graders`` are for trials with a chat model, which are made in the background."""
        self._database = database
        self._loop = loop
        self._graders = graders
        self._opened = False

    @needs("editor", log=N_("Grader fitted"), on=("fit.name",))
    def keep(self, fit: GraderFit) -> GraderFit:
        """Keep a fit and return it with date and author; one of the same content stays as it is.

        Raises ``UnknownCollection`` for one to a collection that is kept from who acts.
        """
        if not current_user().may_read(fit.collection):
            raise UnknownCollection(name=fit.collection)
        noted = replace(fit, made_at=datetime.now(UTC).isoformat(timespec="seconds"), author=current_user().author)
        with self._translated(), self._database.writing() as connection:
            put(connection, GRADER_FITS, _row(noted), changes=())
            return self._found(connection, noted.id) or noted

    @needs("viewer")
    def of(self, collection: str) -> tuple[GraderFit, ...]:
        """The fits to a collection, newest first; none where who acts may not read it."""
        if not current_user().may_read(collection):
            return ()
        query = select(GRADER_FITS.c.content).where(GRADER_FITS.c.collection == clean(collection))
        newest = query.order_by(GRADER_FITS.c.made_at.desc(), GRADER_FITS.c.id)
        with self._reading() as connection:
            return tuple(_adapter().validate_json(text) for text in connection.scalars(newest)) if connection else ()

    @needs("admin")
    def rename_collection(self, collection: str, new_name: str) -> None:
        """Let the fits to a collection follow it to its new name, each with the id that its content has there."""
        moved = [_row(replace(fit, collection=new_name)) for fit in self.of(collection)]
        if moved:
            with self._translated(), self._database.writing() as connection:
                put(connection, GRADER_FITS, moved, changes=())
            self.forget(collection)

    @needs("admin", log=N_("Fits of a grader removed"), on=("collection",))
    def forget(self, collection: str) -> int:
        """Remove the fits to a collection, which no other one can use; returns how many there were."""
        if not self.of(collection):
            return 0
        with self._translated(), self._database.writing() as connection:
            these = GRADER_FITS.c.collection == clean(collection)
            return connection.execute(delete(GRADER_FITS).where(these)).rowcount

    @internal
    def used_by(self, model: RoleModel, collection: str) -> GraderFit | None:
        """The fit that a grader judges a collection with; None for one as shipped.

        Raises ``InvalidConfig`` for a fit that is not kept here, of another model, or to another collection.
        """
        if not model.fit:
            return None
        with self._reading() as connection:
            fit = self._found(connection, model.fit) if connection else None
        if fit is None or not current_user().may_read(fit.collection):
            raise InvalidConfig.unknown_fit(fit=model.fit)
        if fit.model != model.model or fit.collection != collection:
            raise InvalidConfig.fit_of_another(fit=model.fit, model=fit.model, collection=fit.collection)
        return fit

    @needs("editor")
    def start_examples(
        self, config: RunConfig, plan: Plan, subject: Subject, note: Callable[[int], None] | None = None
    ) -> Future[tuple[Trial | None, Fault | None]]:
        """Try corrections as examples for the chat grader of ``config``; cancelling the future stops it."""
        from engine.evaluation.fit_examples import try_examples

        assert self._loop is not None and self._graders is not None
        graders = self._graders

        async def work() -> tuple[Trial | None, Fault | None]:
            grader = await graders.fresh_grader(config, plan.fit(subject))
            return await try_examples(grader, plan, subject, note)

        return self._loop.submit(work())

    def _found(self, connection: Connection, fit_id: str) -> GraderFit | None:
        query = select(GRADER_FITS.c.content).where(GRADER_FITS.c.id == fit_id)
        text = connection.scalar(query)
        return None if text is None else _adapter().validate_json(text)

    @contextmanager
    def _reading(self) -> Iterator[Connection | None]:
        """A connection; None where there is no database yet."""
        with self._translated():
            if not self._database.exists:
                yield None
                return
            if not self._opened:
                # A file of an earlier version has no such table until it is opened for writing.
                with self._database.writing():
                    self._opened = True
            with self._database.reading() as connection:
                yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UNUSABLE as error:
            cause, advice = cause_at(self._database.place, error)
            raise EvaluationError.unusable(path=self._database.place, cause=cause, advice=advice) from None


def _row(fit: GraderFit) -> dict[str, str]:
    return {
        "id": fit.id,
        "collection": clean(fit.collection),
        "model": clean(fit.model),
        "content": clean(json.dumps(asdict(fit), ensure_ascii=False, default=dict)),
        "made_at": fit.made_at,
        "author": clean(fit.author),
    }


@cache
def _adapter() -> TypeAdapter[GraderFit]:
    return TypeAdapter(GraderFit)
