"""What an extractor's reply says, read tolerantly, and kept only as far as the passage bears it out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, Field, ValidationError

from engine.llm.parsing import Part, Reply, plain_text, read_by
from engine.roles import StoredPassage
from engine.roles.graph import PassageGraph, ReadEntity, ReadRelationship, text_hash

MOST_ENTITIES = 30
MOST_RELATIONSHIPS = 40
_LONGEST_NAME = 120
_LONGEST_DESCRIPTION = 300
_LONGEST_SUMMARY = 1500
_NO_TYPE = re.compile(r"[^A-Z0-9]+")


def _valid(items: list[Any], shape: type[Any]) -> list[Any]:
    found = []
    for item in items:
        try:
            found.append(shape.model_validate(item))
        except ValidationError:
            continue
    return found


def _list(value: Any) -> list[Any]:
    if isinstance(value, Mapping):  # {"Metformin": {"type": "DRUG"}}
        return [{"name": name, **item} for name, item in value.items() if isinstance(item, Mapping)]
    if not isinstance(value, list | tuple):
        raise ValueError("not a list")
    return list(value)


def _name(value: Any) -> str:
    text = plain_text(value, _LONGEST_NAME) if isinstance(value, str) else ""
    if not any(char.isalnum() for char in text):
        raise ValueError("not a name")
    return text


def _type(value: Any, otherwise: str) -> str:
    folded = unicodedata.normalize("NFKC", str(value)).upper()
    return _NO_TYPE.sub("_", folded).strip("_")[:40] or otherwise


def _aliases(value: Any) -> tuple[str, ...]:
    parts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    return tuple(plain_text(part, _LONGEST_NAME) for part in parts if isinstance(part, str) and part.strip())


_Name = Annotated[str, read_by(_name)]
_Description = Annotated[str, read_by(plain_text, longest=_LONGEST_DESCRIPTION)]


class EntityReply(Part):
    name: _Name = Field(validation_alias=AliasChoices("name", "entity", "entity_name", "id", "名称", "实体"))
    type: Annotated[str, read_by(_type, otherwise="TERM")] = Field(
        "TERM", validation_alias=AliasChoices("type", "entity_type", "label", "类型")
    )
    description: _Description = Field("", validation_alias=AliasChoices("description", "desc", "描述"))
    aliases: Annotated[tuple[str, ...], read_by(_aliases)] = Field(
        (), validation_alias=AliasChoices("aliases", "alias", "别名")
    )


class RelationshipReply(Part):
    source: _Name = Field(validation_alias=AliasChoices("source", "from", "head", "subject", "来源", "起点"))
    target: _Name = Field(validation_alias=AliasChoices("target", "to", "tail", "object", "目标", "终点"))
    type: Annotated[str, read_by(_type, otherwise="RELATED_TO")] = Field(
        "RELATED_TO", validation_alias=AliasChoices("type", "relation", "relationship", "predicate", "类型", "关系")
    )
    description: _Description = Field("", validation_alias=AliasChoices("description", "desc", "描述"))


def _entities(value: Any) -> list[EntityReply]:
    # A list of bare names is what small models write.
    items = [{"name": item} if isinstance(item, str) else item for item in _list(value)]
    return _valid(items, EntityReply)[:MOST_ENTITIES]


def _relationships(value: Any) -> list[RelationshipReply]:
    return _valid(_list(value), RelationshipReply)[:MOST_RELATIONSHIPS]


def _summary(value: Any) -> str:
    text = plain_text(value, _LONGEST_SUMMARY)
    if not text:
        raise ValueError("blank")
    return text


class ExtractionReply(Reply):
    """One bad item is left out; a reply without a list of entities is none."""

    lists: ClassVar[frozenset[str]] = frozenset({"relationships"})

    entities: Annotated[tuple[EntityReply, ...], read_by(_entities)] = Field(
        validation_alias=AliasChoices("entities", "nodes", "实体")
    )
    relationships: Annotated[tuple[RelationshipReply, ...], read_by(_relationships)] = Field(
        (), validation_alias=AliasChoices("relationships", "relations", "edges", "关系")
    )

    def decisive(self) -> tuple[object, ...]:
        return self.entities, self.relationships


class SummaryReply(Reply):
    title: Annotated[str, read_by(_summary)] = Field(validation_alias=AliasChoices("title", "name", "标题"))
    summary: Annotated[str, read_by(_summary)] = Field(
        validation_alias=AliasChoices("summary", "description", "摘要", "总结")
    )

    def decisive(self) -> tuple[object, ...]:
        return self.title, self.summary


def graph_of(passage: StoredPassage, reply: ExtractionReply) -> PassageGraph:
    """What of a reply the passage bears out: names that stand in it, relationships between those."""
    text = _folded(passage.text)
    entities: dict[str, ReadEntity] = {}
    known: dict[str, str] = {}
    for item in reply.entities:
        key = _folded(item.name)
        if key not in text or key in entities:
            continue
        aliases = tuple(dict.fromkeys(name for name in item.aliases if _folded(name) in text and _folded(name) != key))
        entities[key] = ReadEntity(_as_written(item.name, passage.text), item.type, item.description, aliases)
        known |= {_folded(name): key for name in aliases if _folded(name) not in known} | {key: key}
    ties: dict[tuple[str, str, str], ReadRelationship] = {}
    for tie in reply.relationships:
        source, target = known.get(_folded(tie.source)), known.get(_folded(tie.target))
        if source is None or target is None or source == target:
            continue
        names = entities[source].name, entities[target].name
        ties.setdefault((source, tie.type, target), ReadRelationship(*names, tie.type, tie.description))
    return PassageGraph(passage.id, text_hash(passage.text), tuple(entities.values()), tuple(ties.values()))


def _as_written(name: str, text: str) -> str:
    """A name in the spelling that the passage has first, where only the case differs."""
    if name in text:
        return name
    found = re.search(re.escape(name), text, re.IGNORECASE)
    return found.group() if found else name


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
