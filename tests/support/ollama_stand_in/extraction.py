"""What a chat model might reply when it is asked for the entities of a passage: names around a few known verbs."""

from __future__ import annotations

import re
from typing import Any

_VERBS = {
    "treats": "TREATS",
    "helps": "HELPS",
    "hurts": "HURTS",
    "discovered": "DISCOVERED",
    "causes": "CAUSES",
    "lowers": "LOWERS",
    "治疗": "TREATS",
    "降低": "LOWERS",
    "导致": "CAUSES",
}
_SAID = re.compile(
    r"((?:[A-Z]\w+ )?[A-Za-z]\w+) (treats|helps|hurts|discovered|causes|lowers) (\w+)"
    r"|([\u4e00-\u9fff]{2,6}?)(治疗|降低|导致)([\u4e00-\u9fff]{2,6})"
)
_MOST = 15


def extraction(passage: str) -> dict[str, Any]:
    """Entities and relationships in the form that the prompt asks for."""
    ties = []
    for match in _SAID.finditer(passage):
        one, verb, other = (part for part in match.groups() if part)
        ties.append({"source": one, "target": other, "type": _VERBS[verb], "description": match.group()})
    names = dict.fromkeys(name for tie in ties for name in (tie["source"], tie["target"]))
    entities: list[dict[str, Any]] = [
        {"name": name, "type": "CONCEPT", "description": "", "aliases": []} for name in names
    ]
    return {"entities": entities[:_MOST], "relationships": ties}


def community(things: str, passage: str) -> dict[str, str]:
    """Title and summary: the first names, and the first sentence of the first passage."""
    first = re.split(r"(?<=[.。])", passage.strip())[0]
    return {"title": "; ".join(re.sub(r" \(.*?\)", "", things).split("; ")[:3]), "summary": first or "Nothing."}
