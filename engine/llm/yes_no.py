"""P(yes) of a chat model: it is asked for one word, and the log-probabilities of that word's token are read."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

YES: Final = frozenset({"yes", "true", "是", "是的", "对", "能", "可以", "有"})
NO: Final = frozenset({"no", "false", "否", "不", "不是", "不能", "没有", "没", "无"})
"""Tokens without case, blanks and the signs of a tokenizer for a blank, in the languages that are asked in."""
TOP: Final = 20
"""Tokens whose log-probabilities are asked for: the most that servers give."""
_LEAST_MASS = 0.5
"""Below this share of the first token, the model answers in other words than yes and no."""
_LEAST = 1e-9
_MOST_MASS = 1.05
"""Above this share, rounding is no excuse: the numbers are no log-probabilities."""
_ROUNDED = 1e-3
_LOWEST = -1000.0
_AROUND = " \t\r\n\u2581\u0120\u010a.。,，!！:：\"'“”‘’*_`"


@dataclass(frozen=True, slots=True)
class YesNo:
    """The probabilities of the tokens that mean yes or no, where a reply begins."""

    tokens: Mapping[str, float]
    """Those that were listed, as they were written."""
    least: float
    """The most that a token can have which was not listed."""

    @property
    def yes(self) -> float:
        return math.fsum(chance for token, chance in self.tokens.items() if meaning(token))

    @property
    def no(self) -> float:
        return math.fsum(chance for token, chance in self.tokens.items() if meaning(token) is False)

    @property
    def log_odds(self) -> float:
        """ln(P(yes) / P(no)); a side without a listed token has the most that it can have."""
        return math.log((self.yes or self.least) / (self.no or self.least))

    def to_dict(self) -> dict[str, Any]:
        """What a record says of it: the two sums and the tokens, the most probable first."""
        listed = sorted(self.tokens.items(), key=lambda item: -item[1])
        tokens = {token: round(chance, 6) for token, chance in listed}
        missing = {} if self.yes and self.no else {"other_at_most": round(self.least, 9)}
        return {"yes": round(self.yes, 4), "no": round(self.no, 4), "tokens": tokens, **missing}


def meaning(token: str) -> bool | None:
    """Return whether a token means yes; None where it means neither.

    >>> meaning(" Yes"), meaning("否"), meaning("The")
    (True, False, None)
    """
    word = unicodedata.normalize("NFKC", token.strip(_AROUND)).casefold().strip(_AROUND)
    return True if word in YES else False if word in NO else None


def yes_no_of(metadata: Iterable[Any]) -> YesNo | None:
    """P(yes) and P(no) of the first token; None where no log-probability was given or yes and no are rare.

    ``metadata`` is what came as ``logprobs``: Ollama's list of tokens, or OpenAI's object with that list as
    ``content``. A token that has everything was chosen by a server that says nothing of the others: None as well.
    """
    first = next(iter(_tokens(metadata)), None)
    if first is None:
        return None
    top = _listed(first.get("top_logprobs"))
    listed = _chances(top if any(item.get("token") == first.get("token") for item in top) else [first, *top])
    chances = [chance for _, chance in listed]
    total = math.fsum(chances)
    if total > _MOST_MASS or min(filter(None, chances), default=1.0) > 1.0 - _LEAST:
        return None
    tokens: dict[str, float] = {}
    for token, chance in listed:
        if meaning(token) is not None:
            tokens[token] = tokens.get(token, 0.0) + chance
    found = YesNo(tokens, max(_LEAST, min(*chances, 1.0 - total)))
    return found if found.yes + found.no >= _LEAST_MASS else None


def _tokens(metadata: Iterable[Any]) -> Iterable[Mapping[str, Any]]:
    for given in metadata:
        yield from _listed(given.get("content") if isinstance(given, Mapping) else given)


def _listed(given: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        return ()
    plain = [item if isinstance(item, Mapping) else getattr(item, "__dict__", None) for item in given]
    return [item for item in plain if isinstance(item, Mapping)]


def _chances(items: Iterable[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Tokens with their probabilities; none at all where a number is no log-probability.

    Servers write two tokens in the same way that differ only in a blank, each with a probability of its own.
    """
    found: dict[tuple[str, float], None] = {}
    for item in items:
        token, given = item.get("token"), item.get("logprob")
        if isinstance(token, str) and isinstance(given, int | float) and not isinstance(given, bool):
            if not given <= _ROUNDED:  # which nan is not either
                return []
            found[token, math.exp(max(_LOWEST, min(0.0, given)))] = None
    return list(found)
