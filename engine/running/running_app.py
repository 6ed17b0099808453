"""A workbench that another process serves on this machine, found by the note it keeps in the data folder."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from engine.errors import AppRefused, AppUnreachable, WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import RunRecord

NOTE = "app.json"
KEY = "app.key"
"""The file that holds the secret by which commands of a plug-in are let in, for its own user alone."""
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
    """Lets commands of a plug-in in, no matter who else it lets in; empty for who may not read it."""

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
        """List warnings before a run in that app; raises ``AppRefused`` and ``AppUnreachable``."""
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
            body["attachments"] = [_file(name, data) for name, data in files]
        return str(self._field(_success(self.post("/api/runs", body)), "id"))

    def finished(self, run_id: str) -> RunRecord:
        """Wait for the end of a run there; raises like :meth:`ask`."""
        # Imported here: who only looks for an app needs no record.
        from engine.records.codec import record_from_dict

        path = at("runs", run_id)
        while self._field(found := _success(self.get(path)), "outcome") is None:
            self._follow(f"{path}/events")
        return record_from_dict(
            {key: value for key, value in found.items() if key not in ("workflow", "calls", "link")}
        )

    def cancel(self, run_id: str) -> None:
        """Stop a run there, if it is still running and the app still answers."""
        with suppress(WorkbenchError):
            self.post(at("runs", run_id, "cancel"), {})

    def tag(self, run_id: str, tag: str) -> None:
        """Put a tag on a run there, if the app takes it."""
        with suppress(WorkbenchError):
            self._plain("PUT", at("runs", run_id, "tags", tag))

    def add_source(self, collection: str, name: str, content: bytes, options: Mapping[str, Any]) -> dict[str, Any]:
        """Put one file into a collection; ``options`` as the body of the route has them: prefixes, chunks, model.

        Returns the report as plain values; of a large file its job, which has an ``id`` and is followed by :meth:`job`.

        Raises ``AppRefused`` where the file was not taken, ``AppUnreachable`` where no one answers.
        """
        body = {**_file(name, content), **options}
        return _success(self.post(at("collections", collection, "sources"), body))

    def sources(self, collection: str) -> list[dict[str, Any]]:
        """Sources of a collection there, as plain values; none where it is not there. Raises ``AppUnreachable``."""
        found = self.get(at("collections", collection, "sources"))
        return found if isinstance(found, list) else []

    def job(self, job_id: str) -> dict[str, Any]:
        """Return the progress of a job in that app; raises ``AppRefused`` if it is unknown there."""
        return _success(self.get(at("ingestions", job_id)))

    def stop_job(self, job_id: str) -> dict[str, Any]:
        """Stop a job there; raises ``AppRefused`` for one that is not there."""
        return _success(self.post(at("ingestions", job_id, "stop"), {}))

    def get(self, path: str, timeout_s: float | None = None) -> Any:
        """The JSON answer, also where it is an error of the workbench; raises ``AppUnreachable``."""
        return self._plain("GET", path, timeout_s=timeout_s)

    def post(self, path: str, body: Any) -> Any:
        """Send a body by POST; otherwise as :meth:`get`."""
        return self._plain("POST", path, body)

    def answer(self, path: str, body: Any = None, method: str = "") -> dict[str, Any]:
        """Send a request, by POST where there is a body; raises ``AppRefused`` where an error comes back."""
        return _success(self._plain(method or ("GET" if body is None else "POST"), path, body))

    def listed(self, path: str) -> list[dict[str, Any]]:
        """A list there, as plain values; raises ``AppRefused`` where there is an error instead."""
        found = self.get(path)
        return found if isinstance(found, list) else [_success(found)]

    def file(self, path: str, body: Any = None) -> bytes:
        """A file, by POST where there is a body; raises ``AppRefused`` with what the app says instead."""
        with self._translated_errors():
            response = self._send("GET" if body is None else "POST", path, body)
            if response.is_error:
                _success(response.json())
            return response.content

    def _follow(self, path: str) -> None:
        """Wait until an event stream ends."""
        with self._translated_errors(), self._client(_SILENCE_S) as client, client.stream("GET", path) as stream:
            for _ in stream.iter_raw():
                pass

    def _plain(self, method: str, path: str, body: Any = None, *, timeout_s: float | None = None) -> Any:
        with self._translated_errors():
            response = self._send(method, path, body, timeout_s=timeout_s)
            return response.json() if response.content else {}

    def _send(self, method: str, path: str, body: Any = None, *, timeout_s: float | None = None) -> httpx.Response:
        with self._client(timeout_s) as client:
            return client.request(method, path, json=body)

    def _client(self, timeout_s: float | None) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        # Loopback only: a proxy from the environment must not see it.
        return httpx.Client(base_url=self.url, headers=headers, timeout=timeout_s, trust_env=False)

    def _field(self, reply: dict[str, Any], name: str) -> Any:
        if name not in reply:
            raise AppUnreachable(address=self.url)
        return reply[name]

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            # ValueError: what came is not JSON, so it is not our app that answers there.
            raise AppUnreachable(address=self.url) from error


def at(*names: str, **query: object) -> str:
    """The path of a thing of the API, such as ``at("collections", name, "fits")``."""
    path = "/api/" + "/".join(quote(name, safe="") for name in names)
    return f"{path}?{urlencode(query)}" if query else path


def _key(data_dir: Path) -> str:
    try:
        return (data_dir / KEY).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def _file(name: str, content: bytes) -> dict[str, str]:
    return {"name": name, "content_base64": base64.b64encode(content).decode()}


def _success(reply: Any) -> dict[str, Any]:
    """The answer, unless it is an error of the app, which is raised as ``AppRefused``."""
    if isinstance(reply, dict) and reply.get("success") is not False:
        return reply
    if isinstance(reply, dict) and "fact" in reply:
        raise AppRefused.restored(
            str(reply["fact"]), str(reply.get("remedy", "")), {"code": str(reply.get("code", ""))}
        )
    raise AppRefused()
