"""A workbench that another process serves on this machine, found by the note it keeps in the data folder."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from engine.errors import AppRefused, AppUnreachable, WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import RunRecord

NOTE = "app.json"
KEY = "app.key"
"""The file that holds the secret by which the command `mcp` is let in, for its own user alone."""
_PROBE_TIMEOUT_S = 2.0
_SILENCE_S = 60.0
"""Longest silence of an event stream, which sends a comment every 15 s while nothing happens."""


@dataclass(frozen=True, slots=True)
class RunningApp:
    """Reached through its HTTP API, on loopback."""

    url: str
    token: str = field(default="", repr=False)
    """Lets its command lines in where people sign in; stands in the note."""
    key: str = field(default="", repr=False)
    """Lets the command ``mcp`` in, no matter whether agents are let in; empty for who may not read it."""

    @classmethod
    def find(cls, data_dir: Path) -> RunningApp | None:
        """The app that has this data folder open, if it answers."""
        try:
            note = json.loads((data_dir / NOTE).read_text(encoding="utf-8"))
            app = cls(str(note["url"]), str(note.get("token", "")), _key(data_dir))
            if app.get("/api/health", timeout_s=_PROBE_TIMEOUT_S)["instance"] != note["instance"]:
                # Left by an app that was killed; another one has its port now.
                return None
        except (AppUnreachable, OSError, ValueError, KeyError, TypeError):
            return None
        return app

    def ask(self, question: str, config: RunConfig, files: Sequence[tuple[str, bytes]] = ()) -> RunRecord:
        """Run a question there to its end, with attachments by name and bytes; an interrupt cancels the run.

        Raises ``AppRefused`` where the run could not begin, ``AppUnreachable`` where the app went away.
        """
        run_id = self.start(question, config, files)
        try:
            return self.finished(run_id)
        except KeyboardInterrupt:
            self.cancel(run_id)
            raise

    def warnings_before(self, question: str, config: RunConfig) -> list[dict[str, Any]]:
        """What a run there would be warned of before it begins; raises ``AppRefused`` and ``AppUnreachable``."""
        plain = asdict(config)
        body = {"question": question, "workflow": plain.pop("workflow"), "config": plain}
        found = self._field(_success(self.post("/api/runs/check", body)), "warnings")
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    def start(
        self, question: str, config: RunConfig, files: Sequence[tuple[str, bytes]] = (), *, trial: bool = False
    ) -> str:
        """Begin a run there and return its id; raises like :meth:`ask`."""
        plain = asdict(config)
        body = {"question": question, "workflow": plain.pop("workflow"), "config": plain, "wait": False}
        if trial:
            body["trial"] = True
        if files:
            body["attachments"] = [
                {"name": name, "content_base64": base64.b64encode(data).decode()} for name, data in files
            ]
        return str(self._field(_success(self.post("/api/runs", body)), "id"))

    def finished(self, run_id: str) -> RunRecord:
        """Wait for the end of a run there; raises like :meth:`ask`."""
        # Imported here: who only looks for an app needs no record.
        from engine.records.codec import record_from_dict

        path = _run_path(run_id)
        while self._field(found := _success(self.get(path)), "outcome") is None:
            self._follow(f"{path}/events")
        return record_from_dict(
            {key: value for key, value in found.items() if key not in ("workflow", "calls", "link")}
        )

    def cancel(self, run_id: str) -> None:
        """Stop a run there, if it is still running and the app still answers."""
        with suppress(WorkbenchError):
            self.post(f"{_run_path(run_id)}/cancel", {})

    def tag(self, run_id: str, tag: str) -> None:
        """Put a tag on a run there, if the app takes it."""
        path = f"{_run_path(run_id)}/tags/{quote(tag, safe='')}"
        request = self._request(path, method="PUT")
        with suppress(WorkbenchError):
            self._send(request, None)

    def add_source(self, collection: str, name: str, content: bytes, options: Mapping[str, Any]) -> dict[str, Any]:
        """Put one file into a collection; ``options`` as the body of the route has them: prefixes, chunks, model.

        Returns the report as plain values; of a large file its job, which has an ``id`` and is followed by :meth:`job`.

        Raises ``AppRefused`` where the file was not taken, ``AppUnreachable`` where no one answers.
        """
        body = {**_file(name, content), **options}
        return _success(self.post(f"/api/collections/{quote(collection, safe='')}/sources", body))

    def collections(self) -> list[dict[str, Any]]:
        """Collections there, as plain values; raises ``AppUnreachable``."""
        found = self.get("/api/collections")
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    def sources(self, collection: str) -> list[dict[str, Any]]:
        """Sources of a collection there, as plain values; none where it is not there. Raises ``AppUnreachable``."""
        found = self.get(f"/api/collections/{quote(collection, safe='')}/sources")
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    def graph(self, collection: str, query: str = "") -> dict[str, Any]:
        """The state of a collection's knowledge graph there; raises ``AppRefused`` where there is none."""
        return _success(self.get(f"{_graph_path(collection)}?{urlencode({'query': query})}"))

    def around(self, collection: str, entity: str, hops: int) -> dict[str, Any]:
        """The neighbourhood of an entity there; raises ``AppRefused`` where it is unknown."""
        asked = urlencode({"entity": entity, "hops": hops})
        return _success(self.get(f"{_graph_path(collection)}/neighbourhood?{asked}"))

    def build_graph(self, collection: str, extractor: str, *, replace: bool) -> str:
        """Begin to build a knowledge graph there and return the job's id; raises ``AppRefused``."""
        body = {"extractor": extractor, "replace": replace}
        return str(self._field(_success(self.post(_graph_path(collection), body)), "id"))

    def delete_graph(self, collection: str) -> None:
        """Drop a knowledge graph there; raises ``AppRefused`` where there is none."""
        request = self._request(_graph_path(collection), method="DELETE")
        _success(self._send(request, None) or {})

    def make_drafts(self, collection: str, limit: int, model: str) -> dict[str, Any]:
        """Draft questions of a collection there, and wait for them; raises ``AppRefused``."""
        path = f"/api/collections/{quote(collection, safe='')}/drafts"
        return _success(self.post(path, {"limit": limit, "model": model}))

    def drafts(self, collection: str, state: str) -> list[dict[str, Any]]:
        """Drafted questions there, as plain values; raises ``AppRefused``."""
        found = self.get(f"/api/drafts?{urlencode({'collection': collection, 'state': state})}")
        return found if isinstance(found, list) else [_success(found)]

    def decide_draft(self, draft_id: str, decision: Mapping[str, Any]) -> dict[str, Any]:
        """Accept, refuse or reopen a drafted question there; raises ``AppRefused``."""
        request = self._request(f"/api/drafts/{quote(draft_id, safe='')}", json.dumps(decision).encode(), "PUT")
        return _success(self._send(request, None))

    def judgements(self, set_name: str, form: str) -> str:
        """Judgements of a query set there as a file; raises ``AppRefused``."""
        path = f"/api/query-sets/{quote(set_name, safe='')}/judgements?{urlencode({'format': form})}"
        return self.file(path).decode()

    def take_judgements(self, set_name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Take in judgements of a query set there; raises ``AppRefused``."""
        return _success(self.post(f"/api/query-sets/{quote(set_name, safe='')}/judgements", body))

    def fits(self, collection: str) -> list[dict[str, Any]]:
        """Graders fitted to a collection there; raises ``AppRefused``."""
        found = self.get(f"/api/collections/{quote(collection, safe='')}/fits")
        return found if isinstance(found, list) else [_success(found)]

    def history(self, set_name: str) -> list[dict[str, Any]]:
        """Scores of a query set there over time; raises ``AppRefused``."""
        found = self.get(f"/api/query-sets/{quote(set_name, safe='')}/history")
        return found if isinstance(found, list) else [_success(found)]

    def job(self, job_id: str) -> dict[str, Any]:
        """How far a job there has come; raises ``AppRefused`` for one that is not there."""
        return _success(self.get(f"/api/ingestions/{quote(job_id, safe='')}"))

    def stop_job(self, job_id: str) -> dict[str, Any]:
        """Stop a job there; raises ``AppRefused`` for one that is not there."""
        return _success(self.post(f"/api/ingestions/{quote(job_id, safe='')}/stop", {}))

    def get(self, path: str, timeout_s: float | None = None) -> Any:
        """The JSON answer, also where it is an error of the workbench; raises ``AppUnreachable``."""
        return self._send(self._request(path), timeout_s)

    def post(self, path: str, body: Any) -> Any:
        """Send a body by POST; otherwise as :meth:`get`."""
        return self._send(self._request(path, json.dumps(body).encode()), None)

    def answer(self, path: str, body: Any) -> dict[str, Any]:
        """What a body sent by POST leads to there; raises ``AppRefused`` where that is an error."""
        return _success(self.post(path, body))

    def _follow(self, path: str) -> None:
        """Wait until an event stream ends."""
        with self._translated_errors(), _opened(self._request(path), _SILENCE_S) as stream:
            while stream.read1():
                pass

    def _request(self, path: str, body: bytes | None = None, method: str | None = None) -> urllib.request.Request:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            headers["content-type"] = "application/json"
        return urllib.request.Request(self.url + path, body, headers, method=method)  # noqa: S310 - our own address

    def _send(self, request: urllib.request.Request, timeout_s: float | None) -> Any:
        with self._translated_errors():
            try:
                with _opened(request, timeout_s) as response:
                    content = response.read()
                    return json.loads(content) if content else None
            except urllib.error.HTTPError as error:
                return json.loads(error.read())

    def file(self, path: str, body: Any = None) -> bytes:
        """A file, by POST where there is a body; raises ``AppRefused`` with what the app says instead."""
        request = self._request(path, None if body is None else json.dumps(body).encode())
        with self._translated_errors():
            try:
                with _opened(request, None) as response:
                    return bytes(response.read())
            except urllib.error.HTTPError as error:
                _success(json.loads(error.read()))
                raise

    def _field(self, reply: dict[str, Any], name: str) -> Any:
        if name not in reply:
            raise AppUnreachable(address=self.url)
        return reply[name]

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, HTTPException, ValueError) as error:
            # ValueError: what came is not JSON, so it is not our app that answers there.
            raise AppUnreachable(address=self.url) from error


def _key(data_dir: Path) -> str:
    try:
        return (data_dir / KEY).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def _file(name: str, content: bytes) -> dict[str, str]:
    return {"name": name, "content_base64": base64.b64encode(content).decode()}


def _run_path(run_id: str) -> str:
    return f"/api/runs/{quote(run_id, safe='')}"


def _graph_path(collection: str) -> str:
    return f"/api/collections/{quote(collection, safe='')}/graph"


def _opened(request: urllib.request.Request, timeout_s: float | None) -> Any:
    # Loopback only: a proxy from the environment must not see it.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(request, timeout=timeout_s)


def _success(reply: Any) -> dict[str, Any]:
    """The answer, unless it is an error of the app, which is raised as ``AppRefused``."""
    if isinstance(reply, dict) and reply.get("success") is not False:
        return reply
    if isinstance(reply, dict) and "fact" in reply:
        raise AppRefused.restored(
            str(reply["fact"]), str(reply.get("remedy", "")), {"code": str(reply.get("code", ""))}
        )
    raise AppRefused()
