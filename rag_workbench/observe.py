"""Record a retrieval loop of your own, so that the workbench can debug it: three decorators, no dependency.

    from rag_workbench.observe import observe_generation, observe_grading, observe_retrieval

    @observe_retrieval      # takes a question or query, gives documents
    @observe_grading        # takes documents, gives verdicts on them or those that passed
    @observe_generation     # takes documents, gives the answer

Functions may be plain or ``async``, and may take a state with ``question`` and ``documents``, as nodes of a graph do.
What they did goes to ``WORKBENCH_URL`` where that is set, else into files of the folder ``WORKBENCH_TRACES``
(``workbench-traces``), which ``import-traces`` reads. A program that answers several questions at the same time, or
writes several answers to one, wraps the function around all of it in ``@observe_run``.

Nothing here breaks or slows the observed program: what goes wrong is logged once, a thread of its own delivers, and
where it cannot keep up, traces are dropped. This file alone is enough; it may be copied.
"""

from __future__ import annotations

import atexit
import base64
import functools
import inspect
import json
import logging
import math
import os
import queue
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["configure", "flush", "observe_generation", "observe_grading", "observe_retrieval", "observe_run"]

_F = TypeVar("_F", bound=Callable[..., Any])
_log = logging.getLogger("rag_workbench.observe")
_MOST_WAITING = 1000
_MOST_STEPS = 500
_LONGEST = 100_000
_PATIENCE_S = 10.0
_QUESTIONS = ("question", "query", "input", "user_input", "text")
_DOCUMENTS = (
    "documents",
    "docs",
    "context",
    "passages",
    "chunks",
    "nodes",
    "source_nodes",
    "document",
    "doc",
    "passage",
)
_ANSWERS = ("generation", "answer", "response", "output", "result", "content", "text")
_VERDICTS = ("relevant", "is_relevant", "binary_score", "grade", "verdict", "score")
_WORDS_OF_A_VERDICT = 3
_TEXTS = ("page_content", "content", "text", "body")


