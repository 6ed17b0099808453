"""The error tree: every error states one fact and one remedy, and has a stable code.

Adapters translate foreign exceptions into these; nothing above an adapter sees ``MilvusException`` or ``httpx``.
Parameters are kept so that a page can render the same error in another language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self


class WorkbenchError(Exception):
    """Root of all our errors: one sentence of fact, one of remedy, no traceback needed to act."""

    code: ClassVar[str] = "WB000"

    def __init__(self, fact: str, *, remedy: str, params: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{fact} {remedy}")
        self.fact = fact
        self.remedy = remedy
        self.params: dict[str, str] = dict(params or {})


class InvalidConfig(WorkbenchError):
    """A setting lies outside its range; ``field`` names it."""

    code = "WB100"

    def __init__(self, fact: str, *, remedy: str, params: Mapping[str, str] | None = None, field: str = "") -> None:
        super().__init__(fact, remedy=remedy, params=params)
        self.field = field

    @classmethod
    def out_of_range(cls, field: str, low: float, high: float) -> Self:
        return cls(
            f"{field} must lie between {low:g} and {high:g}.",
            remedy=f"Set {field} to a value in that range.",
            params={"field": field, "low": f"{low:g}", "high": f"{high:g}"},
            field=field,
        )

    @classmethod
    def not_one_of(cls, field: str, allowed: tuple[str, ...]) -> Self:
        names = ", ".join(allowed)
        return cls(
            f"{field} must be one of: {names}.",
            remedy=f"Set {field} to one of these values.",
            params={"field": field, "allowed": names},
            field=field,
        )


class InvalidQuestion(WorkbenchError):
    """The question is blank or too long."""

    code = "WB101"

    @classmethod
    def blank(cls) -> Self:
        return cls("The question is empty.", remedy="Type a question and run it again.")

    @classmethod
    def too_long(cls, length: int, limit: int) -> Self:
        return cls(
            f"The question has {length} characters; the limit is {limit}.",
            remedy="Shorten the question, or raise WORKBENCH_MAX_QUESTION_CHARS.",
            params={"length": str(length), "limit": str(limit)},
        )


class InvalidSettings(WorkbenchError):
    """A ``WORKBENCH_*`` variable or ``workbench.toml`` cannot be used."""

    code = "WB102"


class StoreError(WorkbenchError):
    """The passage store failed in a way that has no class of its own."""

    code = "WB200"


class StoreLocked(StoreError):
    code = "WB201"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The knowledge base {path!r} is open in another process.",
            remedy="Close the other workbench, or point WORKBENCH_MILVUS_URI at a server.",
            params={"path": path},
        )


class StoreUnreachable(StoreError):
    code = "WB202"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Milvus server at {address} does not answer.",
            remedy="Start it, or correct WORKBENCH_MILVUS_URI.",
            params={"address": address},
        )


class UnknownCollection(StoreError):
    code = "WB203"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"There is no collection named {name!r}.",
            remedy="Choose an existing collection, or make one with `python -m engine ingest PATH --collection NAME`.",
            params={"name": name},
        )


class EmbeddingMismatch(StoreError):
    code = "WB204"

    @classmethod
    def between(cls, collection: str, built_with: str, offered: str) -> Self:
        return cls(
            f"Collection {collection!r} was built with {built_with}, but the vectors offered come from {offered}.",
            remedy=f"Use {built_with} for this collection, or ingest its sources again into a new collection.",
            params={"collection": collection, "built_with": built_with, "offered": offered},
        )


class ReversedStore(StoreError):
    """The connect-time probe found that the store ranks unlike vectors first."""

    code = "WB205"


class InvalidCollectionName(StoreError):
    code = "WB206"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"{name[:80]!r} cannot be the name of a collection.",
            remedy="Use 1 to 60 letters, digits and underscores, beginning with a letter.",
            params={"name": name[:80]},
        )


class StoreFull(StoreError):
    """The store could not write because its disk is full."""

    code = "WB207"

    @classmethod
    def at(cls, path: str) -> Self:
        return cls(
            f"The disk that holds the knowledge base {path!r} is full.",
            remedy="Free some space, or point WORKBENCH_DATA_DIR at another disk.",
            params={"path": path},
        )


class StoreRefused(StoreError):
    """The server answered, but did not let us in."""

    code = "WB208"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"The Milvus server at {address} refused the credentials.",
            remedy="Set WORKBENCH_MILVUS_TOKEN to `user:password` of an account that may read and write there.",
            params={"address": address},
        )


class StoreUnreadable(StoreError):
    """The folder of the embedded store is damaged, or not ours to open."""

    code = "WB209"

    @classmethod
    def at(cls, path: str, why: str) -> Self:
        return cls(
            f"The knowledge base {path!r} cannot be opened: {why[:200]}",
            remedy="Check the folder's permissions; if it is damaged, move it away and ingest the sources again.",
            params={"path": path, "why": why[:200]},
        )


class ForeignCollection(StoreError):
    """A collection that another program made can be searched, but not changed."""

    code = "WB210"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"Collection {name!r} was made by another program, so it is only read here.",
            remedy="Ingest into a collection of your own, or change this one with the program that made it.",
            params={"name": name},
        )


class CollectionExists(StoreError):
    code = "WB211"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"There is a collection named {name!r} already.",
            remedy="Choose another name, or remove that collection first.",
            params={"name": name},
        )


class FieldTooLong(StoreError):
    """A text is longer than the store's field holds."""

    code = "WB212"

    @classmethod
    def of(cls, field: str, source: str, size: int, limit: int) -> Self:
        return cls(
            f"The {field} of a passage of {source[:80]!r} has {size} bytes; the store holds {limit}.",
            remedy=f"Shorten the {field}, or split the source into smaller passages.",
            params={"field": field, "source": source[:80], "size": str(size), "limit": str(limit)},
        )


