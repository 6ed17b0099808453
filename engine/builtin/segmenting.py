"""Chinese words by rjieba, whose tables take a fifth of a second to load: only once a text needs them."""

from __future__ import annotations

from collections.abc import Iterable


def cut(text: str) -> Iterable[str]:
    """Words of a text in their order."""
    import rjieba

    return rjieba.cut(text)


def cut_for_search(text: str) -> Iterable[str]:
    """Words of a text in their order, long ones followed by the words inside them."""
    import rjieba

    return rjieba.cut_for_search(text)


def tag(text: str) -> Iterable[tuple[str, str]]:
    """Words of a text with what part of speech each is."""
    import rjieba

    return rjieba.tag(text)


def has_word(word: str) -> bool:
    """Return whether the dictionary has a word."""
    import rjieba

    return rjieba.has_word(word)


def suggest_freq(word: str) -> int:
    """Return the dictionary's count of a word."""
    import rjieba

    return rjieba.suggest_freq(word)
