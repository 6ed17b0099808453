"""What the header of a GGUF file says of the model in it; the weights are not read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from engine.errors import ModelError
from engine.model.system import LocalKind, LocalModel

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Types of values by their number in the format's specification."""
_STRING, _ARRAY = 8, 9
_KEPT = 1024
"""Longest array that is kept: one number a layer, but not the tokens of a vocabulary."""
_RANK = 4
"""llama.cpp's pooling type of models that give a score; 1 to 3 pool into a vector."""
_ENCODERS = ("bert", "eurobert", "gemma-embedding", "t5encoder")
"""Ends of the names of architectures that write nothing, where a file does not say how it pools."""
_PARTS = ("mmproj", "adapter", "imatrix", "vocab")
"""Kinds of files that hold no model by themselves."""


def model_in(path: Path) -> LocalModel:
    """The model of a file; raises ``ModelError`` for one that is no whole GGUF file or cannot be read.

    A file that is cut within its last tensor is left to llama.cpp to refuse.
    """
    try:
        seen = path.stat()
        return _read(path, seen.st_size, seen.st_mtime_ns)
    except OSError as foreign:
        why = foreign.strerror or str(foreign)
        raise ModelError.local_file_unusable(model=path.name, why=why) from foreign
    except (ValueError, TypeError, ArithmeticError, RecursionError, struct.error) as foreign:
        raise ModelError.local_file_cut(model=path.name) from foreign


@lru_cache(maxsize=64)
def _read(path: Path, size: int, _changed: int) -> LocalModel:
    with path.open("rb") as file:
        return _model(path.name, size, _Header(file, size).values())


class _Header:
    """The values before the tensors, read once; ``ValueError`` where the file ends too early."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._size = size

    def values(self) -> Mapping[str, Any]:
        if self._file.read(4) != _MAGIC:
            raise ValueError(self._file.name)
        _version, tensors, count = self._numbers("<IQQ")
        found = {self._text(): self._value(self._number("I")) for _ in range(self._fitting(count))}
        last = 0
        for _ in range(self._fitting(tensors)):
            self._text()
            dimensions = self._number("I")
            self._skip(8 * dimensions + 4)
            last = max(last, self._number("Q"))
        if self._file.tell() + last > self._size:
            raise ValueError(self._file.name)
        return found

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind != _ARRAY:
            return self._number(_SCALARS.get(kind, ""))
        inner, count = self._numbers("<IQ")
        self._fitting(count)
        if inner in _SCALARS and count > _KEPT:
            self._skip(count * struct.calcsize("<" + _SCALARS[inner]))
            return count
        values = [self._value(inner) for _ in range(count)]
        return values if count <= _KEPT else count

    def _text(self) -> str:
        return self._bytes(self._number("Q")).decode(errors="replace")

    def _number(self, form: str) -> Any:
        if not form:
            raise ValueError(self._file.name)
        return self._numbers("<" + form)[0]

    def _numbers(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self._bytes(struct.calcsize(form)))

    def _bytes(self, count: int) -> bytes:
        found = self._file.read(self._fitting(count))
        if len(found) < count:
            raise ValueError(self._file.name)
        return found

    def _skip(self, count: int) -> None:
        self._file.seek(self._fitting(count), 1)

    def _fitting(self, count: int) -> int:
        """A number of things that the file has room for: a damaged one may name any number."""
        if count > self._size - self._file.tell():
            raise ValueError(self._file.name)
        return count


def _model(name: str, size: int, values: Mapping[str, Any]) -> LocalModel:
    architecture = str(values.get("general.architecture", ""))

    def number(key: str) -> int:
        found = values.get(f"{architecture}.{key}", 0)
        return int(max(found, default=0)) if isinstance(found, list) else int(found)

    return LocalModel(
        name=name,
        size=size,
        kind=_kind(architecture, values),
        architecture=architecture,
        parameters=str(values.get("general.size_label", "")),
        licence=str(values.get("general.license", "")),
        context_length=number("context_length"),
        embedding_length=number("embedding_length"),
        token_bytes=_token_bytes(values.get(f"{architecture}.attention.head_count_kv"), number),
    )


def _kind(architecture: str, values: Mapping[str, Any]) -> LocalKind:
    pooling = values.get(f"{architecture}.pooling_type", 0)
    if values.get("general.type") in _PARTS or architecture == "clip" or values.get("split.no"):
        return ""
    if pooling == _RANK:
        return "scores"
    if pooling or architecture.endswith(_ENCODERS):
        return "embedding"
    # Without a template it is not known how the model wants to be spoken to: it was trained to continue a text.
    return "chat" if values.get("tokenizer.chat_template") else ""


def _token_bytes(kv_heads: Any, number: Callable[[str], int]) -> int:
    """Bytes that the memory of attention takes for one token: two vectors of 16-bit numbers a head and layer."""
    heads = number("attention.head_count") or 1
    width = number("embedding_length") // heads
    vectors = (number("attention.key_length") or width) + (number("attention.value_length") or width)
    whole: Sequence[int] = kv_heads if isinstance(kv_heads, list) else [int(kv_heads or heads)] * number("block_count")
    return 2 * vectors * sum(whole)