@dataclass
class _Run:
    """One question on its way."""

    question: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    began: float = field(default_factory=time.perf_counter)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))
    steps: list[dict[str, Any]] = field(default_factory=list)
    answer: str = ""
    error: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the form that is written and that the workbench reads."""
        return {
            "workbench_trace": 1,
            "id": self.id,
            "project": _settings["project"],
            "question": self.question,
            "started_at": self.started_at,
            "duration_ms": (time.perf_counter() - self.began) * 1000,
            "steps": list(self.steps),
            "answer": self.answer,
            "error": self.error,
        }


_settings: dict[str, str] = {
    "url": os.environ.get("WORKBENCH_URL", ""),
    "token": os.environ.get("WORKBENCH_TOKEN", ""),
    "folder": os.environ.get("WORKBENCH_TRACES", "workbench-traces"),
    "project": os.environ.get("WORKBENCH_PROJECT", "observed"),
}
_current: ContextVar[_Run | None] = ContextVar("rag_workbench_run", default=None)
_guard = threading.Lock()
_alone: list[_Run] = []
"""The run of a program that says nothing of its beginning: one at a time."""
_waiting: queue.Queue[dict[str, Any]] = queue.Queue(_MOST_WAITING)
_warned: set[str] = set()
_thread: list[threading.Thread] = []


def configure(
    *, url: str | None = None, token: str | None = None, folder: str | None = None, project: str | None = None
) -> None:
    """Say where traces go, and what the program is called, instead of the environment."""
    given = {"url": url, "token": token, "folder": folder, "project": project}
    _settings.update({name: value for name, value in given.items() if value is not None})


def observe_retrieval(function: _F | None = None, *, model: str = "") -> Any:
    """Record what a function finds: its query, and the documents that it returns.

    >>> @observe_retrieval
    ... def search(query): ...
    >>> search.__name__
    'search'
    """
    return _observed(function, "retrieval", model)


def observe_grading(function: _F | None = None, *, model: str = "") -> Any:
    """Record verdicts: of one document, a list of several, or those documents that a step gives on."""
    return _observed(function, "grading", model)


def observe_generation(function: _F | None = None, *, model: str = "") -> Any:
    """Record the answer that a function returns, and the documents that it was given."""
    return _observed(function, "generation", model)


def observe_run(function: _F | None = None) -> Any:
    """Record all that happens inside a function as one question; also ``with observe_run():``."""
    if function is None:
        return _as_one("")
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def waiting(*args: Any, **kwargs: Any) -> Any:
            with _as_one(_safely(_question, function, args, kwargs) or "") as run:
                result = await function(*args, **kwargs)
                _safely(_note_answer, run, result)
                return result

        return waiting

    @functools.wraps(function)
    def through(*args: Any, **kwargs: Any) -> Any:
        with _as_one(_safely(_question, function, args, kwargs) or "") as run:
            result = function(*args, **kwargs)
            _safely(_note_answer, run, result)
            return result

    return through


@contextmanager
def _as_one(question: str) -> Iterator[_Run]:
    run = _Run(question)
    before = _current.set(run)
    try:
        yield run
    except BaseException as error:
        run.error = f"{type(error).__name__}: {error}"[:500]
        raise
    finally:
        _current.reset(before)
        _safely(_deliver, run)


def flush(timeout_s: float = 5.0) -> bool:
    """Deliver what is left, and wait for it; False where ``timeout_s`` passed first."""
    with _guard:
        left, _alone[:] = list(_alone), []
    for run in left:
        _safely(_deliver, run)
    until = time.monotonic() + timeout_s
    while _waiting.unfinished_tasks and time.monotonic() < until:
        time.sleep(0.01)
    return not _waiting.unfinished_tasks


# -- around a function ------------------------------------------------------------------------------------------------


def _observed(function: _F | None, kind: str, model: str) -> Any:
    if function is None:
        return lambda given: _observed(given, kind, model)
    own: Callable[..., Any] = function
    if inspect.iscoroutinefunction(own):

        @functools.wraps(own)
        async def waiting(*args: Any, **kwargs: Any) -> Any:
            with _noting(kind, own, args, kwargs, model) as result:
                result.append(await own(*args, **kwargs))
            return result[0]

        return waiting

    @functools.wraps(own)
    def through(*args: Any, **kwargs: Any) -> Any:
        with _noting(kind, own, args, kwargs, model) as result:
            result.append(own(*args, **kwargs))
        return result[0]

    return through


@contextmanager
def _noting(
    kind: str, own: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], model: str
) -> Iterator[list[Any]]:
    """Note a call that puts its result into the list, or fails."""
    noted = _safely(_before, kind, own, args, kwargs)
    result: list[Any] = []
    try:
        yield result
    except BaseException as error:
        _safely(_failed, noted, error)
        raise
    _safely(_after, noted, result[0], model)


_Noted = tuple[_Run, dict[str, Any]]


def _before(kind: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Noted:
    """Copy the input before the step: it may change the state it is given."""
    question = _question(function, args, kwargs)
    run = _run_of(kind, question)
    documents = [] if kind == "retrieval" else _given_documents(function, args, kwargs)
    step = {
        "kind": kind,
        "start_ms": (time.perf_counter() - run.began) * 1000,
        "query" if kind == "retrieval" else "question": question,
        "documents": documents,
    }
    return run, step


def _after(noted: _Noted | None, result: Any, model: str) -> None:
    if noted is None:
        return
    run, step = noted
    step["duration_ms"] = (time.perf_counter() - run.began) * 1000 - step["start_ms"]
    if model:
        step["model"] = model
    if step["kind"] == "retrieval":
        step["documents"] = _documents(result)
    elif step["kind"] == "grading":
        step["verdicts"] = _verdicts(result, step["documents"])
    else:
        step["answer"] = run.answer = _answer(result)
    if len(run.steps) < _MOST_STEPS:
        run.steps.append(step)
    if step["kind"] == "generation":
        _complete(run)


def _failed(noted: _Noted | None, error: BaseException) -> None:
    if noted is not None:
        run, step = noted
        run.error = step["error"] = f"{type(error).__name__}: {error}"[:500]
        run.steps.append({**step, "duration_ms": (time.perf_counter() - run.began) * 1000 - step["start_ms"]})


def _run_of(kind: str, question: str) -> _Run:
    run = _current.get()
    if run is None:
        with _guard:
            if not _alone:
                _alone.append(_Run(question))
            run = _alone[0]
    if not run.question and kind == "retrieval":
        run.question = question
    return run


def _complete(run: _Run) -> None:
    """A run that says nothing of its end ends with its answer."""
    with _guard:
        if run not in _alone:
            return
        _alone.remove(run)
    _deliver(run)


def _note_answer(run: _Run, result: Any) -> None:
    run.answer = _answer(result) or run.answer


# -- what values hold -------------------------------------------------------------------------------------------------


def _named(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, and what a state among them holds."""
    found = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    for value in list(found.values()):
        if isinstance(value, Mapping):
            found = {**found, **{str(name): item for name, item in value.items()}}
        elif hasattr(value, "model_fields") or hasattr(value, "__dataclass_fields__"):
            found = {**found, **vars(value)}
    return found


