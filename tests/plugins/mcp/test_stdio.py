"""The command ``mcp``: a real process on standard input and output, alone and next to a running app (MC-04)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

from engine.cli.main import main
from engine.engine import Engine
from engine.running.running_app import KEY, NOTE, RunningApp
from engine.settings import Settings
from engine.version import ROOT
from plugins.mcp import clients
from plugins.mcp.clients import by_command, over_http
from plugins.mcp.own_engine import OwnEngine
from plugins.mcp.stdio import Bridge
from tests.api.served import ALL, engine_of, relevant
from tests.plugins.mcp.agents import HELLO, Agent, said
from tests.plugins.mcp.conftest import Served, served
from tests.support.fakes import FakeGrader
from tests.support.gates import PATIENCE_S, Gate

QUESTION = "When does a connected graph have an Euler circuit?"
COMMAND = [sys.executable, "-m", "engine", "mcp"]
NOWHERE = "http://127.0.0.1:9"


def variables(folder: Path, **more: str) -> dict[str, str]:
    own = {"WORKBENCH_DATA_DIR": str(folder), "WORKBENCH_OLLAMA_URL": NOWHERE, "WORKBENCH_EMBEDDING_MODEL": "hashing"}
    return {**os.environ, **own, **more}


def started(folder: Path, **more: str) -> Agent:
    """An agent that starts the command itself, as its configuration says."""
    command = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=variables(folder, **more), cwd=ROOT)
    return Agent(command)


def test_alone_it_does_on_an_empty_folder_what_an_agent_asks(tmp_path: Path) -> None:
    async def work(client: Client) -> dict[str, Any]:
        found: dict[str, Any] = {"tools": [item.name for item in (await client.list_tools()).tools]}

        async def call(tool: str, **arguments: Any) -> Any:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, said(result)
            return result.structured_content

        found["collections"] = await call("list_collections")
        found["answer"] = await call("ask", question=QUESTION)
        run = {"run_id": found["answer"]["run_id"]}
        found["story"] = await call("explain_run", **run)
        found["what_if"] = await call("what_if", **run, settings={"top_k": 1})
        found["diagnosis"] = await call("diagnose", **run, expected=["nowhere.md"])
        found["resources"] = [str(item.uri) for item in (await client.list_resources()).resources]
        return found

    found = started(tmp_path / "data").working(work)
    assert "save_settings" not in found["tools"]
    assert [item["name"] for item in found["collections"]["collections"]] == ["samples"]
    assert (found["answer"]["outcome"], found["answer"]["link"]) == ("answered", "")
    assert found["story"]["story"]
    assert found["what_if"]["sentence"]
    assert found["diagnosis"]["suffered_from"]["failure"] == "nothing_retrieved"
    assert f"workbench://runs/{found['answer']['run_id']}" in found["resources"]


def test_nothing_but_messages_comes_on_standard_output(tmp_path: Path) -> None:
    """Also where a fault ends it: the agent would take any other line for a broken message."""
    sent = "".join(json.dumps(item) + "\n" for item in (HELLO, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))
    good = subprocess.run(
        COMMAND, input=sent, env=variables(tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    answers = [json.loads(line) for line in good.stdout.splitlines()]
    assert answers[0]["result"]["serverInfo"]["name"] == "rag-workbench"
    (tmp_path / "file").write_text("no folder")
    bad = subprocess.run(
        COMMAND,
        input=sent,
        env=variables(tmp_path / "file"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (bad.returncode, bad.stdout) == (1, "")
    assert "data folder" in bad.stderr


def test_what_the_page_shows_starts_a_command_that_finds_the_running_app(engine: Engine, tmp_path: Path) -> None:
    """From any folder, with nothing but what stands in the configuration; the app does the work, by the note and the
    secret in the data folder, though it lets no agent in by itself.
    """
    entry = json.loads(by_command(tmp_path))["mcpServers"]["workbench"]
    with served(engine) as app:
        noted(app, tmp_path)
        found = Agent(StdioServerParameters(**entry, cwd=tmp_path)).result("ask", question=QUESTION)
    assert engine.record(found["run_id"]).question == QUESTION
    assert found["link"].startswith(app.url.removesuffix("/mcp"))
    assert not (tmp_path / "knowledge.db").exists()
    assert json.loads(over_http(app.url, signing_in=True))["mcpServers"]["workbench"]["url"] == app.url


def noted(app: Served, folder: Path) -> None:
    said = {"url": app.url.removesuffix("/mcp"), "instance": app.engine.instance}
    (folder / NOTE).write_text(json.dumps(said))
    (folder / KEY).write_text(app.engine.local_token)


def test_an_environment_of_one_start_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is gone at the next one: uvx makes another from where this one came from."""
    monkeypatch.setattr(clients, "INSTALLED", True)
    monkeypatch.setattr(clients, "installed_from", lambda: '"a folder/of a checkout"')
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0" / "x"))
    entry = json.loads(by_command(tmp_path))["mcpServers"]["workbench"]
    assert entry["command"] == "uvx"
    assert entry["args"][:2] == ["--from", "a folder/of a checkout[mcp]"]


class Apps:
    """What the command finds in its data folder."""

    app: RunningApp | None = None

    def __call__(self) -> RunningApp | None:
        return self.app


