"""Cookies of pages are signed in the same way by all replicas that share a secret key."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from engine.cli.serve import cookie_secret
from engine.settings import Settings

KEYS = ("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", "YWJjZGVmZ2hpamFiY2RlZmdoaWphYmNkZWZnaGlqMDE=")


def test_replicas_with_one_key_sign_in_the_same_way_and_no_key_leaves_it_to_streamlit(tmp_path: Path) -> None:
    first, second = (
        [cookie_secret(Settings(data_dir=tmp_path / place, secret_key=SecretStr(key))) for place in ("a", "b")]
        for key in KEYS
    )
    assert first[0] == first[1] != second[0]
    assert KEYS[0] not in first[0]
    assert cookie_secret(Settings(data_dir=tmp_path)) == ""
