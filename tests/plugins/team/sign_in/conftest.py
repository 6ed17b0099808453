"""A real Keycloak, an app whose people sign in there, and a browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.conftest import PATIENCE_MS, chrome
from tests.browser.screenshots import IDLE
from tests.browser.server import App, started_app
from tests.plugins.team.sign_in import keycloak_server

__all__ = ["chrome"]
SETTINGS = {"WORKBENCH_ADMINS": "rag-admins", "WORKBENCH_EDITORS": "rag-editors"}

SignIn = Callable[..., Page]


@pytest.fixture(scope="package")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[keycloak_server.Provider]:
    reason = keycloak_server.missing()
    if reason:
        (pytest.fail if os.environ.get("WORKBENCH_TEST_ALL") == "1" else pytest.skip)(reason)
    with keycloak_server.running(tmp_path_factory.mktemp("keycloak")) as started:
        yield started


@pytest.fixture(scope="package")
def app(provider: keycloak_server.Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder: Path = tmp_path_factory.mktemp("team")
    secrets = folder / "secrets.toml"
    # Streamlit puts its own port there.
    secrets.write_text(provider.secrets("http://127.0.0.1:{port}"))
    env = {**SETTINGS, "STREAMLIT_SECRETS_FILES": str(secrets), "WORKBENCH_OLLAMA_URL": "http://127.0.0.1:1"}
    with started_app(folder, env) as started:
        started.wait_until_served()
        started.wait_until_ready()
        yield started


@pytest.fixture(scope="package")
def profile(chrome: Browser) -> Iterator[BrowserContext]:
    """One for all tests, so that the scripts of the app and of Keycloak are loaded once."""
    with chrome.new_context(locale="en-US") as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


@pytest.fixture
def tab(profile: BrowserContext) -> Iterator[Page]:
    """A tab of a person who has been to neither the app nor the provider: no cookie is left."""
    profile.clear_cookies()
    with profile.new_page() as page:
        yield page


@pytest.fixture
def sign_in(app: App, tab: Page) -> SignIn:
    """Opens an address of the app, and signs a person of the realm in there as they would do it."""

    def signed_in(name: str, path: str = "/") -> Page:
        tab.goto(app.url + path)
        tab.get_by_role("button", name="Sign in").click()
        tab.get_by_label("Username or email").fill(name)
        tab.locator("#password").fill(keycloak_server.password_of(name))
        tab.get_by_role("button", name="Sign In").click()
        tab.wait_for_url(f"{app.url}/**")
        tab.wait_for_selector(IDLE)
        return tab

    return signed_in
