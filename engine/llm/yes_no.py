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
    ``content``.
    """
    first = next(iter(_tokens(metadata)), None)
    if first is None:
        return None
    listed = _chances([first, *_listed(first.get("top_logprobs"))])
    rest = max(_LEAST, min(min(listed.values(), default=1.0), 1.0 - math.fsum(listed.values())))
    found = YesNo({token: chance for token, chance in listed.items() if meaning(token) is not None}, rest)
    return found if found.yes + found.no >= _LEAST_MASS else None


def _tokens(metadata: Iterable[Any]) -> Iterable[Mapping[str, Any]]:
    for given in metadata:
        yield from _listed(given.get("content") if isinstance(given, Mapping) else given)


def _listed(given: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        return ()
    plain = [item if isinstance(item, Mapping) else getattr(item, "__dict__", None) for item in given]
    return [item for item in plain if isinstance(item, Mapping)]


def _chances(items: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Probabilities by token; what is no log-probability is left out."""
    found: dict[str, float] = {}
    for item in items:
        token, given = item.get("token"), item.get("logprob")
        if isinstance(token, str) and isinstance(given, int | float) and not isinstance(given, bool) and given <= 1e-3:
            found[token] = math.exp(min(0.0, given))
    return found
