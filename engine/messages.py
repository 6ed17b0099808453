"""Marks for the messages of the pages and of faults: English texts that the catalogue of each language translates.

A marked message is a plain string. ``components.common.i18n.Words`` shows it in the reader's language; the catalogue
is kept complete by ``tests/components/test_catalogue.py``.
"""

from __future__ import annotations

CONTEXT_END = "\x04"
"""Stands between the context of a message and its English text, as in every gettext catalogue."""


def N_(message: str) -> str:  # noqa: N802 (the name that gettext's tools and readers know)
    """Mark a message where it is not shown itself, such as a value of a mapping."""
    return message


def NC_(context: str, message: str) -> str:  # noqa: N802
    """Mark a message whose English has several translations; the context says which one is meant."""
    return f"{context}{CONTEXT_END}{message}"


def NN_(one: str, many: str) -> tuple[str, str]:  # noqa: N802
    """Mark a message that counts ``{n}`` things: the English for exactly one and for any other number."""
    return one, many
