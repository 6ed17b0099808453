"""Questions drafted from collections: made in the background, looked through, accepted into query sets or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.drafting.values import Kept, State
from engine.errors import EvaluationError, InvalidConfig, UnknownCollection, UnknownQuerySet
from engine.evaluation.cases import SAMPLE_SET
from engine.evaluation.store import usable_set_name
from engine.knowledge import manifest as manifests
from engine.knowledge.jobs import Kind, Note, new_id
from engine.knowledge.kept_replies import KeptReplies
from engine.knowledge.manifest import Manifest
from engine.knowledge.progress import NOTHING, IngestReport, Progress
from engine.messages import N_
from engine.model.config import RoleModel
from engine.model.language import language_of
from engine.model.loop_thread import LoopThread
from engine.people import current_user
from engine.people.authorization import authorized, needs
from engine.running.resources import Resources

if TYPE_CHECKING:
    from engine.drafting.drafting import Made, Step
    from engine.running.evaluations import Evaluations
    from engine.running.ingestions import Ingestions

USUAL_DRAFTS, MOST_DRAFTS = 40, 200
_LONGEST_GOLD = 10
_OWN = "drafts"
"""Where a job notes the ids of its drafts."""


@authorized
class Drafting:
    """Safe to call from any thread; every method blocks until it is done unless it says otherwise."""

    def __init__(
        self, loop: LoopThread, resources: Resources, evaluations: Evaluations, ingestions: Ingestions
    ) -> None:
        """``ingestions`` has the jobs, draftings among them."""
        self._loop = loop
        self._ingestions = ingestions
        self._waited: dict[str, tuple[Future[Made], Callable[[Step], None]]] = {}
        """Who waits for a drafting of this process, by its job."""
        ingestions.kinds["draft"] = Kind(self._step)
        self._resources = resources
        self._evaluations = evaluations

    @needs("editor", log=N_("Questions drafted"), on=("collection",))
    def start(
        self,
        collection: str,
        limit: int = USUAL_DRAFTS,
        model: str = "",
        note: Callable[[Step], None] = lambda _: None,
    ) -> Future[Made]:
        """Draft up to ``limit`` questions as a job and keep them; cancelling the future stops it, and keeps none.

        ``model`` is the chat model that writes them; empty for the generator where a run names none. Raises
        ``UnknownCollection``, and ``InvalidConfig`` for a limit out of range and for what is no chat model.
        """
        if not 1 <= limit <= MOST_DRAFTS:
            raise InvalidConfig.out_of_range(field="limit", low=1, high=MOST_DRAFTS)
        writer = RoleModel(model) if model else self._resources.settings.models.generator
        info = self._loop.call(self._resources.knowledge.describe(collection))
        if not writer.chats:
            raise InvalidConfig.no_question_writer(model=writer.model)
        made: Future[Made] = Future()
        job_id = new_id()
        self._waited[job_id] = made, note
        try:
            self._ingestions.begin(Manifest(job_id, "draft", info.name, "", "", model=writer.model, limit=limit))
        except BaseException:
            del self._waited[job_id]
            raise
        return made

    @needs("editor")
    def make(self, collection: str, limit: int = USUAL_DRAFTS, model: str = "") -> Made:
        """:meth:`start`, waited for; raises ``ModelError`` too."""
        return self.start(collection, limit, model).result()

    async def _step(self, manifest: Manifest, folder: Path, note: Note) -> IngestReport:
        """Draft the questions of a job, with the replies that an earlier process already has."""
        alone: Future[Made] = Future()
        waits, note_step = self._waited.pop(manifest.id, (alone, lambda _: None))

        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        waits.add_done_callback(lambda ended: loop.call_soon_threadsafe(task.cancel) if ended.cancelled() else None)

        def tell(step: Step) -> None:
            note_step(step)
            note(Progress(step.done, step.total, 0.0, None, "", step.stage))

        try:
            made = await self._made(manifest, folder, tell)
        except asyncio.CancelledError:
            waits.cancel()
            raise
        except BaseException as error:
            with suppress(InvalidStateError):  # it was cancelled
                waits.set_exception(error)
            raise
        with suppress(InvalidStateError):
            waits.set_result(made)
        return replace(NOTHING, passages=made.passages, added=tuple(draft.id for draft in made.drafts))

    async def _made(self, manifest: Manifest, folder: Path, tell: Callable[[Step], None]) -> Made:
        # Imported here: a start needs no chat model.
        from engine.drafting.drafting import make
        from engine.llm.question_writer import ChatQuestionWriter

        kept = await asyncio.to_thread(KeptReplies, manifests.replies_of(folder))
        # A process that died after it had kept its drafts is to end with these, and not with as many more.
        asked = await asyncio.to_thread(self._asked_before, manifest.collection, kept.find(_OWN) or ())
        writer = ChatQuestionWriter(RoleModel(manifest.model), self._resources.settings)
        knowledge, limit = self._resources.knowledge, manifest.limit
        made = await make(knowledge, manifest.collection, asked, limit, writer, kept=kept, note=tell)
        await asyncio.to_thread(kept.keep, _OWN, *(draft.id for draft in made.drafts))
        await asyncio.to_thread(self._evaluations.drafts.add, made.drafts)
        return made

    def _asked_before(self, collection: str, own: Collection[str]) -> list[str]:
        """Questions of this collection that there are, in query sets or drafted before, but for a job's ``own``."""
        store = self._evaluations.store
        sets = [store.query_set(name) for name in store.query_sets()]
        asked = [(case.id, case.question) for item in sets if item.collection == collection for case in item.cases]
        drafts = (item.draft for item in self._evaluations.drafts.drafts(collection))
        return [text for name, text in (*asked, *((item.id, item.question) for item in drafts)) if name not in own]

    @needs("viewer")
    def list(self, collection: str = "", state: State | None = None) -> tuple[Kept, ...]:
        """Drafts of one collection or of all, in the order in which they are best looked through."""
        return self._evaluations.drafts.drafts(collection, state)

    @needs("viewer")
    def draft(self, draft_id: str) -> Kept:
        """Return a draft by its id; raises ``EvaluationError.unknown_draft``."""
        return self._evaluations.drafts.draft(draft_id)

    @needs("editor", log=N_("Drafted question accepted"), on=("draft_id", "set_name"))
    def accept(
        self,
        draft_id: str,
        set_name: str,
        *,
        question: str | None = None,
        gold_answers: Sequence[str] | None = None,
    ) -> Kept:
        """Put a draft into a query set, edited where ``question`` or ``gold_answers`` are given; the set may be new.

        One that was accepted into another set leaves that one.

        Raises ``EvaluationError`` for an unknown draft, ``InvalidQuestion``, and ``EvaluationError`` for the name, and
        where the set is asked of another collection.
        """
        kept = self.draft(draft_id)
        draft = kept.draft
        name = usable_set_name(set_name)
        wanted = draft.question if question is None else " ".join(question.split())
        text = self._resources.settings.checked_question(wanted)
        gold = draft.gold_answers if gold_answers is None else tuple(filter(None, map(str.strip, gold_answers)))
        self._require_same_collection(name, draft.collection)
        edited = replace(draft, question=text, language=language_of(text), gold_answers=gold[:_LONGEST_GOLD])
        self._evaluations.store.add_case(name, edited.case(), draft.collection, origin="drafts")
        if kept.set_name != name:
            self._take_out(kept)
        return self._evaluations.drafts.decide(draft_id, "accepted", name)

    def _require_same_collection(self, set_name: str, collection: str) -> None:
        store = self._evaluations.store
        if set_name not in store.query_sets():
            return
        bound = store.query_set(set_name).collection
        if bound != collection:
            raise EvaluationError.other_collection(name=set_name, bound=bound, collection=collection)

    @needs("editor", log=N_("Drafted question refused"))
    def refuse(self, draft_id: str) -> Kept:
        """Put a draft aside; its wording is not drafted again, and an accepted question leaves its set.

        Raises ``EvaluationError.unknown_draft``.
        """
        self._take_out(self.draft(draft_id))
        return self._evaluations.drafts.decide(draft_id, "refused")

    @needs("editor", log=N_("Decision on a drafted question taken back"))
    def reopen(self, draft_id: str) -> Kept:
        """Take back what was decided: an accepted question leaves its set. Raises ``EvaluationError.unknown_draft``."""
        self._take_out(self.draft(draft_id))
        return self._evaluations.drafts.decide(draft_id, "open")

    def _take_out(self, kept: Kept) -> None:
        if kept.state == "accepted" and kept.set_name != SAMPLE_SET:
            with suppress(UnknownQuerySet):  # deleted since, and the question with it
                self._evaluations.store.remove_case(kept.set_name, kept.draft.id)

    @needs("editor", log=N_("Drafted questions removed"), on=("collection",))
    def forget(self, collection: str) -> int:
        """Remove the open drafts of a collection; returns how many there were.

        Raises ``UnknownCollection`` where who acts may not read it.
        """
        if not current_user().may_read(collection):
            raise UnknownCollection(name=collection)
        return self._evaluations.drafts.forget(collection)
