"""What can go wrong with a cross encoder, which runs in this process from files of its own."""

from __future__ import annotations

import shlex
from typing import Self

from engine.errors.model import ModelError

_FILES = "onnx/model.onnx tokenizer.json tokenizer_config.json special_tokens_map.json config.json"


class RerankerError(ModelError):
    """A reranker failed in a way that has no class of its own."""

    code = "WB340"


class CrossEncoderPackageMissing(RerankerError):
    code = "WB341"

    @classmethod
    def for_model(cls, model: str) -> Self:
        return cls(
            f"{model} needs a package that is not installed here.",
            remedy="Run `pip install fastembed` and start again, or choose `builtin` as the reranker.",
            params={"model": model, "package": "fastembed"},
        )


class CrossEncoderMissing(RerankerError):
    code = "WB342"

    @classmethod
    def at(cls, model: str, name: str, folder: str) -> Self:
        command = f"hf download {shlex.quote(name)} {_FILES} --local-dir {shlex.quote(folder)}"
        return cls(
            f"The files of {model} are not in {folder}.",
            remedy=f"Run `{command}`, or choose `builtin` as the reranker.",
            params={"model": model, "folder": folder, "command": command},
        )


class CrossEncoderUnusable(RerankerError):
    code = "WB343"

    @classmethod
    def because(cls, model: str, folder: str, why: str) -> Self:
        return cls(
            f"{model} cannot be used: {why[:300]}",
            remedy=f"Download it again into {folder}: it must be a cross encoder in ONNX form with its tokenizer.",
            params={"model": model, "folder": folder, "why": why[:300]},
        )


class CrossEncoderMisnamed(RerankerError):
    code = "WB344"

    @classmethod
    def named(cls, model: str) -> Self:
        return cls(
            f"{model[:120]!r} is not the name of a cross encoder.",
            remedy="Write `cross_encoder:NAME` or `cross_encoder:OWNER/NAME`, as the model hub names it.",
            params={"model": model[:120]},
        )
