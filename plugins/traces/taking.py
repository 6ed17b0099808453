"""Traces of other programs as runs: looked at, taken in, gathered as a query set, judged where they were not."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.builtin.grader import BuiltinGrader
from engine.errors import UnknownCollection, UnknownRun
from engine.messages import N_
from engine.model.config import RoleModel, RunConfig
from engine.model.language import language_of
from engine.model.values import SAMPLE_COLLECTION, ModelCall, Passage, PassageId, RunRecord, Verdict
from engine.people import current_user
from engine.people.authorization import authorized, needs
from engine.people.readable import may_read
from engine.plugins import Inside, Part
from engine.roles import Grader, SilentTrace, StoredPassage
from plugins.traces.assembling import evidence_of, program_of, run_id_of
from plugins.traces.deciding import decided, events_of, settings_for
from plugins.traces.errors import ALL_JUDGED, HIDDEN, OWN_RUN
from plugins.traces.foreign import LeftOut, Recognised
from plugins.traces.judging import JudgingPrice, judged, price_of, ungraded
from plugins.traces.report import Previewed, TracesTaken
from plugins.traces.trace_file import recognised

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.model.loop_thread import LoopThread
    from engine.records.store import RunStore

_PATIENCE_S = 120.0
"""How long one passage may take to be judged."""


@authorized
class Traces(Part):
    """The way in for traces of other programs; safe from any thread."""

    def __init__(self, engine: Engine, inside: Inside) -> None:
        self._engine = engine
        self._loop: LoopThread = inside.loop
        self._store: RunStore = inside.store

    @needs("editor")
    def preview(self, files: Sequence[tuple[str, bytes]], *, project: str = "", collection: str = "") -> Previewed:
        """Read files of traces, by name and content, and keep nothing.

        ``collection`` says where the documents of that program are kept here too, if they are. A trace that others
        imported into a collection that is kept from who asks is left out: its id is taken, and its run theirs. Raises
        ``WorkbenchError`` and ``UnknownCollection``.
        """
        if collection and not current_user().may_read(collection):
            raise UnknownCollection(name=collection)
        found = recognised(files, project)
        program = program_of(found.traces, collection)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        evidence = [evidence_of(trace, program, at, current_user().author) for trace in found.traces]
        config = settings_for(evidence, program.config)
        traces = {run_id_of(trace): trace for trace in found.traces}
        made = [decided(record, config) for record in evidence]
        made.sort(key=lambda record: (record.started_at, record.id))
        ordered = tuple(traces[record.id] for record in made)
        known = frozenset(self._store.configs([record.id for record in made]))
        kept_from = set() if current_user().reads_all else known
        hidden = {run_id for run_id in kept_from if not may_read(self._store.load(run_id))}
        left_out = tuple(LeftOut("hidden", {"trace": traces[run_id].trace_id}) for run_id in sorted(hidden))
        if hidden and len(hidden) == len(made):
            raise HIDDEN(name=", ".join(name for name, _ in files), n=len(hidden))
        return Previewed(
            Recognised(
                tuple(trace for trace in ordered if run_id_of(trace) not in hidden),
                found.spans,
                (*found.left_out, *left_out),
            ),
            tuple(record for record in made if record.id not in hidden),
            known - hidden,
        )

    @needs("editor", log=N_("Traces imported"), on=("names", "set_name"))
    def take(
        self, files: Sequence[tuple[str, bytes]], *, project: str = "", collection: str = "", set_name: str = "",
        names: Sequence[str] = (),
    ) -> TracesTaken:  # fmt: skip
        """Keep what :meth:`preview` shows as runs, and with a ``set_name`` their questions as a query set.

        A trace that was imported before stays the run that it is. ``names`` is for the log of changes. Raises as
        :meth:`preview` does; with a ``set_name`` ``EvaluationError``.
        """
        from engine.evaluation.store import usable_set_name

        seen = self.preview(files, project=project, collection=collection)
        name = usable_set_name(set_name) if set_name else ""
        for record, trace in zip(seen.records, seen.found.traces, strict=True):
            if record.id not in seen.known:
                for event in events_of(record, trace):
                    self._store.append(record.id, event)
        self._store.flush()
        if not name:
            return TracesTaken(seen)
        return TracesTaken(seen, name, self._as_set(name, [self._store.load(record.id) for record in seen.records]))

    @needs("editor")
    def price(self, run_ids: Sequence[str], model: RoleModel) -> JudgingPrice:
        """Price :meth:`judge`; raises ``UnknownRun``."""
        return price_of(self._readable(run_ids), model)

    @needs("editor", log=N_("Passages of imported runs judged"), on=("run_ids",))
    def judge(
        self,
        run_ids: Sequence[str],
        model: RoleModel,
        *,
        set_name: str = "",
        note: Callable[[int], None] | None = None,
    ) -> Future[int]:
        """Have a grader judge what these imported runs left ungraded, in the background; gives how many passages.

        Each run is kept with its verdicts as soon as it is done. With a ``set_name`` the runs are gathered under it
        once more. Raises ``UnknownRun`` and ``ALL_JUDGED``.
        """
        records = self._readable(run_ids)
        if any(record.origin is None for record in records):
            raise OWN_RUN(run=next(record.id for record in records if record.origin is None))
        left = [record for record in records if ungraded(record)]
        if not left:
            raise ALL_JUDGED()
        return self._loop.submit(self._judge(records, left, model, set_name, note))

    async def _judge(
        self,
        records: Sequence[RunRecord],
        left: Sequence[RunRecord],
        model: RoleModel,
        set_name: str,
        note: Callable[[int], None] | None,
    ) -> int:
        done = 0
        for record in left:
            grader, passages, heard = await self._grader(model), ungraded(record), _Listening()
            verdicts = await grader.grade(record.question, passages, heard)
            by_id = {passage.id: verdict for passage, verdict in zip(passages, verdicts, strict=True)}
            self._keep(record, by_id, heard.calls, model)
            done += len(passages)
            if note is not None:
                note(done)
        if set_name:
            self._as_set(set_name, [self._store.load(record.id) for record in records])
        return done

    def _keep(
        self, record: RunRecord, verdicts: dict[PassageId, Verdict], calls: Sequence[ModelCall], model: RoleModel
    ) -> None:
        made = judged(record, verdicts, calls, model)
        self._store.replace(record.id, events_of(made))
        self._engine.batches.renewed(self._store.load(record.id))

    async def _grader(self, model: RoleModel) -> Grader:
        """The built-in grader measures with the embedding of the samples what no collection here holds."""
        if not (model.built_in or model.fit):
            config = RunConfig(models=replace(RunConfig().models, grader=model))
            return await self._engine.resources.fresh_grader(config)
        retriever = await self._engine.resources.knowledge.retriever(SAMPLE_COLLECTION)

        async def similarity(question: str, passages: Sequence[Passage]) -> list[float]:
            stored = [StoredPassage(id=item.id, source=item.source, text=item.text) for item in passages]
            found = await retriever.measured(question, stored)
            near = {item.id: item.similarity for item in found.passages}
            return [near[item.id] for item in passages]

        return BuiltinGrader(similarity)

    def _readable(self, run_ids: Sequence[str]) -> list[RunRecord]:
        records = [self._store.load(run_id) for run_id in run_ids]
        for record in records:
            if not current_user().may_read(record.collection, record.config.collection):
                raise UnknownRun(run=record.id)
        return records

    def _as_set(self, name: str, records: Sequence[RunRecord]) -> str:
        """The questions as a set, and the runs as what was gathered over it; the newest run of a question counts."""
        from engine.evaluation.case_runs import spent_by
        from engine.evaluation.cases import Case, QuerySet, question_id
        from engine.evaluation.values import Batch

        newest = {question_id(record.question): record for record in records}
        cases = [
            Case(case_id, record.question, language=language_of(record.question), kind="trace")
            for case_id, record in newest.items()
        ]
        config = next(iter(newest.values())).config
        store = self._engine.evaluation
        origin = next((r.origin.project or r.origin.tool for r in newest.values() if r.origin), "")
        store.save_query_set(QuerySet(name, tuple(cases), config.collection, origin=origin))
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        ids = tuple(case.id for case in cases)
        batch = Batch(uuid.uuid4().hex, name, config, 1, at, ids, {}, {}, author=current_user().author)
        store.add_batch(batch, cases, "")
        for case_id, record in newest.items():
            store.begin_case(batch.id, case_id, record.id)
            store.end_case(batch.id, case_id, record.id, None, spent_by(record))
        return batch.id


class _Listening(SilentTrace):
    """Keeps the calls of a grader, and leaves each of them its time."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    def call(self, call: ModelCall) -> None:
        self.calls.append(call)

    def time_left_s(self) -> float:
        return _PATIENCE_S
