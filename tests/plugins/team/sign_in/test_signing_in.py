"""People sign in at a real provider, are who it says they are, and may do what their groups let them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.screenshots import IDLE
from tests.browser.server import ROOT, App
from tests.plugins.team.sign_in.conftest import SignIn


def test_an_admin_of_the_provider_is_one_here(sign_in: SignIn) -> None:
    page = sign_in("ada")
    page.get_by_role("button", name="Ada Admin").click()
    expect(page.get_by_text("Role: admin")).to_be_visible()


def test_an_editor_asks_follows_the_run_saves_it_and_signs_out(app: App, sign_in: SignIn) -> None:
    """Signing out ends it for pages and streams."""
    page = sign_in("edith")
    page.get_by_role("textbox").first.fill("What is a truth table?")
    with page.expect_response(lambda answer: "/view?" in answer.url) as followed:
        page.get_by_role("button", name="Run", exact=True).click()
    assert followed.value.status == 200
    expect(page.get_by_text("Cites").or_(page.get_by_text("Sources")).first).to_be_visible()
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Record (JSON)").click()
    assert json.loads(saved.value.path().read_text(encoding="utf-8"))["author"] == "edith@example.org"
    stream = f"{app.url}/api/runs/demo-forced-en/view?language=en"
    assert page.request.get(stream).status == 200
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Edith Editor").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert page.request.get(stream).status == 401


def test_a_viewer_comes_to_the_page_that_was_asked_for_and_can_change_nothing(sign_in: SignIn) -> None:
    page = sign_in("vera", "/?run=demo-forced-en&top_k=4")
    assert "run=demo-forced-en" in page.url
    expect(page.get_by_text("You are signed in as a viewer")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Reset")).to_be_visible()
    expect(page.get_by_role("button", name="Apply")).to_have_count(0)


def test_a_stranger_is_sent_nothing_but_the_page_to_sign_in_on(app: App, tab: Page) -> None:
    """In a browser; ``test_real_app.py`` asks each page for it without one."""
    frames: list[bytes] = []

    def keep(payload: str | bytes) -> None:
        frames.append(payload if isinstance(payload, bytes) else payload.encode())

    tab.on("websocket", lambda socket: socket.on("framereceived", keep))
    for path in ("/?run=demo-forced-en", "/system?part=settings"):
        tab.goto(app.url + path)
        tab.wait_for_selector(IDLE)
        expect(tab.get_by_role("button", name="Sign in")).to_be_visible()
        expect(tab.get_by_text("Page not found")).to_have_count(0)
    sent = b"".join(frames)
    assert b"Sign in" in sent
    for known in (b"truth table", b"dc-complications", b"WORKBENCH_", b"Recorded demos", b"Passes at once"):
        assert known not in sent


def test_without_a_token_the_api_of_the_app_is_closed(app: App) -> None:
    for path in ("/api/runs", "/api/health", "/api/openapi.json", "/api/runs/demo-forced-en/events", "/media/a.png"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(app.url + path)
        with refused.value as answer:
            assert answer.code == 401


def test_commands_on_its_machine_are_handed_to_the_app(app: App) -> None:
    command = [sys.executable, "-m", "engine", "ask", "What is a truth table?", "--json"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("WORKBENCH_")}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**env, "WORKBENCH_DATA_DIR": str(app.log.parent)},
        capture_output=True,
        check=True,
        timeout=300,
    )
    run = json.loads(done.stdout)["runId"]
    assert app.get(f"/api/runs/{run}")["author"] == "command line"
    note = app.log.parent / "app.json"
    assert note.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "start", [("-m", "engine", "serve"), ("-c", "import app")], ids=["served", "by another server"]
)
def test_secrets_that_cannot_be_read_end_the_start(tmp_path: Path, start: tuple[str, ...]) -> None:
    """Streamlit alone would continue as if there were none, and everybody would be the admin."""
    secrets = tmp_path / "secrets.toml"
    secrets.write_text("[auth\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WORKBENCH_", "STREAMLIT_"))}
    env |= {"WORKBENCH_DATA_DIR": str(tmp_path / "data"), "STREAMLIT_SECRETS_FILES": str(secrets)}
    command = [sys.executable, *start]
    ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode != 0
    assert "does not read its file of secrets" in ended.stderr