def bridge(apps: Apps, own: OwnEngine, mode: Any = "read") -> Bridge:
    return Bridge(own, apps, mode)


def no_engine() -> OwnEngine:
    def opening(_: Settings) -> Engine:
        pytest.fail("the app has the folder open")

    return OwnEngine(Settings(), opening=opening)


def test_everything_is_handed_over_in_the_mode_of_the_command(engine: Engine) -> None:
    apps = Apps()

    async def work() -> None:
        async with Client(bridge(apps, no_engine(), "write")) as client:
            steps: list[str] = []

            async def report(progress: float, total: float | None, message: str | None) -> None:
                steps.append(str(message))

            asked = await client.call_tool("ask", {"question": QUESTION}, progress_callback=report)
            assert asked.structured_content is not None
            run = asked.structured_content["run_id"]
            assert len(steps) == 3
            await client.call_tool("tag_run", {"run_id": run, "tag": "handed over"})
            assert "handed over" in engine.tags()
            listed = [str(item.uri) for item in (await client.list_resources()).resources]
            assert f"workbench://runs/{run}" in listed
            (content,) = (await client.read_resource(f"workbench://runs/{run}")).contents
            assert json.loads(str(getattr(content, "text", "")))["id"] == run
            with pytest.raises(MCPError):
                await client.read_resource("workbench://runs/nope")
            refused = await client.call_tool("explain_run", {"run_id": "nope"})
            assert "WB501" in said(refused)

    with served(engine) as app:
        apps.app = RunningApp(app.url.removesuffix("/mcp"), key=engine.local_token)
        asyncio.run(work())


@pytest.mark.parametrize("key", ["", "of another"])
def test_who_may_not_read_the_secret_is_not_let_in(engine: Engine, key: str) -> None:
    apps = Apps()

    async def work() -> str:
        async with Client(bridge(apps, no_engine())) as client:
            result = await client.call_tool("list_collections", {})
            assert result.is_error
            return said(result)

    with served(engine) as app:
        apps.app = RunningApp(app.url.removesuffix("/mcp"), key=key)
        refused = asyncio.run(work())
    assert refused.startswith("WB975")
    assert "samples" not in refused


def test_an_app_that_goes_away_is_reported_and_the_next_call_works_alone(tmp_path: Path) -> None:
    apps = Apps()
    apps.app = RunningApp(NOWHERE, key="k")

    async def work(own: OwnEngine) -> None:
        async with Client(bridge(apps, own)) as client:
            gone = await client.call_tool("list_collections", {})
            assert gone.is_error
            assert NOWHERE in said(gone)
            apps.app = None
            found = await client.call_tool("list_collections", {})
            assert not found.is_error

    with engine_of(tmp_path) as fakes:
        asyncio.run(work(OwnEngine(fakes.settings, opening=lambda _: fakes)))


def test_giving_up_a_call_that_was_handed_over_stops_its_run(tmp_path: Path) -> None:
    gate = Gate()
    apps = Apps()

    async def give_up() -> None:
        async with Client(bridge(apps, no_engine())) as client:
            asking = asyncio.ensure_future(client.call_tool("ask", {"question": "Is tea green?"}))
            await asyncio.to_thread(gate.wait_until_reached)
            asking.cancel()
            await asyncio.wait([asking])

    with engine_of(tmp_path, relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate))) as slow:
        with served(slow) as app:
            apps.app = RunningApp(app.url.removesuffix("/mcp"), key=slow.local_token)
            asyncio.run(give_up())
            (only,) = slow.runs(2)
            assert slow.wait(only.id, PATIENCE_S)
        assert slow.record(only.id).outcome == "cancelled"


def test_the_folder_is_let_go_of_after_a_call_and_not_while_something_runs(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(grader=FakeGrader(relevant=ALL, gate=lambda: gate))) as fakes:
        own = OwnEngine(fakes.settings, idle_s=0, opening=lambda _: fakes)

        async def work() -> None:
            async with own.used():
                run = own.get().start("Is tea green?")
                await asyncio.to_thread(gate.wait_until_reached)
            for _ in range(5):
                await asyncio.sleep(0)
            assert await asyncio.to_thread(own._busy)
            assert own._engine is fakes
            gate.open()
            await asyncio.to_thread(fakes.wait, run, PATIENCE_S)
            assert own._closing is not None
            await asyncio.wait_for(own._closing, PATIENCE_S)

        asyncio.run(work())
        assert own._engine is None


def test_without_the_package_the_command_says_how_to_add_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.mcp.plugin.find_spec", lambda _: None)
    assert main(["mcp"]) == 1
    printed = capsys.readouterr()
    assert not printed.out
    assert "mcp" in printed.err
    assert "install" in printed.err


def test_the_secret_of_the_app_is_for_its_own_user_alone(tmp_path: Path) -> None:
    from engine.api.process import serving, use_engine

    with engine_of(tmp_path) as fakes:
        use_engine(fakes)
        try:
            with serving(8501):
                key = tmp_path / KEY
                assert key.read_text() == fakes.local_token
                assert key.stat().st_mode & 0o077 == 0
            assert not key.exists()
        finally:
            use_engine(None)