def _question(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    named = _named(function, args, kwargs)
    for name in _QUESTIONS:
        if isinstance(named.get(name), str):
            return str(named[name])[:_LONGEST]
    return next((item[:_LONGEST] for item in named.values() if isinstance(item, str)), "")


def _given_documents(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[dict[str, Any]]:
    named = _named(function, args, kwargs)
    for name in _DOCUMENTS:
        if named.get(name) is not None:
            return _documents(named[name])
    # Neither the question nor a state: anything that holds a text.
    question = _question(function, args, kwargs)
    values = (item for item in named.values() if not isinstance(item, Mapping) and item != question)
    return next((found for item in values if (found := _documents(item))), [])


def _documents(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, Mapping):
        for name in _DOCUMENTS:
            if name in value:
                return _documents(value[name])
    for name in ("documents", "source_nodes", "nodes"):
        if not isinstance(value, Mapping) and isinstance(getattr(value, name, None), Sequence):
            return _documents(getattr(value, name))
    single = isinstance(value, str | Mapping) or not isinstance(value, Sequence)
    listed = [value] if single else list(value)
    return [found for item in listed if (found := _document(item)) is not None]


def _document(item: Any) -> dict[str, Any] | None:
    """Of LangChain, LlamaIndex, a mapping, a pair with a score, or a bare text."""
    if isinstance(item, str):
        return {"text": item[:_LONGEST]} if item.strip() else None
    if isinstance(item, tuple) and len(item) == 2:
        inner = _document(item[0])
        return None if inner is None else {**inner, "score": _number(item[1])}
    node = _of(item, "node")
    if node is not None:
        inner = _document(node)
        return None if inner is None else {**inner, "score": _number(_of(item, "score"))}
    text = next((found for name in _TEXTS if isinstance(found := _of(item, name), str)), None)
    if text is None:
        return None
    metadata = _of(item, "metadata")
    about = metadata if isinstance(metadata, Mapping) else {}
    plain = {str(name): entry for name, entry in about.items() if isinstance(entry, str | int | float | bool)}
    identity = _of(item, "id") or _of(item, "node_id") or _of(item, "id_")
    score = _number(_of(item, "score"))
    return {"id": str(identity) if identity else None, "text": text[:_LONGEST], "metadata": plain, "score": score}


def _of(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _number(value: Any) -> float | None:
    try:
        # Of numpy and torch too, whose numbers are of classes of their own.
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _verdicts(result: Any, documents: list[dict[str, Any]]) -> list[Any]:
    """One a document: as the function said, else whether it gave the document on."""
    listed = list(result) if isinstance(result, Sequence) and not isinstance(result, str) else [result]
    if len(listed) == len(documents) and all(_says(item) for item in listed):
        return [_verdict(item) for item in listed]
    kept = {item["text"].strip() for item in _documents(result)}
    return ["yes" if item["text"].strip() in kept else "no" for item in documents]


def _says(item: Any) -> bool:
    """Return whether this is a verdict, and no document that was given on."""
    if isinstance(item, bool | int | float):
        return True
    if isinstance(item, str):
        return len(item.split()) <= _WORDS_OF_A_VERDICT
    if any(isinstance(_of(item, name), str) for name in _TEXTS):
        return False
    return any(_of(item, name) is not None for name in _VERDICTS)


def _verdict(item: Any) -> Any:
    if isinstance(item, bool | str | int | float):
        return item
    found = {name: _of(item, name) for name in (*_VERDICTS, "reason", "explanation")}
    return {name: value for name, value in found.items() if isinstance(value, bool | str | int | float)}


def _answer(result: Any) -> str:
    if isinstance(result, str):
        return result[:_LONGEST]
    for name in _ANSWERS:
        found = _of(result, name)
        if isinstance(found, str):
            return found[:_LONGEST]
        if (
            found is not None
            and name in ("generation", "answer", "response", "output")
            and not isinstance(found, Sequence)
        ):
            inner = _of(found, "content")
            if isinstance(inner, str):
                return inner[:_LONGEST]
    return ""


# -- delivery ---------------------------------------------------------------------------------------------------------


def _safely(work: Callable[..., Any], *args: Any) -> Any:
    try:
        return work(*args)
    except Exception as error:
        _warn("observe", f"observing failed, and the program continues: {type(error).__name__}: {error}")
        return None


def _warn(what: str, text: str) -> None:
    """Say something once; a program that runs for months is not filled with it."""
    if what not in _warned:
        _warned.add(what)
        _log.warning("%s", text)


def _deliver(run: _Run) -> None:
    if not run.steps:
        return
    with _guard:
        if not _thread or not _thread[0].is_alive():
            _thread[:] = [threading.Thread(target=_work, name="rag-workbench-observe", daemon=True)]
            _thread[0].start()
    try:
        _waiting.put_nowait(run.plain())
    except queue.Full:
        _warn("full", f"more than {_MOST_WAITING} traces wait to be delivered; further ones are dropped")


def _work() -> None:
    while True:
        trace = _waiting.get()
        try:
            _send(trace) if _settings["url"] else _write(trace)
        except Exception as error:
            _warn("delivery", f"a trace could not be delivered: {type(error).__name__}: {error}")
        finally:
            _waiting.task_done()


def _write(trace: dict[str, Any]) -> None:
    folder = Path(_settings["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    line = json.dumps(trace, ensure_ascii=False, default=str)
    with (folder / f"traces-{os.getpid()}.jsonl").open("a", encoding="utf-8", errors="replace") as file:
        file.write(line + "\n")


def _send(trace: dict[str, Any]) -> None:
    # As a file: what a request says in JSON of its own may hold few names, and documents have many.
    content = base64.b64encode(json.dumps(trace, default=str).encode("utf-8", "replace")).decode()
    body = {"files": [{"name": "observed.json", "content_base64": content}], "project": trace["project"]}
    headers = {"content-type": "application/json"}
    if _settings["token"]:
        headers["authorization"] = f"Bearer {_settings['token']}"
    data = json.dumps(body).encode()
    request = urllib.request.Request(f"{_settings['url'].rstrip('/')}/api/traces", data, headers)  # noqa: S310 - our own setting
    with urllib.request.urlopen(request, timeout=_PATIENCE_S):  # noqa: S310
        pass


atexit.register(flush)
