"""Names of entities: the form that is shown, the form that is compared, and types."""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 200
"""Characters; what is longer is a sentence and no name."""
TERM = "TERM"
RELATED_TO = "RELATED_TO"

_LONGEST_TYPE = 60
_NO_TYPE = re.compile(r"[^\w]+")


def shown(text: str) -> str:
    """A name or description as it is kept: without control characters and half characters, white space made one."""
    # Half a surrogate pair has no UTF-8 form, and no store takes it.
    whole = text.encode("utf-8", "replace").decode("utf-8")
    kept = (" " if char.isspace() or unicodedata.category(char) == "Cc" else char for char in whole)
    return " ".join("".join(kept).split())


def normalised(name: str) -> str:
    """The form by which names are compared, and the id of an entity: NFKC, case-folded, white space made one."""
    folded = unicodedata.normalize("NFKC", shown(name))
    # Folding can leave a form that NFKC changes again, and the other way round, so both until nothing changes.
    while (further := unicodedata.normalize("NFKC", folded.casefold())) != folded:
        folded = further
    return " ".join(folded.split())


def usable(name: str) -> bool:
    """Return whether something can be the name of an entity at all."""
    return 0 < len(normalised(name)) <= LONGEST_NAME


def type_name(text: str, otherwise: str) -> str:
    """A type of an entity or relationship in capitals, words joined by underscores; ``otherwise`` for none."""
    joined = _NO_TYPE.sub("_", unicodedata.normalize("NFKC", shown(text))).strip("_").upper()
    return joined[:_LONGEST_TYPE] or otherwise
