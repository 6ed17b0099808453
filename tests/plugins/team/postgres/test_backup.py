"""An installation comes back from the commands of docs/backup.md for PostgreSQL."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.settings import Settings
from tests.database.test_backup import changed_by_restoring, commands, shell, used
from tests.support import postgres_server


def test_on_postgres_an_installation_comes_back_from_a_dump_of_a_database_in_use(
    postgres_server_here: postgres_server.Server, tmp_path: Path
) -> None:
    if postgres_server.programs() is None:
        pytest.skip("the programs of PostgreSQL are not installed")
    folder_backup, folder_restore = commands("One machine")
    backup, restore = commands("With PostgreSQL")
    with postgres_server_here.database() as url:
        settings = Settings.load(data_dir=tmp_path / "data", database_url=url)
        before = used(settings, lambda: shell(backup, tmp_path, WORKBENCH_DATABASE_URL=url))
    shell(folder_backup, tmp_path, WORKBENCH_DATA_DIR=str(tmp_path / "data"))
    shutil.rmtree(tmp_path / "data")
    with postgres_server_here.database() as url:
        shell(folder_restore, tmp_path, WORKBENCH_DATA_DIR=str(tmp_path / "elsewhere"))
        shell(restore, tmp_path, WORKBENCH_DATABASE_URL=url)
        restored = Settings.load(data_dir=tmp_path / "elsewhere", database_url=url)
        assert changed_by_restoring(restored, before) == []
