"""The file of secrets in which an installation asks for sign-in; without it everybody may do everything."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section
from streamlit.runtime.secrets import secrets_singleton

from engine.engine import Engine
from engine.errors import InvalidSettings
from engine.plugins import SignIn, plugins, sign_in


def check_secrets() -> None:
    """Raise ``InvalidSettings`` where Streamlit does not read its secrets, or no plug-in does what they ask for.

    The workbench would stand open because of a typing error, or of what is not installed.
    """
    read = [str(name) for name in st.get_option("secrets.files")]
    # Only `streamlit run` reads the variable, not another server that is given the app.
    named = os.environ.get("STREAMLIT_SECRETS_FILES", "")
    if named and named not in read:
        raise InvalidSettings.secrets_unreadable(path=named)
    there = [name for name in read if Path(name).exists()]
    if there and not secrets_singleton.load_if_toml_exists():
        raise InvalidSettings.secrets_unreadable(path=there[-1])
    if get_secrets_auth_section() and not any(plugin.sign_in for plugin in plugins()):
        raise InvalidSettings.sign_in_missing()


def sign_in_asked(engine: Engine) -> SignIn | None:
    """How people sign in from now on; None where the secrets do not ask for it. Raises ``InvalidSettings``."""
    found = sign_in(engine)
    if found is None and get_secrets_auth_section():
        raise InvalidSettings.sign_in_missing()
    return found
