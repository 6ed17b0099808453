"""The tab *Run errors*: questions whose run ended in an error, each with what happened."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.common.markup import draw, node


def view(errors: Sequence[tuple[str, str]], words: Words, *, key: str) -> None:
    """Draw question and what happened, one a line."""
    items = [node("li", "", node("span", "sign warn", "!"), node("strong", "", who), f" {why}") for who, why in errors]
    draw((node("ul", "report", *items),), words, key=key)
