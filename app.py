"""Launcher: pages, HTTP API and event streams in one process, over one engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread

import streamlit as st
from streamlit import config
from streamlit.components.v2 import manifest_scanner

from components.common.url_state import base_path
from engine.api import middleware
from engine.api.process import get_engine, serving
from engine.settings import UPLOADS_TAKEN
from pages._serving import check_secrets, forwards, sign_in_asked, view_of
from pages.parts.common.after_start import finish_start

# Before anything is opened, for a mistake there ends the start.
check_secrets()
settings = get_engine().settings
# One list of hosts for pages, API and event streams; Streamlit reads its own option at every connection.
config.set_option("server.allowedHosts", [name.strip("[]") for name in settings.allowed_hosts])
# Streamlit admits any port of this host by itself; ours, which does not, stands before it.
config.set_option("server.corsAllowedOrigins", list(settings.allowed_origins))
# More than can be used: a file that the browser refuses is in no report, one that comes here is named with its reason.
config.set_option("server.maxUploadSize", UPLOADS_TAKEN * settings.max_upload_mb)
# Components of other packages, none here, are looked for in what every installed package says of itself: 0.15 s.
manifest_scanner.scan_component_manifests = lambda max_workers=None: []


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[dict[str, bool]]:
    """Tell command lines on this machine where the app is, finish the start, and close the engine at the end."""
    Thread(target=finish_start, args=(get_engine(),), name="after-start", daemon=True).start()
    with serving(int(config.get_option("server.port"))):
        yield {"ready": True}


app = st.App(
    Path(__file__).parent / "pages" / "_shell.py",
    lifespan=lifespan,
    routes=forwards(base_path()),
    middleware=middleware(
        get_engine,
        settings,
        views=view_of,
        sign_in=sign_in_asked(get_engine()),
        base=base_path(),
    ),
)

if __name__ == "__main__":
    app.run()
