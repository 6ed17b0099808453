"""BEIR data sets: corpus.jsonl, queries.jsonl and qrels/*.tsv, in a folder or in a zip that is never unpacked."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

from engine.errors import EvaluationError
from engine.evaluation.cases import Case
from engine.evaluation.formats.common import MOST_BYTES, Import, file_of, json_lines, question_fault, sources, text_of
from engine.model.language import language_of

_CORPUS, _QUERIES = "corpus.jsonl", "queries.jsonl"
_SPLITS = ("test", "dev")
_MOST_MEMBERS = 10_000
_PIECE = 1 << 20


class Files(Protocol):
    """The files of a data set, by their name with ``/`` below the data set's own folder."""

    name: str

    def names(self) -> list[str]: ...

    def read(self, name: str) -> bytes: ...


class FolderFiles:
    """Files below a folder; only files that a data set has are ever opened."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._folder = folder
        self._left = MOST_BYTES

    def names(self) -> list[str]:
        found = [self._folder / _CORPUS, self._folder / _QUERIES, *sorted((self._folder / "qrels").glob("*.tsv"))]
        return [path.relative_to(self._folder).as_posix() for path in found if path.is_file()]

    def read(self, name: str) -> bytes:
        data = file_of(self._folder / name, self.name, self._left)
        self._left -= len(data)
        return data


class ZipFiles:
    """Files in a zip archive, read member by member in memory: its sizes are not believed, its paths lead nowhere."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.name = name
        self._archive = archive
        self._left = MOST_BYTES
        members = [item for item in archive.infolist() if not item.is_dir()]
        if len(members) > _MOST_MEMBERS:
            raise EvaluationError.data_set_too_large(name=name, what="files", limit=_MOST_MEMBERS)
        self._members = {item.filename.replace("\\", "/"): item for item in members}
        roots = [path.removesuffix(_CORPUS) for path in self._members if PurePosixPath(path).name == _CORPUS]
        self._root = min(roots, key=lambda root: (root.count("/"), root), default="")

    def names(self) -> list[str]:
        return sorted(path.removeprefix(self._root) for path in self._members if path.startswith(self._root))

    def read(self, name: str) -> bytes:
        pieces: list[bytes] = []
        with _unpacking(self.name), self._archive.open(self._members[self._root + name]) as stream:
            while piece := stream.read(_PIECE):
                self._left -= len(piece)
                if self._left < 0:
                    raise EvaluationError.data_set_too_large(
                        name=self.name, what="megabytes", limit=MOST_BYTES // 1_000_000
                    )
                pieces.append(piece)
        return b"".join(pieces)


@contextmanager
def zipped(stream: IO[bytes], name: str) -> Iterator[ZipFiles]:
    """The files of an archive; raises ``EvaluationError.data_set_unusable`` where it is none."""
    with _unpacking(name), zipfile.ZipFile(stream) as archive:
        yield ZipFiles(archive, name)


def parse_beir(files: Files, made: Import) -> None:
    """Every document becomes the source ``<id>.txt``, its title in front of its text; a question expects the sources
    with a relevance above 0.

    Of several files of relevance ``test`` is taken, else ``dev``, else all. Questions without a relevant document are
    left out, as the figures published for these data sets do. Without any file of relevance all questions go in,
    unlabelled.
    """
    names = files.names()
    for name in (_CORPUS, _QUERIES):
        if name not in names:
            raise EvaluationError.data_set_unusable(name=files.name, cause=f"it holds no {name}")
    qrels = [name for name in names if PurePosixPath(name).parent.name == "qrels" and name.endswith(".tsv")]
    relevant = _relevance(files, _chosen(qrels, made), made)
    by_id: dict[str, str] = {}
    for _, row in _rows(files, _CORPUS, made):
        text = "\n\n".join(str(part) for part in (row.get("title"), row.get("text")) if part)
        source = made.add_document(str(row["_id"]), text)
        if source is not None:
            by_id[str(row["_id"])] = source
    _add_cases(files, relevant if qrels else None, by_id, made)


def _add_cases(files: Files, relevant: Mapping[str, list[str]] | None, by_id: Mapping[str, str], made: Import) -> None:
    without = 0
    for line, row in _rows(files, _QUERIES, made):
        query_id, question = str(row["_id"]), row.get("text")
        fault = question_fault(question)
        if fault or not isinstance(question, str):
            made.leave_out(fault, line, _QUERIES)
            continue
        wanted = [] if relevant is None else relevant.get(query_id, [])
        found = [by_id[item] for item in wanted if item in by_id]
        if relevant is not None and not found:
            without += 1
            if wanted:
                fact = f"None of the documents that are relevant for {query_id[:80]!r} is in the corpus."
                made.note("no_document", fact, line, file=_QUERIES)
            continue
        answerable = True if found else None
        case = Case(query_id, question.strip(), sources(found), language_of(question), answerable=answerable)
        made.add_case(case, line, _QUERIES)
    if without:
        fact = f"{without} questions have no relevant document in the files of relevance taken and are left out."
        made.note("no_relevant", fact, file=_QUERIES, count=without)


def _chosen(qrels: list[str], made: Import) -> list[str]:
    if not qrels:
        made.note("no_qrels", "There is no qrels/*.tsv, so the questions are not labelled.")
    for split in _SPLITS:
        path = next((item for item in qrels if PurePosixPath(item).stem == split), None)
        if path is not None and len(qrels) > 1:
            others = ", ".join(PurePosixPath(item).name for item in qrels if item != path)
            made.note("split", f"{PurePosixPath(path).name} is taken; {others} left out.", count=len(qrels) - 1)
            return [path]
    return qrels


def _relevance(files: Files, names: list[str], made: Import) -> dict[str, list[str]]:
    """Ids of relevant documents by id of the query."""
    relevant: dict[str, list[str]] = {}
    for name in names:
        for number, line in enumerate(text_of(name, files.read(name)).split("\n"), 1):
            cells = line.split("\t")
            if not line.strip() or (number == 1 and not _is_number(cells[-1])):
                continue
            # Four columns are those of TREC: query, iteration, document, relevance.
            if len(cells) not in (3, 4) or not _is_number(cells[-1]):
                made.leave_out("it is not query, document and relevance", number, name)
            elif float(cells[-1]) > 0:
                relevant.setdefault(cells[0].strip(), []).append(cells[-2].strip())
    return relevant


def _rows(files: Files, name: str, made: Import) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, row in json_lines(text_of(name, files.read(name))):
        if isinstance(row, str):
            made.leave_out(row, number, name)
        elif not isinstance(row.get("_id"), str | int) or row["_id"] == "":
            made.leave_out("it is no object with an '_id'", number, name)
        else:
            yield number, row


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def _unpacking(name: str) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        # RuntimeError: a member is encrypted. NotImplementedError: a compression that Python does not have.
        why = "it is encrypted" if type(error) is RuntimeError else "the archive is damaged or of an unknown kind"
        raise EvaluationError.data_set_unusable(name=name, cause=why) from None
