"""Models that are fetched by a click: whole, continued, and never under their name unless the checksum is right."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.errors import HostError
from engine.llm import catalogue
from engine.llm.catalogue import CATALOGUE, File, Known
from engine.model.system import PullStatus
from engine.system.host import Host
from tests.support.errors import raises
from tests.support.http_stand_in import HttpStandIn, begin
from tests.support.tiny_gguf import write_chat
from tests.system.hosting import hosting, until

DATA = bytes(range(256)) * 4000
NAME = "cross_encoder:tiny/model"


class Hub(HttpStandIn):
    """Gives ``data`` under any path, from where it is asked for, unless it is scripted to break off or to refuse."""

    data = DATA
    asked: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.asked = []

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        behaviour = self._script.popleft() if self._script else ""
        wanted = http.headers.get("Range", "")
        self.asked.append(f"{http.path} {wanted}".strip())
        if behaviour == "refuse":
            begin(http, 404, {"Content-Length": "0"})
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-") or 0) if behaviour != "no ranges" else 0
        rest = self.data[start:]
        begin(http, 206 if start else 200, {"Content-Length": str(len(rest))})
        http.wfile.write(rest[:500_000] if behaviour == "break off" else rest)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    files = tuple(
        File(path, len(DATA), hashlib.sha256(DATA).hexdigest()) for path in ("onnx/model.onnx", "config.json")
    )
    monkeypatch.setitem(CATALOGUE, NAME, Known("scores", "tiny/model", "abc123", files, "en"))  # type: ignore[arg-type]
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def pulled(host: Host) -> PullStatus:
    host.start_pull(NAME)
    return until(lambda: host.pulls()[0], lambda status: status.over)


def test_the_files_of_a_model_come_into_its_folder_and_it_is_said_to_be_here(tmp_path: Path, hub: Hub) -> None:
    with hosting(tmp_path) as host:
        assert not host.catalogue()[-1].here
        ended = pulled(host)
        assert (ended.state, ended.fault) == ("done", None)
        assert host.catalogue()[-1].here
    folder = tmp_path / "rerankers/tiny/model"
    assert (folder / "onnx/model.onnx").read_bytes() == DATA
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["config.json", "model.onnx"]
    assert hub.asked[0] == "/tiny/model/resolve/abc123/onnx/model.onnx"


@pytest.mark.parametrize("behaviour", ["", "no ranges"], ids=["continued", "begun-again"])
def test_a_download_that_broke_off_continues_if_the_hub_can(tmp_path: Path, hub: Hub, behaviour: str) -> None:
    with hosting(tmp_path) as host:
        hub.script("break off", behaviour)
        broken = pulled(host)
        assert broken.fault is not None and broken.fault.code == "WB614"
        assert not (tmp_path / "rerankers/tiny/model/onnx/model.onnx").exists()
        assert pulled(host).state == "done"
    assert hub.asked[1].endswith("bytes=500000-")
    assert (tmp_path / "rerankers/tiny/model/onnx/model.onnx").read_bytes() == DATA


@pytest.mark.parametrize("data", [DATA[:-1] + b"\x01", DATA + b"more"], ids=["other", "longer"])
def test_a_file_with_another_checksum_is_deleted_and_never_used(tmp_path: Path, hub: Hub, data: bytes) -> None:
    hub.data = data
    with hosting(tmp_path) as host:
        ended = pulled(host)
        assert ended.fault is not None and ended.fault.code == "WB623"
        assert hashlib.sha256(DATA).hexdigest() in ended.fault.fact
        assert not host.catalogue()[-1].here
    assert [path for path in (tmp_path / "rerankers").rglob("*") if path.is_file()] == []


def test_the_command_lists_models_and_fetches_one(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    write_chat(tmp_path / "models/chat.gguf")
    assert main(["models"]) == 0
    listed = capsys.readouterr().out
    assert "local:chat.gguf  chat  0.0 GB, in memory 0.2 GB" in listed
    assert f"{NAME}  scores  not here" in listed
    assert main(["models", "fetch", NAME]) == 0
    assert (tmp_path / "rerankers/tiny/model/config.json").read_bytes() == DATA
    capsys.readouterr()
    assert main(["models"]) == 0 and NAME not in capsys.readouterr().out
    assert main(["models", "fetch", "no such"]) == 2
    hub.script("refuse")
    assert main(["models", "fetch", next(iter(CATALOGUE))]) == 1


def test_a_hub_that_refuses_is_named(tmp_path: Path, hub: Hub) -> None:
    hub.script("refuse")
    with hosting(tmp_path) as host:
        fault = pulled(host).fault
    assert fault is not None and fault.code == "WB615"
    assert hub.url in fault.fact and "404" in fault.fact


def test_a_model_that_nothing_lists_is_no_download_of_a_file(tmp_path: Path) -> None:
    with hosting(tmp_path) as host, raises(HostError.invalid_model_name):
        host.start_pull("cross_encoder:some/where/else.gguf")


def test_every_model_of_the_list_is_pinned_to_a_revision_by_size_and_checksum() -> None:
    assert len(CATALOGUE) >= 6
    for name, known in CATALOGUE.items():
        assert len(known.revision) == 40 and set(known.revision) <= set("0123456789abcdef"), name
        assert all(len(file.sha256) == 64 and file.size > 0 for file in known.files), name
        assert known.in_file == name.endswith(".gguf")
    assert {known.kind for known in CATALOGUE.values()} == {"chat", "embedding", "scores"}
    assert all(model.licence and model.size > 1_000_000 for model in catalogue.listed(Path("nowhere")))