class SourceError(WorkbenchError):
    """A file could not become passages; the other files of the batch still go in."""

    code = "WB300"


class SourceMissing(SourceError):
    code = "WB301"

    @classmethod
    def at(cls, name: str) -> Self:
        return cls(
            f"There is no file {name[:200]!r}.",
            remedy="Correct the path; relative paths start at the current folder.",
            params={"name": name[:200]},
        )


class SourceUnreadable(SourceError):
    code = "WB302"

    @classmethod
    def named(cls, name: str, why: str) -> Self:
        return cls(
            f"{name[:200]!r} cannot be read: {why[:200]}",
            remedy="Check its permissions, or copy it to a place that can be read.",
            params={"name": name[:200], "why": why[:200]},
        )


class SourceEmpty(SourceError):
    code = "WB303"

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(
            f"{name[:200]!r} holds no text.",
            remedy="Leave it out, or fill it and ingest it again.",
            params={"name": name[:200]},
        )


class SourceTooLarge(SourceError):
    code = "WB304"

    @classmethod
    def named(cls, name: str, size_mb: float, limit_mb: float) -> Self:
        return cls(
            f"{name[:200]!r} has {size_mb:.1f} MB; the limit is {limit_mb:g} MB.",
            remedy="Split it, or raise WORKBENCH_MAX_UPLOAD_MB.",
            params={"name": name[:200], "size_mb": f"{size_mb:.1f}", "limit_mb": f"{limit_mb:g}"},
        )


class SourceUnsupported(SourceError):
    """No loader is registered for the suffix."""

    code = "WB305"

    @classmethod
    def named(cls, name: str, suffixes: tuple[str, ...]) -> Self:
        known = ", ".join(suffixes)
        return cls(
            f"{name[:200]!r} is of a kind that cannot be ingested.",
            remedy=f"Convert it to one of: {known}.",
            params={"name": name[:200], "suffixes": known},
        )


class SourceMislabelled(SourceError):
    """The bytes are not what the suffix says."""

    code = "WB306"

    @classmethod
    def named(cls, name: str, found: str) -> Self:
        return cls(
            f"{name[:200]!r} is named like text, but its content is {found}.",
            remedy="Give it the suffix of what it is, or export it as text and ingest that.",
            params={"name": name[:200], "found": found},
        )


class SourceEncoding(SourceError):
    code = "WB307"

    @classmethod
    def named(cls, name: str, tried: tuple[str, ...]) -> Self:
        encodings = ", ".join(tried)
        return cls(
            f"The text encoding of {name[:200]!r} is none of: {encodings}.",
            remedy="Save it as UTF-8 and ingest it again.",
            params={"name": name[:200], "tried": encodings},
        )


class ModelError(WorkbenchError):
    """A model failed in a way that has no class of its own."""

    code = "WB400"


class ModelUnreachable(ModelError):
    code = "WB401"

    @classmethod
    def at(cls, provider: str, address: str) -> Self:
        return cls(
            f"{provider} at {address} does not answer.",
            remedy=f"Start {provider}, or correct WORKBENCH_OLLAMA_URL; built-in models need no server.",
            params={"provider": provider, "address": address},
        )


class ModelNotPulled(ModelError):
    code = "WB402"

    @classmethod
    def named(cls, model: str) -> Self:
        return cls(
            f"Ollama has no model named {model}.",
            remedy=f"Run `ollama pull {model}`, then try again.",
            params={"model": model, "command": f"ollama pull {model}"},
        )


class ModelTimeout(ModelError):
    code = "WB403"

    @classmethod
    def after(cls, model: str, seconds: float) -> Self:
        return cls(
            f"{model} gave no complete reply within {seconds:.0f} s.",
            remedy="Choose a smaller model, or raise WORKBENCH_CALL_TIMEOUT_S.",
            params={"model": model, "seconds": f"{seconds:.0f}"},
        )


