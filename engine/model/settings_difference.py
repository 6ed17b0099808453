"""Compare the settings of two runs, and what their manifests say beyond the settings."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import get_args

from engine.model.config import RoleModel, RoleName, RunConfig
from engine.model.values import RunRecord

_OF_MODELS = tuple(item.name for item in fields(RoleModel))


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting (``top_k``, ``gener_epoch``, ``models.grader``, ``models.grader.seed``) or a line of the manifest."""

    name: str
    a: object
    """None where a manifest has no such line."""
    b: object
    manifest: bool = False


def settings_difference(a: RunConfig, b: RunConfig) -> tuple[SettingDifference, ...]:
    """The settings that differ, in the order of ``RunConfig``, then the workflow's own options; models by role."""
    plain = [item.name for item in fields(RunConfig) if item.name not in ("models", "options")]
    found = [
        SettingDifference(name, getattr(a, name), getattr(b, name))
        for name in plain
        if getattr(a, name) != getattr(b, name)
    ]
    if type(a.options) is type(b.options):
        # Those of different workflows have nothing in common that could differ.
        found += [
            SettingDifference(item.name, getattr(a.options, item.name), getattr(b.options, item.name))
            for item in fields(a.options)
            if getattr(a.options, item.name) != getattr(b.options, item.name)
        ]
    for role in get_args(RoleName):
        old, new = a.models.of(role), b.models.of(role)
        if old.built_in and new.built_in:
            # A built-in role has no temperature, seed or context size.
            old, new = RoleModel(fit=old.fit), RoleModel(fit=new.fit)
        for name in _OF_MODELS:
            if getattr(old, name) != getattr(new, name):
                label = f"models.{role}" if name == "model" else f"models.{role}.{name}"
                found.append(SettingDifference(label, getattr(old, name), getattr(new, name)))
    return tuple(found)


def manifest_difference(a: RunRecord, b: RunRecord) -> tuple[SettingDifference, ...]:
    """The lines that differ and that no setting says already: digests, versions, the collection's fingerprint."""
    names = dict.fromkeys((*a.manifest, *b.manifest))
    return tuple(
        SettingDifference(name, a.manifest.get(name), b.manifest.get(name), manifest=True)
        for name in names
        if a.manifest.get(name) != b.manifest.get(name) and not _said_by_settings(name, a.config, b.config)
    )


def _said_by_settings(name: str, a: RunConfig, b: RunConfig) -> bool:
    if name == "collection":
        return a.collection != b.collection
    role = next((role for role in get_args(RoleName) if name == role), None)
    return role is not None and a.models.of(role).model != b.models.of(role).model
