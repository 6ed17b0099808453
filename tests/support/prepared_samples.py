"""A first start puts the samples in, which takes half a second: tests do it once a process and copy what it leaves.

Only for a data folder without a knowledge base and the stores of the default settings. The copy is opened as ever,
so what is missing in it is put in by the same code; ``tests/samples`` tests a first start.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from engine.knowledge.base import KnowledgeBase
from engine.settings import Settings

_GRAPHS = "graphs.db"
_open = KnowledgeBase._open
_kept: list[tempfile.TemporaryDirectory[str]] = []
_making = threading.Lock()


def start_with_samples() -> None:
    """Let every knowledge base of this process open a copy, where it would have to put the samples in itself."""
    KnowledgeBase._open = _open_copied  # type: ignore[method-assign]


async def _open_copied(self: KnowledgeBase) -> None:
    settings = self._settings
    if not (settings.milvus_uri or settings.neo4j_uri or settings.store_path.exists()):
        await asyncio.to_thread(_copy, settings)
    await _open(self)


def _copy(settings: Settings) -> None:
    # A folder that nothing can be written to is what some tests are about.
    with suppress(OSError):
        settings.store_path.parent.mkdir(parents=True, exist_ok=True)
        with _making:
            template = _template()
        for name in (settings.store_path.name, _GRAPHS):
            made, wanted = template / name, settings.store_path.parent / name
            if made.is_dir():
                shutil.copytree(made, wanted)
            elif made.exists() and not wanted.exists():
                shutil.copyfile(made, wanted)


@lru_cache(maxsize=1)
def _template() -> Path:
    """A data folder as a first start leaves it; gone with the process."""
    folder = tempfile.TemporaryDirectory(prefix="workbench-samples-")
    _kept.append(folder)
    asyncio.run(_first_start(Settings(data_dir=Path(folder.name))))
    return Path(folder.name)


async def _first_start(settings: Settings) -> None:
    knowledge = KnowledgeBase(settings)
    await _open(knowledge)
    await knowledge.close()
