"""Examples in prompts, and what of a reply is only an example or an instruction given back.

Small models copy what stands in the prompt. A real example, unlike a placeholder, shows the form; both are known
here, so that neither passes for something the model has said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import TypeVar

from engine.model.values import Language

T = TypeVar("T")


def _written(en: T, zh: T) -> Mapping[Language, T]:
    """A text in Chinese, and in English for every other language."""
    return {"en": en, "zh": zh, "other": en}


QUERY = _written("lighthouse year of construction", "灯塔 建成年份")
KEYWORDS = _written(["lighthouse", "construction"], ["灯塔", "建成"])
REWRITTEN = _written(
    "The results were about the harbour, so I named the lighthouse first.", "结果讲的是港口，所以把灯塔放在最前面。"
)
CHOSEN = _written("It asks for one year of one lighthouse.", "它问的是一座灯塔的一个年份。")
SUGGESTED = _written("Give a source for the year of the lighthouse.", "请给灯塔建成年份这句话注明来源。")
CRITICISED = _written("The lighthouse was built in 1868.", "这座灯塔建于1868年。")

_INSTRUCTIONS = (
    "one short sentence",
    "one short sentence: what went wrong and what you changed",
    "the new query",
    "the query",
    "two to six terms",
    "what to change",
    "a few words",
    "one short sentence on the whole",
    "the sentence of the answer, word for word, or an empty string",
    "the sentence of the answer, word for word",
    "names as they stand in the query",
    "one of the names above",
    "what the passage says or lacks",
)
_IN_LANGUAGE = re.compile(r" in (?:english|chinese|the language of the question)$")
_NOTHING = frozenset({"", "string", "text", "reason", "query", "null", "none", "n/a"})


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .。…\"'")


_EXAMPLES = frozenset(
    _folded(text) for both in (QUERY, REWRITTEN, CHOSEN, SUGGESTED, CRITICISED) for text in both.values()
)
_ADAPTABLE = tuple(_folded(text) for both in (CHOSEN, REWRITTEN) for text in both.values())
_COPIED = 0.75
_KNOWN = _EXAMPLES | frozenset(_folded(text) for text in _INSTRUCTIONS)


def given_back(text: str) -> bool:
    """Return whether a text is nothing but what a prompt showed or asked for."""
    folded = _folded(text)
    if folded in _NOTHING or _IN_LANGUAGE.sub("", folded) in _KNOWN:
        return True
    # With one word of the question put in, as small models do, it is still the example.
    return any(SequenceMatcher(None, folded, shown).ratio() >= _COPIED for shown in _ADAPTABLE if len(folded) < 80)
