"""What the page Ask shows of a run that it follows: the server streams it, the browser draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.process import get_engine
from engine.model.values import RunRecord

_MOST_KEPT = 16

_kept: dict[tuple[str, str, str], tuple[int, Mapping[str, Any]]] = {}
"""By run, language and plan the newest view; only the loop that serves pages writes here."""


def view_of(record: RunRecord, asked: Mapping[str, str]) -> Mapping[str, Any]:
    """The view that an address asks for by ``language`` and ``plan``; tabs that show the same share it."""
    # Not before a run is followed: a start has to be quick, and these draw.
    from components.ask.live_view import moment
    from components.common.i18n import UiLanguage, words_for

    language: UiLanguage = "zh" if asked.get("language") == "zh" else "en"
    key = (record.id, language, asked.get("plan", ""))
    known = _kept.get(key)
    if known is not None and known[0] == record.last_seq:
        return known[1]
    view = moment(get_engine().graph(record.workflow), record, words_for(language), key[2])
    _kept[key] = (record.last_seq, view)
    while len(_kept) > _MOST_KEPT:
        del _kept[next(iter(_kept))]
    return view
