"""Tiny GGUF files that llama.cpp runs, with weights of a fixed seed: a chat model, an embedder and a reranker."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

WIDTH = 32
CONTEXT = 8192
WORDS = ("Yes", "No", "yes", "no", "是", "否")
"""What the chat model says: its first word is one of these."""
_ALIGNED = 32
_DIGITS = "0123456789"
_CHAT = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:"
Value = str | int | float | bool | Sequence[str] | Sequence[int] | Sequence[float]


def write_chat(path: Path) -> Path:
    """A model of the Llama family that reads bytes and says one of :data:`WORDS`, by what it read."""
    draw = np.random.default_rng(7)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *WORDS]
    kinds = [2, 3, 3, *[6] * 256, *[1] * (1 + len(WORDS))]
    embedded = draw.normal(0, 1, (len(tokens), WIDTH))
    # A part that every token has, and to which only the words answer.
    embedded[:, 0] = 4
    out = draw.normal(0, 0.2, (len(tokens), WIDTH))
    out[-len(WORDS) :, 0] += 6
    square = {name: draw.normal(0, 0.15, (WIDTH, WIDTH)) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
    fed = {name: draw.normal(0, 0.15, (WIDTH, WIDTH)) for name in ("ffn_gate", "ffn_up", "ffn_down")}
    # What the layer adds leaves that part alone.
    square["attn_output"][0] = fed["ffn_down"][0] = 0
    norms = {name: np.ones(WIDTH) for name in ("attn_norm", "ffn_norm")}
    layer = {f"blk.0.{name}.weight": rows for name, rows in (square | fed | norms).items()}
    about = {
        **_shape("llama"),
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // 2,
        "general.license": "apache-2.0",
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * len(tokens),
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.chat_template": _CHAT,
    }
    whole = {"token_embd.weight": embedded, "output_norm.weight": np.ones(WIDTH), "output.weight": out}
    return write_gguf(path, about, whole | layer)


def write_embedder(path: Path, known: Sequence[str] = ()) -> Path:
    """A model of the BERT family whose vectors are means of those of digits and of the words and characters known."""
    return _write_bert(path, 1, {}, known)


def write_reranker(path: Path) -> Path:
    """The same with a head that gives a score for two texts."""
    draw = np.random.default_rng(8)
    head = {
        "cls.weight": draw.normal(0, 0.3, (WIDTH, WIDTH)),
        "cls.bias": np.zeros(WIDTH),
        "cls.output.weight": draw.normal(0, 1, (1, WIDTH)),
        "cls.output.bias": np.zeros(1),
    }
    return _write_bert(path, 4, head)


def _write_bert(path: Path, pooling: int, head: Mapping[str, np.ndarray], known: Sequence[str] = ()) -> Path:
    draw = np.random.default_rng(7)
    words = [part for text in known for part in (text.split() if text.isascii() else text)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*special, *_DIGITS, *(f"▁{word}" for word in dict.fromkeys((*_DIGITS, *words)))]
    layer: dict[str, np.ndarray] = {}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"):
        layer[f"blk.0.{name}.weight"] = draw.normal(0, 0.05, (WIDTH, WIDTH))
        layer[f"blk.0.{name}.bias"] = np.zeros(WIDTH)
    for name in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        layer |= {f"{name}.weight": np.ones(WIDTH), f"{name}.bias": np.zeros(WIDTH)}
    about = {
        **_shape("bert"),
        "bert.attention.layer_norm_epsilon": 1e-12,
        "bert.attention.causal": False,
        "bert.pooling_type": pooling,
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * 5 + [1] * (len(tokens) - 5),
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.cls_token_id": 2,
        "tokenizer.ggml.bos_token_id": 2,
        "tokenizer.ggml.seperator_token_id": 3,
        "tokenizer.ggml.mask_token_id": 4,
    }
    whole = {
        "token_embd.weight": draw.normal(0, 1, (len(tokens), WIDTH)),
        "token_types.weight": draw.normal(0, 0.1, (2, WIDTH)),
        "position_embd.weight": draw.normal(0, 0.01, (CONTEXT, WIDTH)),
    }
    return write_gguf(path, about, whole | layer | dict(head))


def _shape(family: str) -> dict[str, Value]:
    return {
        "general.architecture": family,
        "general.size_label": "tiny",
        f"{family}.context_length": CONTEXT,
        f"{family}.embedding_length": WIDTH,
        f"{family}.block_count": 1,
        f"{family}.feed_forward_length": WIDTH,
        f"{family}.attention.head_count": 2,
        f"{family}.attention.head_count_kv": 2,
    }


def write_gguf(path: Path, about: Mapping[str, Value], tensors: Mapping[str, np.ndarray]) -> Path:
    """Write a file of version 3 of the format, all numbers of 32 bits."""
    data, infos = b"", b""
    for name, values in tensors.items():
        sizes = values.shape[::-1]
        infos += _text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, 0, len(data))
        data += _padded(values.astype("<f4").tobytes())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(about))
    head += b"".join(_text(key) + _typed(value) for key, value in about.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_padded(head + infos) + data)
    return path


def _typed(value: Value) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_text(str(item)) for item in value)
    kind, form = (5, "i") if isinstance(value[0], int) else (6, "f")
    return struct.pack(f"<IIQ{len(value)}{form}", 9, kind, len(value), *value)


def _text(text: str) -> bytes:
    coded = text.encode()
    return struct.pack("<Q", len(coded)) + coded


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNED)
