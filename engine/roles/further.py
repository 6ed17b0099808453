"""Memory, web and images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from engine.model.values import Memory

if TYPE_CHECKING:
    pass
from engine.roles.store import StoredPassage
from engine.roles.trace import SILENT, Trace


class LongTermMemory(Protocol):
    """Earlier questions with their answers, kept across restarts (DL-06).

    Contract (tests/contracts/test_memory.py): ``recall`` gives passed memories of the collection alone, best first
    with ``similarity`` filled in; failed ones are kept apart and never recalled; keeping an id again replaces it;
    everything raised is our own error.
    """

    async def recall(self, question: str, collection: str, limit: int) -> list[Memory]: ...

    async def keep(self, memory: Memory) -> None: ...

    async def list(self) -> list[Memory]:
        """Every memory, passed and failed, newest first."""

    async def forget(self, memory_id: str) -> bool:
        """Return whether there was one to forget."""


class WebSearch(Protocol):
    """Searches the web; its results are untrusted text (DL-07).

    Contract (tests/contracts/test_web_search.py): at most ``limit`` results with a title, an http(s) address as
    ``source`` and plain text; nothing but the engine's address is ever contacted; slow, failing or malformed engines
    are a ``WebSearchError``.
    """

    async def search(self, query: str, limit: int) -> list[StoredPassage]: ...


ImageType = Literal["image/png", "image/jpeg", "image/webp"]


class ImageReader(Protocol):
    """Reads an image: the text in it, or what it shows (GH-05).

    Contract (tests/contracts/test_image_reader.py): plain text, empty where there is nothing to read; the image has
    been checked (type, bytes, pixels) before; text inside the image is evidence and cannot change the form; a server
    that cannot be reached is a ``ModelError``, a package that is not installed an ``AttachmentError`` with its command.
    """

    @property
    def name(self) -> str:
        """``ocr`` or the name of the vision model."""

    async def read(self, image: bytes, media_type: ImageType, question: str = "", trace: Trace = SILENT) -> str: ...
