"""The card that says which settings keep a risk below a bound, or what is missing for that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, button, chip, draw, node
from components.tune.charts import CLICKED, Tried, clickable, is_nearest, ordinal, value_name
from components.tune.figures import p_text, value_text
from components.tune.vega import LEGEND_BELOW, layer, text
from engine.evaluation.certify import Certificates, Risk, Standing
from engine.evaluation.predicted import Predicted
from engine.evaluation.sweep import HeatMap
from engine.messages import N_, NC_
from engine.model.config import RunConfig

RISKS: dict[Risk, str] = {
    "wrong_given": N_("wrong among answers given"),
    "refused_answerable": N_("answerable refused"),
}

_PROMISE: dict[Risk, str] = {
    "wrong_given": N_("At most {bound} of the answers given are wrong, at {confidence} confidence."),
    "refused_answerable": N_("At most {bound} of the answerable questions are refused, at {confidence} confidence."),
}

_SEEN: dict[Risk, str] = {
    "wrong_given": N_("{failures} of {trials} answers given are wrong."),
    "refused_answerable": N_("{failures} of {trials} answerable questions are refused."),
}

_MORE: dict[Risk, str] = {
    "wrong_given": N_("At least {n} more answers to labelled questions are needed, none of them wrong."),
    "refused_answerable": N_("At least {n} more answerable questions are needed, none of them refused."),
}

_STANDINGS: dict[Standing, tuple[str, str, str]] = {
    "certified": (N_("certified"), "✓", "#2fa699"),
    "open": (N_("not yet"), "", "#d5d9e2"),
    "violated": (N_("exceeds the bound"), "✗", "#e0875a"),
}
"""What can be said of a setting, with a sign beside the colour."""


def certificate_card(
    found: Certificates, pick: int | None, changed: Sequence[str], current: int | None, words: Words, *, key: str
) -> bool:
    """Draw the card; true when the reader wants to try the certified setting.

    ``pick`` is the place of the certified setting to take, ``changed`` what differs in it from the settings under
    test, ``current`` the place of those under test, None where they are not among the settings tried.
    """
    if pick is None:
        head = node("strong", "heading", words("Not certifiable yet"))
        none = words("None of {tried} settings is shown to keep this bound.", tried=len(found.p))
        draw((node("section", "card", head, node("p", "", none), *_missing(found, current, words)),), words, key=key)
        return False
    head = node("div", "head", node("strong", "heading", promise_text(found, words)), chip("pass", words("certified")))
    count = words(
        "{n} of {tried} settings are certified; of these, this one gives the most answers. The promise holds for "
        "questions drawn like those of this set, and for all certified settings together.",
        n=int(found.certified.sum()),
        tried=len(found.p),
    )
    parts = [
        head,
        node("p", "query", " · ".join(changed) or words("The settings under test.")),
        node("p", "", f"{_seen(found, pick, words)} {p_text(found.p[pick])}"),
        node("p", "muted", count),
    ]
    if current is not None and current != pick and not found.certified[current]:
        parts += _missing(found, current, words)
    if changed:
        parts.append(node("div", "actions", button(words(NC_("tuning", "Try it")), "try", "button primary")))
    return draw((node("section", "card", *parts),), words, key=key) == "try"


def certificate_map(
    found: Certificates, heat: HeatMap, current: RunConfig, words: Words, *, key: str, tried: Tried
) -> None:
    """One cell a setting, by what can be said of it: never the colours of a measure, which say nothing of a bound."""
    rows = standings(found, heat, current, words)
    ends = {"x": ordinal("x", heat.x, words), "y": ordinal("y", heat.y, words, downwards=True)}
    names = [words(_STANDINGS[name][0]) for name in _STANDINGS]
    scale = {"domain": names, "range": [colour for _, _, colour in _STANDINGS.values()]}
    tips = [*(text(f"{end}_name", ends[end]["title"]) for end in ends), text("standing", " "), text("seen", " ")]
    cells = layer(
        rows,
        {"type": "rect", "cornerRadius": 3, "cursor": "pointer"},
        color=text("standing", scale=scale, legend=LEGEND_BELOW),
        tooltip=tips,
        **ends,
    )
    ink = "#f3f4f6" if st.context.theme.type == "dark" else "#1f2937"
    signs = layer(rows, {"type": "text", "fontSize": 13, "color": ink, "tooltip": None}, text=text("sign"), **ends)
    frame = {"type": "rect", "cornerRadius": 3, "filled": False, "stroke": ink, "strokeWidth": 2.5}
    marked = layer((row for row in rows if row["current"]), frame, **ends)
    clickable(
        [{**cells, "name": CLICKED}, signs, marked],
        ("x", "y"),
        key,
        lambda point: tried({heat.x.name: point["x"], heat.y.name: point["y"]}),
    )


def standings(found: Certificates, heat: HeatMap, current: RunConfig, words: Words) -> list[dict[str, Any]]:
    """Every cell with what can be said of its setting, and what that rests on; none where no round meets the gate."""
    rows = []
    for y_place, y in enumerate(heat.y.values):
        for x_place, x in enumerate(heat.x.values):
            if not heat.possible[y_place, x_place]:
                continue
            place = int(heat.settings[y_place, x_place])
            name, sign, _ = _STANDINGS[found.standing(place)]
            rows.append(
                {
                    "x": x,
                    "y": y,
                    "x_name": value_name(x),
                    "y_name": value_name(y),
                    "standing": words(name),
                    "sign": sign,
                    "seen": _seen(found, place, words),
                    "current": is_nearest(getattr(current, heat.x.name), x, heat.x.values)
                    and is_nearest(getattr(current, heat.y.name), y, heat.y.values),
                }
            )
    return rows


def predicted_card(found: Predicted | None, judge: str, words: Words, *, key: str) -> None:
    """Draw what judgements drawn at random and the verdicts of a model say together; nothing where they are too few."""
    if found is None:
        return
    head = node("div", "head", node("strong", "heading", words("Estimated with the help of a model")))
    said = words(
        "About {value} of the {n} answers of this gathering are wrong as people would judge them ({low} – {high}, at "
        "{confidence} confidence).",
        value=_share(found.value),
        n=found.n,
        low=_share(found.low),
        high=_share(found.high),
        confidence=percent(found.confidence),
    )
    of = words(
        "From {judged} judgements drawn at random and {verdicts} verdicts of {judge}; the judgements alone say {low} – "
        "{high}. An estimate: it certifies nothing.",
        judged=found.judged,
        verdicts=found.verdicts,
        judge=judge,
        low=_share(found.alone[0]),
        high=_share(found.alone[1]),
    )
    draw((node("section", "card", head, node("p", "", said), node("p", "muted", of)),), words, key=key)


def _share(share: float) -> str:
    return percent(round(share, 3))


def promise_text(found: Certificates, words: Words) -> str:
    """The sentence that holds of every certified setting."""
    return words(_PROMISE[found.risk], bound=percent(found.bound), confidence=percent(found.confidence))


def percent(share: float) -> str:
    """Write a share as a percentage: ``12.5 %``."""
    return f"{round(100 * share, 6):g} %"


def _seen(found: Certificates, place: int, words: Words) -> str:
    said = words(_SEEN[found.risk], failures=int(found.failures[place]), trials=int(found.trials[place]))
    if not found.lost:
        return said
    failed = words.count("1 failed run counts among them.", "{n} failed runs count among them.", found.lost)
    return words.joined([said, failed])


def _missing(found: Certificates, place: int | None, words: Words) -> list[Node]:
    """Show what the tried settings lack; empty if they were not tried."""
    if place is None:
        return [node("p", "muted", words("The settings under test lie between those that were tried."))]
    said = [words("Settings under test:"), _seen(found, place, words)]
    if unrecorded := int(found.unrecorded[place]):
        missing = words.count(
            "1 answer is not recorded under them; gather with these settings to have it.",
            "{n} answers are not recorded under them; gather with these settings to have them.",
            unrecorded,
        )
        return [node("p", "muted", words.joined([*said, missing]))]
    trials = int(found.trials[place])
    share = int(found.failures[place]) / trials if trials else 0.0
    more = found.more(place)
    if share > found.bound:
        said.append(words("That is {share}, more than the bound.", share=value_text("wrong_given", share)))
    elif more:
        said.append(words(_MORE[found.risk], n=more))
    else:
        said.append(words("Alone they would pass; a stricter setting did not, and ended the sequence."))
    return [node("p", "muted", words.joined(said))]
