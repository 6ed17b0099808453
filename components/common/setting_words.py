"""Names and values of settings and of manifest lines in the language of the page."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.phrases import begun
from components.labels.settings import choices_of, name_of
from engine.model.config import BUILTIN, ROLES, number_of


def setting_label(name: str, words: Words) -> str:
    """``top_k`` → *Top-k*, ``models.grader.seed`` → *Grader · seed*; what has no words keeps its own name."""
    if name.startswith("models."):
        _, role, *rest = name.split(".")
        parts = [words(ROLES[role]), *(_own(item, words) for item in rest)]
        return " · ".join(begun(part) for part in parts[:1]) + "".join(f" · {item}" for item in parts[1:])
    return _own(name, words)


def setting_text(name: str, value: object, words: Words) -> str:
    """One value as a page writes it; foreign text is returned as it is."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return words("on" if value else "off")
    limits = number_of(name)
    if limits is not None and isinstance(value, int | float):
        return f"{value:g}" if limits.whole or limits.step >= 1 else f"{value:.2f}"
    if value == BUILTIN:
        return words("built-in")
    choice = choices_of(name).get(str(value))
    return words(choice) if choice else str(value)


def _own(name: str, words: Words) -> str:
    message = name_of(name)
    return words(message) if message else name
