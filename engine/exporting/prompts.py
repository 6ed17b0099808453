"""What chat models are told, as constants of the exported file: the workbench's own prompts and schemas."""

from __future__ import annotations

import json
from typing import Any

from engine.llm import prompts
from engine.llm import together as whole
from engine.model.config import RunConfig
from engine.model.values import Language

_LANGUAGES: tuple[Language, ...] = ("en", "zh", "other")


def prompt_values() -> dict[str, Any]:
    """Every constant by its name in the exported file."""
    return {
        "GRADER_RULES": prompts.GRADER_RULES,
        "GRADER_AGAIN": prompts.GRADER_AGAIN,
        "VERDICT_SCHEMA": dict(prompts.VERDICT_SCHEMA),
        "SHORT_VERDICT_SCHEMA": dict(prompts.SHORT_VERDICT_SCHEMA),
        "SET_RULES": whole.SET_RULES,
        "SET_AGAIN": whole.SET_AGAIN,
        "SET_SCHEMA": dict(whole.SET_SCHEMA),
        "SHORT_SET_SCHEMA": dict(whole.SHORT_SET_SCHEMA),
        "REWRITER_RULES": prompts.REWRITER_RULES,
        "REWRITER_AGAIN": prompts.REWRITER_AGAIN,
        "EXAMPLES": {
            language: json.dumps(prompts.rewrite_example(language), ensure_ascii=False) for language in _LANGUAGES
        },
        "REWRITE_SCHEMA": dict(prompts.REWRITE_SCHEMA),
        "SHORT_REWRITE_SCHEMA": dict(prompts.SHORT_REWRITE_SCHEMA),
        "GENERATOR_RULES": prompts.GENERATOR_RULES,
        "UNVERIFIED": prompts.UNVERIFIED,
        "CLOSING": prompts.CLOSING,
        "CLOSING_ZH": prompts.CLOSING_ZH,
        "LANGUAGE_NAMES": dict(prompts.LANGUAGE_NAMES),
        "LONGEST_ECHO": prompts.LONGEST_ECHO,
    }


def prompt_versions(config: RunConfig) -> list[str]:
    """The versions of the prompts that the chat models of a config are asked with."""
    versions = {
        "grader": prompts.GRADER_PROMPT_VERSION,
        "rewriter": prompts.REWRITER_PROMPT_VERSION,
        "generator": prompts.GENERATOR_PROMPT_VERSION,
    }
    found = [version for role, version in versions.items() if getattr(config.models, role).chats]
    return [*found, whole.SET_PROMPT_VERSION] if config.needs_whole and config.models.grader.chats else found
