"""The smallest JSON value that fits a JSON schema as pydantic writes them, for replies to a ``format``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def smallest(schema: Schema, name: str = "text", root: Schema | None = None) -> Any:
    """Build a fixed value that validates; strings are the name of their property."""
    root = root or schema
    if "$ref" in schema:
        return smallest(root["$defs"][schema["$ref"].rpartition("/")[2]], name, root)
    if "anyOf" in schema:
        return smallest(schema["anyOf"][0], name, root)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    match schema.get("type"):
        case "object":
            properties: Schema = schema.get("properties", {})
            return {key: smallest(properties[key], key, root) for key in schema.get("required", properties)}
        case "array":
            return [smallest(schema["items"], name, root) for _ in range(schema.get("minItems", 0))]
        case "integer" | "number":
            return max(schema.get("minimum", 0), min(0, schema.get("maximum", 0)))
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return name.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]