class ModelInterrupted(ModelError):
    """The model's server dropped the connection in the middle of a reply."""

    code = "WB404"

    @classmethod
    def mid_reply(cls, model: str) -> Self:
        return cls(
            f"{model} stopped in the middle of its reply.",
            remedy="Look at the model server's log, then try again; what had arrived is kept in the record.",
            params={"model": model},
        )


class ModelRefused(ModelError):
    """The model's server answered with an error of its own."""

    code = "WB405"

    @classmethod
    def because(cls, model: str, status: int, message: str) -> Self:
        return cls(
            f"{model} was refused by its server ({status}): {message[:300]}",
            remedy="Look at the model server's log, or choose another model for this role.",
            params={"model": model, "status": str(status), "message": message[:300]},
        )


class UnknownProvider(ModelError):
    code = "WB406"

    @classmethod
    def named(cls, model: str, package: str) -> Self:
        return cls(
            f"The model {model!r} cannot be loaded here.",
            remedy=f"Install the package {package}, or choose `builtin` or `ollama:MODEL`.",
            params={"model": model, "package": package},
        )


class PromptTooLong(ModelError):
    code = "WB407"

    @classmethod
    def tokens(cls, model: str, tokens: int, num_ctx: int) -> Self:
        return cls(
            f"The prompt for {model} has about {tokens} tokens; its context holds {num_ctx}.",
            remedy="Raise num_ctx for this role, or lower top_k.",
            params={"model": model, "tokens": str(tokens), "num_ctx": str(num_ctx)},
        )


class EmptyReply(ModelError):
    """A generator produced no text at all."""

    code = "WB408"

    @classmethod
    def from_model(cls, model: str) -> Self:
        return cls(
            f"{model} returned an empty answer.",
            remedy="Try again, or choose another model for the generator.",
            params={"model": model},
        )


class GraderFailed(ModelError):
    """No verdict of a round could be read, so the run cannot be decided."""

    code = "WB409"

    @classmethod
    def all_unreadable(cls, model: str, passages: int) -> Self:
        return cls(
            f"None of the {passages} verdicts of {model} could be read.",
            remedy="Look at the raw replies under Model calls, and choose another model for the grader.",
            params={"model": model, "passages": str(passages)},
        )


class ModelGarbled(ModelError):
    """What answered does not speak the protocol of a model server."""

    code = "WB410"

    @classmethod
    def by(cls, model: str) -> Self:
        return cls(
            f"The server of {model} sent an answer that is not in its protocol.",
            remedy="Check that WORKBENCH_OLLAMA_URL is the address of Ollama itself, then try again.",
            params={"model": model},
        )


class UnreadableReply(ModelError):
    """A model's reply has not the form asked for, after a second try as well."""

    code = "WB411"

    @classmethod
    def of(cls, model: str) -> Self:
        return cls(
            f"The reply of {model} could not be read.",
            remedy="Look at the raw reply under Model calls, and choose another model for this role.",
            params={"model": model},
        )


class TextTooLong(ModelError):
    """A text does not fit the window of an embedding model, which would have cut it silently."""

    code = "WB412"

    @classmethod
    def tokens(cls, model: str, tokens: int) -> Self:
        return cls(
            f"A text of about {tokens} tokens is too long for the embedding model {model}.",
            remedy="Shorten it, ingest with smaller passages, or choose an embedding model with a longer context.",
            params={"model": model, "tokens": str(tokens)},
        )


class RecordError(WorkbenchError):
    """A stored run cannot be read or written."""

    code = "WB500"


class UnknownRun(RecordError):
    code = "WB501"

    @classmethod
    def named(cls, run_id: str) -> Self:
        return cls(
            f"There is no run {run_id[:64]!r}.",
            remedy="It may have been deleted; open another one from the list of runs.",
            params={"run": run_id[:64]},
        )


class RunActive(RecordError):
    code = "WB502"

    @classmethod
    def named(cls, run_id: str) -> Self:
        return cls(
            f"Run {run_id!r} is still going on.",
            remedy="Cancel it first, then delete it.",
            params={"run": run_id},
        )


class TooManyRuns(WorkbenchError):
    code = "WB503"

    @classmethod
    def limit(cls, limit: int) -> Self:
        return cls(
            f"{limit} runs are going on already.",
            remedy="Wait for one to end or stop one, or raise WORKBENCH_MAX_CONCURRENT_RUNS.",
            params={"limit": str(limit)},
        )


class EngineClosed(WorkbenchError):
    code = "WB504"

    @classmethod
    def now(cls) -> Self:
        return cls("The engine is closed.", remedy="Open a new one with Engine.open().")
