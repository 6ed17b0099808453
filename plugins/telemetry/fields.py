"""Attributes as they are gathered: figures and names from closed sets always, texts only where content is wanted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from openinference.semconv.trace import DocumentAttributes, OpenInferenceMimeTypeValues, SpanAttributes

from engine.model.values import Passage, PassageId
from plugins.telemetry.values import Value

LONGEST = 32_000
"""Characters of one attribute: collectors take requests of some megabytes."""
_CUT = "…"


class Wanted:
    """Whether content is wanted, and how passages are called where it is not."""

    def __init__(self, *, content: bool) -> None:
        self.content = content
        self._numbers: dict[PassageId, int] = {}

    def passage(self, passage_id: PassageId) -> str:
        """Its id; without content its number in this run, for an id holds the name of its source."""
        number = self._numbers.setdefault(passage_id, len(self._numbers) + 1)
        return passage_id if self.content else f"passage-{number}"

    def text(self, text: str) -> str:
        """Return a text for an event or a score; empty where content is not wanted."""
        return cut(text) if self.content else ""


class Fields:
    """The attributes of one span."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.found: dict[str, Value] = {}

    def put(self, name: str, value: Value | None) -> None:
        """Add a figure, or a name out of a set that this program knows; nothing for None and for an empty text."""
        if value is not None and value not in ("", ()):
            self.found[name] = cut(value) if isinstance(value, str) else value

    def put_json(self, name: str, values: Mapping[str, Any]) -> None:
        """Add figures and known names as one object."""
        self.put(name, _json({key: value for key, value in values.items() if value not in (None, "")}))

    def say(self, name: str, text: str) -> None:
        """Add a text that a person or a model wrote."""
        self.put(name, self.wanted.text(text))

    def say_input(self, text: str) -> None:
        self._say_value(SpanAttributes.INPUT_VALUE, SpanAttributes.INPUT_MIME_TYPE, text)

    def say_output(self, value: str | Mapping[str, Any] | list[Any]) -> None:
        """Add what came out of a span; values become JSON."""
        self._say_value(SpanAttributes.OUTPUT_VALUE, SpanAttributes.OUTPUT_MIME_TYPE, value)

    def _say_value(self, name: str, kind: str, value: str | Mapping[str, Any] | list[Any]) -> None:
        text = value if isinstance(value, str) else _json(value)
        if self.wanted.content and text:
            plain = isinstance(value, str)
            self.say(name, text)
            self.put(kind, (OpenInferenceMimeTypeValues.TEXT if plain else OpenInferenceMimeTypeValues.JSON).value)

    def document(
        self, under: str, place: int, passage: Passage, score: float | None, figures: Mapping[str, Any]
    ) -> None:
        """Add one passage of a list, with a score and what else is known of it in figures."""
        at = f"{under}.{place}"
        self.put(f"{at}.{DocumentAttributes.DOCUMENT_ID}", self.wanted.passage(passage.id))
        self.put(f"{at}.{DocumentAttributes.DOCUMENT_SCORE}", score)
        self.say(f"{at}.{DocumentAttributes.DOCUMENT_CONTENT}", passage.text)
        named = {"source": passage.source, "section": passage.section, "title": passage.title, "dated": passage.dated}
        self.put_json(
            f"{at}.{DocumentAttributes.DOCUMENT_METADATA}", {**figures, **(named if self.wanted.content else {})}
        )


def cut(text: str) -> str:
    """Return a text that is at most as long as one attribute may be, of characters that every receiver takes."""
    # Half a surrogate pair has no UTF-8 form, and databases behind receivers refuse the character 0.
    text = text.encode(errors="replace").decode().replace("\0", "\ufffd")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + _CUT


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
