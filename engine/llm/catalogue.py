"""Files of models that are known to work here, with what identifies them, and how they are fetched.

Sizes and checksums are those that several independent projects pin for the same revision of the publisher's repository;
that of Qwen2.5-Coder was computed from the file too.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.errors import HostError
from engine.llm.connection import CONNECT_TIMEOUT_S, tls
from engine.llm.cross_encoder import FOLDER as CROSS_ENCODERS
from engine.llm.local import FOLDER as GGUF_FILES
from engine.llm.local import installed
from engine.model.config import CROSS_ENCODER, LOCAL
from engine.model.system import CatalogueModel, LocalKind, PullStatus

if TYPE_CHECKING:
    import httpx

_HUB: Final = "https://huggingface.co"
_MIRROR: Final = "HF_ENDPOINT"
"""The hub's own variable for another address of it."""
_SILENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class File:
    """One file of a model at a revision of its repository."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Known:
    """A model that can be fetched."""

    kind: LocalKind
    repository: str
    revision: str
    files: tuple[File, ...]
    languages: str
    licence: str = "apache-2.0"

    @property
    def in_file(self) -> bool:
        """True for a GGUF file, false for a folder of an ONNX model."""
        return self.files[0].path.endswith(".gguf")

    @property
    def name(self) -> str:
        """How a config names it."""
        name = self.files[0].path if self.in_file else self.repository
        return f"{CROSS_ENCODER if self.kind == 'scores' else LOCAL}{name}"

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def folder(self, data_dir: Path) -> Path:
        return data_dir / GGUF_FILES if self.in_file else data_dir / CROSS_ENCODERS / self.repository

    def here(self, data_dir: Path) -> bool:
        """Return whether all files are in their places: one gets there only when it is whole and the right one."""
        return all((self.folder(data_dir) / file.path).is_file() for file in self.files)


def _known(kind: LocalKind, repository: str, revision: str, languages: str, *files: str) -> Known:
    """A model by its files, each as path, size in bytes and SHA-256."""
    rows = (file.split() for file in files)
    return Known(kind, repository, revision, tuple(File(path, int(size), sha) for path, size, sha in rows), languages)


_MANY = "en, zh, …"
CATALOGUE: Final[Mapping[str, Known]] = {
    known.name: known
    for known in (
        _known(
            "chat",
            "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            "f86cb2c1fa58255f8052cc32aeede1b7482d4361",
            _MANY,
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf 1117320768 "
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        ),
        _known(
            "chat",
            "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
            "91cad51170dc346986eccefdc2dd33a9da36ead9",
            _MANY,
            "qwen2.5-1.5b-instruct-q4_k_m.gguf 1117320736 "
            "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
        ),
        _known(
            "chat",
            "unsloth/Qwen3-4B-Instruct-2507-GGUF",
            "a06e946bb6b655725eafa393f4a9745d460374c9",
            _MANY,
            "Qwen3-4B-Instruct-2507-Q4_K_M.gguf 2497281120 "
            "3605803b982cb64aead44f6c1b2ae36e3acdb41d8e46c8a94c6533bc4c67e597",
        ),
        _known(
            "embedding",
            "Qwen/Qwen3-Embedding-0.6B-GGUF",
            "370f27d7550e0def9b39c1f16d3fbaa13aa67728",
            _MANY,
            "Qwen3-Embedding-0.6B-Q8_0.gguf 639150592 06507c7b42688469c4e7298b0a1e16deff06caf291cf0a5b278c308249c3e439",
        ),
        _known(
            "scores",
            "gpustack/bge-reranker-v2-m3-GGUF",
            "3093af03b1a635e67b084b1d8c03c5f5e020fd05",
            _MANY,
            "bge-reranker-v2-m3-Q8_0.gguf 635676416 a43c7c9b11a4c1517e5bf95151960e1621d1b72f7a493364b01e386cf1aaa1d3",
        ),
        _known(
            "scores",
            "Xenova/ms-marco-MiniLM-L-6-v2",
            "a09144355adeed5f58c8ed011d209bf8ee5a1fec",
            "en",
            "onnx/model.onnx 90992115 c623d0bcb99f4622beb413eaef00cfbe5db20df9f1dd982da4b4f26022881870",
            "tokenizer.json 711396 d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            "tokenizer_config.json 1242 0b29c7bfc889e53b36d9dd3e686dd4300f6525110eaa98c76a5dafceb2029f53",
            "special_tokens_map.json 125 b6d346be366a7d1d48332dbc9fdf3bf8960b5d879522b7799ddba59e76237ee3",
            "config.json 824 d827779a72d27ae68cf878a6fc2e954542663fe21ca515d9f4783fc96be2d37e",
        ),
    )
}
"""By name."""


def listed(data_dir: Path) -> tuple[CatalogueModel, ...]:
    """The models that the installed packages can run, with what a person decides by."""
    return tuple(
        CatalogueModel(
            name=known.name,
            kind=known.kind,
            size=known.size,
            licence=known.licence,
            languages=known.languages,
            repository=known.repository,
            checksum=known.files[0].sha256,
            here=known.here(data_dir),
        )
        for known in CATALOGUE.values()
        if (installed() if known.in_file else find_spec("fastembed"))
    )


async def fetch(known: Known, data_dir: Path, tell: Callable[[PullStatus], None]) -> None:
    """Download what is missing of a model, continuing what an earlier try left.

    A file gets its name once its checksum is right. Raises ``HostError``.
    """
    folder, hub = known.folder(data_dir), (os.environ.get(_MIRROR) or _HUB).rstrip("/")
    done = 0
    for file in known.files:
        target = folder / file.path
        if not target.is_file():
            await _Download(known, file, target, done, tell).run(f"{hub}/{known.repository}/resolve/{known.revision}")
        done += file.size


@dataclass(slots=True)
class _Download:
    """One file on its way."""

    known: Known
    file: File
    target: Path
    before: int
    """Bytes of the files before it."""
    tell: Callable[[PullStatus], None]
    began: float = 0.0
    at_first: int = 0

    async def run(self, address: str) -> None:
        part = self.target.with_name(self.target.name + ".part")
        try:
            await asyncio.to_thread(part.parent.mkdir, parents=True, exist_ok=True)
            await self._into(part, f"{address}/{self.file.path}")
            self._say("checking", self.file.size)
            await asyncio.to_thread(self._put, part)
        except OSError as error:
            raise HostError.fetch_unwritable(
                name=self.known.name, path=str(part), why=error.strerror or str(error)
            ) from error

    async def _into(self, part: Path, address: str) -> None:
        import httpx

        kept = await asyncio.to_thread(self._kept, part)
        if kept == self.file.size:
            return
        name = self.known.name
        try:
            limits = httpx.Timeout(_SILENCE_S, connect=CONNECT_TIMEOUT_S)
            async with httpx.AsyncClient(timeout=limits, follow_redirects=True, verify=tls()) as client:
                # A server that packs what it sends would count other bytes.
                headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={kept}-"} if kept else {})}
                async with client.stream("GET", address, headers=headers) as answer:
                    answer.raise_for_status()
                    await self._pieces(part, answer, kept if answer.status_code == httpx.codes.PARTIAL_CONTENT else 0)
        except httpx.HTTPStatusError as refused:
            raise HostError.fetch_refused(name=name, address=address, status=refused.response.status_code) from refused
        except (httpx.HTTPError, httpx.InvalidURL) as broken:
            raise HostError.fetch_interrupted(
                name=name, address=address, why=str(broken) or type(broken).__name__
            ) from broken
        if (there := await asyncio.to_thread(lambda: part.stat().st_size)) < self.file.size:
            raise HostError.fetch_interrupted(name=name, address=address, why=f"{there} / {self.file.size}")

    def _kept(self, part: Path) -> int:
        """Bytes of the file that are here; those of a longer one count for nothing."""
        kept = part.stat().st_size if part.is_file() else 0
        free = shutil.disk_usage(part.parent).free
        if free < self.file.size - kept:
            raise HostError.fetch_no_room(name=self.known.name, folder=str(part.parent), free_mb=free // 1_000_000)
        return kept if kept <= self.file.size else 0

    async def _pieces(self, part: Path, answer: httpx.Response, kept: int) -> None:
        self.began, self.at_first, done = time.monotonic(), kept, kept
        with part.open("r+b" if kept else "wb") as file:
            file.seek(kept)
            async for piece in answer.aiter_bytes():
                await asyncio.to_thread(file.write, piece)
                done += len(piece)
                if done > self.file.size:
                    break
                self._say("downloading", done)
            file.truncate()

    def _put(self, part: Path) -> None:
        """Give the file its name, if it is the right one; else it is deleted, as continuing would not mend it."""
        with part.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        if found != self.file.sha256:
            with contextlib.suppress(OSError):
                part.unlink()
            raise HostError.fetch_differs(name=self.known.name, found=found, expected=self.file.sha256)
        part.replace(self.target)

    def _say(self, phase: str, done: int) -> None:
        spent = time.monotonic() - self.began
        rate = (done - self.at_first) / spent if self.began and spent > 0 else 0.0
        total, there = self.known.size, self.before + done
        self.tell(
            PullStatus(self.known.name, "running", phase, there, total, rate, (total - there) / rate if rate else None)
        )
