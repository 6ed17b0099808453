"""Preview of an ingestion: files read and cut, nothing embedded and nothing written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from engine.errors import SourceError
from engine.knowledge.chunk import chunk
from engine.knowledge.ingest import plan, read_document, to_record
from engine.knowledge.items import IngestItem
from engine.knowledge.journal import Entry
from engine.knowledge.load import DEFAULT_LIMIT_MB
from engine.knowledge.written_context import price_of
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions, Preview, PreviewedSource
from engine.model.language import tokens
from engine.model.values import NEW_CONTEXT, Fault, PassageContext
from engine.roles import SourceInfo

Looking = Callable[[int, int, str], None]
"""Receives files read, all files, and the name of the next one; what it raises ends the preview."""


def preview(
    items: Sequence[IngestItem],
    present: Iterable[SourceInfo],
    chunks: ChunkOptions = DEFAULT_CHUNKS,
    *,
    context: PassageContext = NEW_CONTEXT,
    context_model: str = "",
    context_tokens_per_s: float | None = None,
    limit_mb: float = DEFAULT_LIMIT_MB,
    tokens_per_s: float | None = None,
    usual_tokens_per_s: float | None = None,
    failed: Iterable[tuple[str, Fault]] = (),
    looking: Looking | None = None,
) -> Preview:
    """The preview of a batch for a collection with the sources ``present``; blocks.

    Of each file only its passages are kept, so no more than one file's bytes are held at a time. Entries follow the
    batch; a name that comes again later in it with other content is one that cannot be used.
    """
    sources: dict[int, PreviewedSource] = {}
    bad: list[tuple[str, Fault]] = list(failed)
    entries: list[Entry] = []
    for position, item in enumerate(items):
        if looking is not None:
            looking(position, len(items), item.name)
        try:
            found, content_hash = _looked_at(item, chunks, limit_mb)
        except SourceError as error:
            bad.append((item.name, Fault.of(error)))
            continue
        sources[position] = found
        # Until the text of pictures is recognised, an account is not the one that will be kept.
        pending = any(note.code == "pages_to_recognise" for note in found.account.notes)
        account = None if pending else found.account
        entries.append(Entry(position, item.name, "read", content_hash, len(found.passages), account=account))
    there = {info.source: info for info in present}
    shown: list[PreviewedSource] = []
    to_embed = 0.0
    passages = 0
    for entry in plan(entries, there.values(), chunks):
        if entry.state == "superseded":
            bad += [(entry.name, entry.fault)] if entry.fault is not None else []
            continue
        source = sources[entry.position]
        recorded = to_record(entry, there)
        shown.append(replace(source, same_as=entry.same_as, replaces=entry.state == "replaces", recorded=recorded))
        if entry.state != "duplicate":
            passages += len(source.passages)
            to_embed += sum(round(tokens(passage.searched(context))) for passage in source.passages)
    rate = tokens_per_s or usual_tokens_per_s
    going_in = [source.passages for source in shown if not source.same_as]
    writing = price_of(context_model, passages, going_in, context_tokens_per_s) if context_model else None
    return Preview(
        tuple(shown),
        tuple(bad),
        passages,
        to_embed / rate if rate else None,
        measured=tokens_per_s is not None,
        writing=writing,
    )


def _looked_at(item: IngestItem, chunks: ChunkOptions, limit_mb: float) -> tuple[PreviewedSource, str]:
    document = read_document(item, limit_mb, recognise=False)
    cut = tuple(chunk(document, chunks))
    source = PreviewedSource(
        name=document.source,
        title=document.title,
        format=document.format,
        kind=document.kind,
        size=_size(item),
        encoding=document.encoding,
        passages=cut,
        tokens=tuple(round(tokens(passage.text)) for passage in cut),
        account=document.account,
    )
    return source, document.content_hash


def _size(item: IngestItem) -> int:
    try:
        if item.data is not None or item.member:
            return len(item.read())
        return item.path.stat().st_size if item.path is not None else 0
    except (OSError, SourceError):  # gone since it was read
        return 0
