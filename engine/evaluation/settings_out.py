"""Settings as text for other tools: JSON, TOML, a curl command, a Python program; what is written reads back equal."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, fields
from typing import Any

from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.version import PACKAGE

QUESTION = "What is the power set of the empty set?"
ADDRESS = "http://127.0.0.1:8501"


def plain_settings(config: RunConfig) -> dict[str, Any]:
    """Every setting as JSON-ready values, defaults included, so that later versions read the same run from it.

    Left out are only built-in models, an empty address and the options of a workflow that has none.
    ``config_from_dict`` reads it back.
    """
    plain = asdict(config)
    del plain["models"]
    if not plain["options"]:
        del plain["options"]
    if not config.milvus_address:
        del plain["milvus_address"]
    models = {
        item.name: asdict(config.models.of(item.name))  # type: ignore[arg-type]
        for item in fields(RoleModels)
        if config.models.of(item.name) != RoleModel()  # type: ignore[arg-type]
    }
    return {**plain, "models": models} if models else plain


def as_json(config: RunConfig) -> str:
    """The ``config`` of ``POST /api/runs``, indented."""
    return json.dumps(plain_settings(config), ensure_ascii=False, indent=2) + "\n"


def as_toml(config: RunConfig) -> str:
    """A file for ``python -m engine eval DATASET --config FILE``."""
    plain = plain_settings(config)
    models, options = plain.pop("models", {}), plain.pop("options", {})
    lines = [f"{name} = {_toml(value)}" for name, value in plain.items()]
    if options:
        lines += ["", "[options]", *(f"{name} = {_toml(value)}" for name, value in options.items())]
    for role, model in models.items():
        lines += ["", f"[models.{role}]", *(f"{name} = {_toml(value)}" for name, value in model.items())]
    return "\n".join(lines) + "\n"


def as_curl(config: RunConfig, question: str = QUESTION, address: str = ADDRESS) -> str:
    """A command for a POSIX shell that asks ``question`` of a running workbench."""
    body = json.dumps({"question": question, "config": plain_settings(config)}, ensure_ascii=False)
    return f"curl {address.rstrip('/')}/api/runs -H 'content-type: application/json' \\\n  -d {shlex.quote(body)}\n"


def as_python(config: RunConfig, question: str = QUESTION) -> str:
    """A program that asks ``question`` with the engine and no browser."""
    plain = plain_settings(config)
    models, options = plain.pop("models", {}), plain.pop("options", {})
    lines = [f"    {name}={value!r}," for name, value in plain.items()]
    imports = []
    if options:
        made = type(config.options).__name__
        imports.append(f"from {type(config.options).__module__} import {made}")
        lines.append(f"    options={made}({', '.join(f'{name}={value!r}' for name, value in options.items())}),")
    if models:
        lines.append("    models=RoleModels(")
        for role, model in models.items():
            values = ", ".join(f"{name}={value!r}" for name, value in model.items())
            lines.append(f"        {role}=RoleModel({values}),")
        lines.append("    ),")
    names = "Engine, RoleModel, RoleModels, RunConfig, Settings" if models else "Engine, RunConfig, Settings"
    return "\n".join(
        [
            f"from {PACKAGE} import {names}",
            *imports,
            "",
            "config = RunConfig(",
            *lines,
            ")",
            "with Engine.open(Settings.load()) as engine:",
            f"    record = engine.run({question!r}, config)",
            "print(record.answer)",
            "",
        ]
    )


def _toml(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Basic strings of TOML are those of JSON, but for one control character more.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
