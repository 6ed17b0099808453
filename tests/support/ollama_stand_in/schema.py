"""The smallest JSON value that fits a JSON schema, for replies to requests with a ``format``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def smallest(schema: Schema, *, name: str = "text", root: Schema | None = None) -> Any:
    """Build a fixed value that validates against the schema.

    Objects get their required properties, or all of them where none is listed as required; arrays their least number
    of items; numbers the value nearest to 0; strings the name of their property. ``pattern`` and ``format`` of strings
    are not followed.

    Raises:
        LookupError: a ``$ref`` that points outside the schema.
    """
    root = schema if root is None else root
    schema = resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    return _of_type(schema, name, root)


def resolved(schema: Schema, root: Schema) -> Schema:
    """The schema with references followed, the first alternative taken, and ``allOf`` merged into one."""
    if "$ref" in schema:
        return resolved(_pointed_at(schema["$ref"], root), root)
    for choice in ("anyOf", "oneOf"):
        if schema.get(choice):
            return resolved(schema[choice][0], root)
    if schema.get("allOf"):
        merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            merged |= resolved(part, root)
        return merged
    return schema


def _of_type(schema: Schema, name: str, root: Schema) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = kind[0]
    match kind:
        case "object":
            properties: Schema = schema.get("properties", {})
            wanted = schema.get("required", list(properties))
            return {key: smallest(properties.get(key, {}), name=key, root=root) for key in wanted}
        case "array":
            firsts = [smallest(item, name=name, root=root) for item in schema.get("prefixItems", [])]
            missing = max(0, schema.get("minItems", 0) - len(firsts))
            return firsts + [smallest(schema.get("items", {}), name=name, root=root) for _ in range(missing)]
        case "integer" | "number":
            return _number(schema, whole=kind == "integer")
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return name.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]


def _number(schema: Schema, *, whole: bool) -> int | float:
    step = schema.get("multipleOf", 1 if whole else 0.5)
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if "exclusiveMinimum" in schema:
        low = max(low, schema["exclusiveMinimum"] + step)
    if "exclusiveMaximum" in schema:
        high = min(high, schema["exclusiveMaximum"] - step)
    value = max(low, min(0, high))
    # Rounding away from the bound that moved it keeps the value inside the bounds and on a multiple.
    value = step * (math.ceil(value / step) if value >= 0 else math.floor(value / step))
    return int(value) if whole else float(min(value, high))


def _pointed_at(pointer: str, root: Schema) -> Schema:
    if not pointer.startswith("#"):
        raise LookupError(f"the schema refers to {pointer!r}, which is outside of it")
    found: Any = root
    for step in pointer.removeprefix("#").strip("/").split("/"):
        found = found[step.replace("~1", "/").replace("~0", "~")] if step else found
    target: Schema = found
    return target
