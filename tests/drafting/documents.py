"""A small documentation tree for drafting, and a stand-in of a chat model that asks two things of each passage."""

from __future__ import annotations

import json
import re

from engine.knowledge.ingest import IngestItem
from tests.contracts.chat_models import fenced
from tests.support.ollama_stand_in import RecordedRequest

OPENED = {
    "harbour": (1861, "four"),
    "lighthouse": (1868, "three"),
    "granary": (1874, "two"),
    "observatory": (1883, "seven"),
    "aqueduct": (1890, "nine"),
    "theatre": (1897, "five"),
    "cathedral": (1904, "twelve"),
    "orchard": (1911, "six"),
}
_SECTION = """## The {0}

The {0} of the town was opened in {1}, and the work on it had lasted {2} years. It is seen first from the north, \
and guests who stay for the night are shown it by the keeper.
"""
_FILES = {"water": list(OPENED)[:4], "stone": list(OPENED)[4:]}
ITEMS = tuple(
    IngestItem(f"{name}.md", data="\n".join(_SECTION.format(item, *OPENED[item]) for item in several).encode())
    for name, several in _FILES.items()
)


def asked_of(request: RecordedRequest) -> str:
    """What a model replies that is shown a passage of these documents."""
    (text,) = fenced("passage", str(request.messages[-1]["content"]))
    found = re.search(r"The (\w+) of the town was opened in (\d+).* lasted (\w+ years)", text)
    assert found is not None
    thing, year, years = found.groups()
    when = {"question": f"When was the {thing} of the town opened?", "answer": year}
    lasted = {"question": f"How long did people build at the {thing}?", "answer": years}
    return json.dumps({"questions": [when, lasted]})
