"""The machine under the workbench: health of every part, models, settings."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast

from engine.errors import HostError, WorkbenchError
from engine.knowledge.jobs import Kind, Note
from engine.knowledge.manifest import Manifest
from engine.knowledge.progress import NOTHING, IngestReport, Progress
from engine.library.values import JobKind, JobStatus
from engine.llm import catalogue, cross_encoder, local
from engine.llm.chat import ChatModel
from engine.llm.discovery import model_details
from engine.llm.providers import OPENAI, provider_states
from engine.llm.pull import checked_name, pull, unload
from engine.llm.scorers import scorer_of
from engine.messages import N_
from engine.model.config import RoleModel
from engine.model.loop_thread import LoopThread, on_loop
from engine.model.system import (
    CatalogueModel,
    LocalModel,
    ModelDetails,
    ModelTrial,
    OfferedModels,
    PartHealth,
    Provider,
    PullStatus,
    SettingValue,
    TaskState,
)
from engine.model.values import Fault, Message
from engine.people.authorization import authorized, needs
from engine.roles import SILENT, CollectionInfo
from engine.system.diagnosis import Findings, written
from engine.system.health import LIMIT_S, Resources, look_at_all
from engine.system.masking import Redactor
from engine.system.setting_values import setting_values

_MODELS_KEPT_S = 10.0
_TRIAL = "Reply with the one word: ready."
_TRIAL_TOKENS = 32


class Jobs(Protocol):
    """What is needed of :class:`engine.running.ingestions.Ingestions`."""

    kinds: dict[JobKind, Kind]

    def every(self) -> tuple[JobStatus, ...]: ...

    def begin(self, wanted: Manifest) -> str: ...

    def stop(self, job_id: str) -> JobStatus: ...

    def discard(self, job_id: str) -> None: ...


@authorized
class Host:
    """Safe to call from any thread; every method blocks until it is done unless it says otherwise."""

    def __init__(
        self,
        loop: LoopThread,
        resources: Resources,
        jobs: Jobs,
        faults: Callable[[], Sequence[Fault]] = lambda: (),
    ) -> None:
        """``jobs`` are all of them, downloads among others; ``faults``: what went wrong lately, apart from any run."""
        self._loop = loop
        self._resources = resources
        self._faults = faults
        self._jobs = jobs
        jobs.kinds["pull"] = Kind(self._pull)
        self._guard = threading.Lock()
        self._models: tuple[ModelDetails, ...] = ()
        self._models_at: float | None = None

    # -- how it is ----------------------------------------------------------------------------------------------

    @needs("viewer")
    def health(self) -> tuple[PartHealth, ...]:
        """Every part as it is now, all looked at side by side, each for about three seconds; never raises."""
        redactor = Redactor(self._resources.settings)
        found = self._loop.call(look_at_all(self._resources, self._faults()))
        return tuple(replace(item, fault=redactor.fault(item.fault)) if item.fault else item for item in found)

    @needs("admin")
    def settings(self) -> tuple[SettingValue, ...]:
        """Every setting with its value, secrets masked, and where it came from."""
        return setting_values(self._resources.settings)

    @needs("viewer")
    def providers(self) -> tuple[Provider, ...]:
        """Providers of chat models other than Ollama."""
        return provider_states(self._resources.settings)

    @needs("viewer")
    def offered(self, provider: str = OPENAI) -> OfferedModels:
        """List a provider's models: for ``openai``, the server at ``WORKBENCH_OPENAI_URL`` if that is set.

        Nothing where neither address nor key is set; never raises.
        """
        return self._loop.call(self._resources.offered(provider, fresh=True))

    @needs("admin")
    def diagnosis(self) -> str:
        """Everything about this host for a report of a fault, as Markdown: no secret, no question, no text."""
        findings = Findings(
            settings=self.settings(),
            health=self.health(),
            models=self.models(fresh=True),
            providers=self.providers(),
            collections=self._loop.call(self._collections()),
            faults=self._faults(),
        )
        return Redactor(self._resources.settings)(written(findings))

    # -- models -------------------------------------------------------------------------------------------------

    @needs("viewer")
    def models(self, fresh: bool = False) -> tuple[ModelDetails, ...]:
        """Return Ollama's models by name, at most ten seconds old unless ``fresh``.

        Empty where it does not answer; :meth:`health` says why.
        """
        with self._guard:
            now = time.monotonic()
            if fresh or self._models_at is None or now - self._models_at > _MODELS_KEPT_S:
                self._models = self._loop.call(self._details())
                self._models_at = time.monotonic()
            return self._models

    @needs("viewer")
    def local_models(self) -> tuple[LocalModel, ...]:
        """Models in GGUF files, by name, with the memory that they have; unusable ones have a fault."""
        return local.local_models(self._resources.settings)

    @needs("viewer")
    def runs_files(self) -> bool:
        """Return whether the packages are installed that run GGUF files."""
        return local.installed()

    @needs("viewer")
    def catalogue(self) -> tuple[CatalogueModel, ...]:
        """Models of files that can be fetched, whether they are here or not."""
        return catalogue.listed(self._resources.settings.data_dir)

    @needs("viewer")
    def cross_encoders(self) -> tuple[str, ...]:
        """Models in folders that score passages, by name, no matter how they came here."""
        return cross_encoder.offered(self._resources.settings.data_dir)

    @needs("admin", log=N_("Download of a model begun"))
    def start_pull(self, name: str) -> None:
        """Begin or continue a download in the background: by Ollama, or of a model that :meth:`catalogue` lists.

        Raises ``HostError`` for a name that is none, or where it is running already.
        """
        name = _downloadable(name)
        with self._guard:
            known = self._newest_pulls().get(name)
            if known is not None and not known.over:
                raise HostError.busy(subject=name)
            self._jobs.begin(Manifest("", "pull", "", "", "", model=name))

    @needs("viewer")
    def pulls(self) -> tuple[PullStatus, ...]:
        """The newest download of each model, newest first."""
        return tuple(_pull_status(job) for job in self._newest_pulls().values())

    @needs("admin", log=N_("Download of a model stopped"))
    def stop_pull(self, name: str) -> None:
        """Stop a download; what has come is kept, and the next one continues there."""
        known = self._newest_pulls().get(_downloadable(name))
        if known is not None and not known.over:
            self._jobs.stop(known.id)

    @needs("admin", log=N_("Download of a model forgotten"))
    def forget_pull(self, name: str) -> None:
        """Take a download that is over from the list; raises ``JobError.active``."""
        for job in self._jobs.every():
            if job.kind == "pull" and job.extractor == _downloadable(name):
                self._jobs.discard(job.id)

    def _newest_pulls(self) -> dict[str, JobStatus]:
        found: dict[str, JobStatus] = {}
        for job in self._jobs.every():
            if job.kind == "pull":
                found.setdefault(job.extractor, job)
        return found

    async def _pull(self, manifest: Manifest, _: Path, note: Note) -> IngestReport:
        def tell(status: PullStatus) -> None:
            counts = (status.done, status.total, status.per_second, status.remaining_s)
            note(Progress(*counts, status.phase, "downloading"))

        tell(PullStatus(manifest.model, "running", ""))
        if known := catalogue.CATALOGUE.get(manifest.model):
            await catalogue.fetch(known, self._resources.settings.data_dir, tell)
            return NOTHING
        await pull(manifest.model, self._resources.settings, tell)
        # Pickers ask for what Ollama has: the new model must be among it.
        await self._resources.ollama(fresh=True)
        self._look_again()
        return NOTHING

    @needs("admin", log=N_("Model dropped from memory"))
    def unload(self, name: str) -> None:
        """Drop a model from memory, of Ollama or of a file; raises ``HostError.invalid_model_name``, ``ModelError``."""
        if ":" in name and RoleModel(name).in_file:
            local.stop(name.partition(":")[2], self._resources.settings)
            return
        self._loop.call(unload(checked_name(name), self._resources.settings))
        self._look_again()

    @on_loop
    @needs("editor")
    async def try_model(self, model: str) -> ModelTrial:
        """One short call: reply, time and tokens, or a fault; never raises."""
        began = time.perf_counter()
        try:
            chosen = RoleModel(model)
            if chosen.built_in:
                return ModelTrial(model, "", 0.0, 0, 0)
            if chosen.scores:
                return await self._try_scorer(chosen, began)
            chat = ChatModel(chosen, self._resources.settings, "generator", think=False, reply_tokens=_TRIAL_TOKENS)
            said = await chat.say((Message("user", _TRIAL),), SILENT, lambda _: None)
        except Exception as error:
            return ModelTrial(model, "", (time.perf_counter() - began) * 1000.0, fault=Fault.of(error))
        ms = (time.perf_counter() - began) * 1000.0
        return ModelTrial(model, said.text or said.thinking, ms, said.prompt_tokens, said.reply_tokens)

    async def _try_scorer(self, model: RoleModel, began: float) -> ModelTrial:
        """One score, as it comes."""
        (score,) = await scorer_of(model, self._resources.settings).score(_TRIAL, [_TRIAL])
        return ModelTrial(model.model, f"{score:.4g}", (time.perf_counter() - began) * 1000.0)

    def _look_again(self) -> None:
        """Look again without the guard: its holder waits for the loop, from which this may be called."""
        self._models_at = None

    # -- on the loop --------------------------------------------------------------------------------------------

    async def _details(self) -> tuple[ModelDetails, ...]:
        try:
            return await model_details(self._resources.settings)
        except WorkbenchError:
            return ()

    async def _collections(self) -> list[CollectionInfo]:
        """Empty where the store is not open or does not answer: a diagnosis uses what there is."""
        if not self._resources.knowledge.is_open:
            return []
        try:
            async with asyncio.timeout(LIMIT_S):
                return await self._resources.knowledge.collections()
        except (TimeoutError, WorkbenchError):
            return []


def _downloadable(name: str) -> str:
    """A name that can be downloaded; raises ``HostError.invalid_model_name``."""
    return name.strip() if name.strip() in catalogue.CATALOGUE else checked_name(name)


def _pull_status(job: JobStatus) -> PullStatus:
    state = cast(TaskState, job.state) if job.over else "running"
    counts = (job.done, job.total, job.per_second, job.remaining_s)
    return PullStatus(job.extractor, state, job.source, *counts, job.fault)
