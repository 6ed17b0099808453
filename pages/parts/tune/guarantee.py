"""The tab *Guarantee*: a bound, a confidence, the settings that keep it, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, button, chip, draw, node
from components.common.panel import want_settings
from components.common.run_settings import setting_label, setting_text
from components.sentences.measured import p_text, value_text
from engine.engine import Engine
from engine.errors import UnknownBatch
from engine.evaluation.certify import Certificates, Risk, Standing, similarity_cut
from engine.evaluation.predicted import LEAST, Predicted, drawn_at_random, predicted_wrong
from engine.evaluation.sweep import AxisValue, HeatMap
from engine.messages import N_, NC_
from engine.model.config import RunConfig
from pages.parts.common.actions import run_action, say_fault
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Gathering, Shown
from pages.parts.tune.gather import batch_status
from pages.parts.tune.settings_map import Face, cells_of, draw_map
from pages.parts.tune.tried import (
    BOUND,
    CONFIDENCE,
    RISK,
    USUAL_BOUND,
    USUAL_CONFIDENCE,
    certificates,
    evaluated,
    swept_axes,
    tried,
)

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

_STANDINGS: dict[Standing, tuple[str, str]] = {
    "certified": (N_("certified"), "✓"),
    "open": (N_("not yet"), ""),
    "violated": (N_("exceeds the bound"), "✗"),
}
"""What can be said of a setting, with a sign next to the colour."""

_CONFIDENCES = (0.9, 0.95, 0.99)
_KEPT = 0.95
_WATCH_S = 0.5
_AREA = "tune_missing"
_BATCH = "tune_missing_batch"
_AT_ONCE = 2


def panel(
    engine: Engine,
    shown: Shown,
    gathering: Gathering,
    config: RunConfig,
    words: Words,
) -> None:
    """Show the bounded risk, what can be said about it, and the safe region if two settings are swept."""
    risk, bound, confidence = _asked(words)
    names = swept_axes(config)
    found = certificates(shown, config, names, risk=risk, bound=bound, confidence=confidence)
    made = tried(shown, config, names)
    current = next((place for place, item in enumerate(made.configs) if item == config), None)
    pick = found.most_answers(current)
    changed = [] if pick is None else _changed(config, made.configs[pick], names, words)
    if view(found, pick, changed, current, words, key="tune_certificate") and pick is not None:
        want_settings(made.settings[pick])
        st.rerun()
    missing_answers(engine, shown, gathering, config, words)
    _estimate(shown, confidence, words)
    _similarity(shown, words)
    if len(names) > 1 and (heat := made.heat(risk, names[0], names[1], config)) is not None:
        picked = standings_map(found, heat, config, words, key="tune_safe")
        if picked is not None:
            want_settings(picked)
            st.rerun()


def _asked(words: Words) -> tuple[Risk, float, float]:
    """Choose the risk, its bound and the confidence."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        risk: Risk = st.selectbox(
            words("Risk"),
            list(RISKS),
            format_func=lambda name: words(RISKS[name]),
            key=RISK,
            persist_state="session",
        )
        bound = st.number_input(
            words(NC_("risk", "At most")),
            0.01,
            0.5,
            USUAL_BOUND,
            0.01,
            key=BOUND,
            persist_state="session",
            width=140,
        )
        confidence: float = st.selectbox(
            words("Confidence"),
            _CONFIDENCES,
            index=_CONFIDENCES.index(USUAL_CONFIDENCE),
            format_func=percent,
            key=CONFIDENCE,
            persist_state="session",
            width=140,
        )
    return risk, bound, confidence


def _similarity(shown: Shown, words: Words) -> None:
    """The similarity threshold that keeps most right passages, where there are enough questions to say one."""
    if cut := similarity_cut(shown.evidence, _KEPT):
        st.caption(
            words(
                "Min. similarity {cut} keeps the right passage for {share} of new questions that find it (n = {n}).",
                cut=value_text("recall", cut[0]),
                share=percent(_KEPT),
                n=cut[1],
            )
        )


def _estimate(shown: Shown, confidence: float, words: Words) -> None:
    """Estimate from few judgements and many verdicts, or say what is missing."""
    found = predicted_wrong(shown.evidence, confidence)
    predicted_card(found, shown.judge, words, key="tune_predicted")
    if found is None and shown.judge:
        st.caption(
            words(
                "From {least} labelled answers drawn at random (now {n}), the verdicts of {judge} add an estimate.",
                least=LEAST,
                n=drawn_at_random(shown.evidence),
                judge=shown.judge,
            )
        )


def _changed(config: RunConfig, other: RunConfig, names: tuple[str, ...], words: Words) -> list[str]:
    return [
        f"{setting_label(name, words)} {setting_text(name, getattr(other, name), words)}"
        for name in names
        if getattr(other, name) != getattr(config, name)
    ]


def missing_answers(engine: Engine, shown: Shown, gathering: Gathering, config: RunConfig, words: Words) -> None:
    """Offer to generate what is missing, and follow it; it is counted together with the runs that are shown."""
    say_fault(_AREA, words)
    if _follow(engine, words):
        return
    evaluation = evaluated(shown, config, config)
    unrecorded = np.flatnonzero(~evaluation.right_by.recorded[:, 0])
    if not len(unrecorded) or gathering.running or not may("editor"):
        return
    n = len(unrecorded)
    # An answer needs no verdicts beyond those of the top-k.
    wanted = replace(config, grade_probe=False)
    calls = n * engine.worst_case_calls(wanted)
    label = words.count("Generate the missing answer", "Generate {n} missing answers", n)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tune_missing"):
        if st.button(label, icon=":material/play_arrow:", disabled=not engine.ready, key="tune_missing_go"):
            ids = [evaluation.case_ids[place] for place in unrecorded]
            name = gathering.query_set.name
            run_action(_AREA, lambda: engine.batches.start(name, wanted, _AT_ONCE, ids), into=_BATCH)
            st.rerun()
        price = words("At most {calls} model calls.", calls=calls) if calls else words("Costs no model call.")
        st.caption(price, width="content")


def _follow(engine: Engine, words: Words) -> bool:
    """Draw the progress of what was started here; false where nothing is running."""
    batch_id = st.session_state.get(_BATCH)
    if not batch_id:
        return False
    try:
        running = engine.batches.progress(batch_id).running
    except UnknownBatch:
        running = False
    if not running:
        del st.session_state[_BATCH]
        return False

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        progress = engine.batches.progress(batch_id)
        if not progress.running:
            st.rerun()
        if batch_status(progress, words, key=_AREA, may_stop=may("editor")):
            engine.batches.stop(batch_id)

    watch()
    return True


def view(
    found: Certificates, pick: int | None, changed: Sequence[str], current: int | None, words: Words, *, key: str
) -> bool:
    """Draw the card; true when the reader wants to try the certified setting.

    ``pick`` is the place of the certified setting to take, ``changed`` what differs in it from the settings under
    test, ``current`` the place of those under test, None where they are not among the settings tried.
    """
    if pick is None:
        head = node("strong", "heading", words("No guarantee yet"))
        none = words("None of {tried} settings is shown to keep it.", tried=len(found.p))
        parts = [head, node("p", "", none), *_missing(found, current, words), *_learnt(found, words)]
        draw((node("section", "card", *parts),), words, key=key)
        return False
    head = node("div", "head", node("strong", "heading", promise_text(found, words)), chip("pass", words("certified")))
    count = words(
        "{n} of {tried} settings are certified; this one gives the most answers. It holds for questions like these.",
        n=int(found.certified.sum()),
        tried=len(found.p),
    )
    parts = [
        head,
        node("p", "query", " · ".join(changed) or words("Settings under test")),
        node("p", "", f"{_seen(found, pick, words)} {p_text(found.p[pick])}"),
        node("p", "muted", count),
    ]
    if current is not None and current != pick and not found.certified[current]:
        parts += _missing(found, current, words)
    parts += _learnt(found, words)
    if changed:
        parts.append(node("div", "actions", button(words("Try"), "try", "button primary")))
    return draw((node("section", "card", *parts),), words, key=key) == "try"


def _learnt(found: Certificates, words: Words) -> list[Node]:
    """Say how many questions are in no trial because they taught the grader."""
    if not found.learnt:
        return []
    said = words.count(
        "1 question taught this grader and does not count here.",
        "{n} questions taught this grader and do not count here.",
        found.learnt,
    )
    return [node("p", "muted", words.joined([said, words("Fit it to half of the questions, or add others.")]))]


def standings_map(
    found: Certificates, heat: HeatMap, current: RunConfig, words: Words, *, key: str
) -> dict[str, AxisValue] | None:
    """One cell a setting, by what can be said of it: never the colours of a measure, which say nothing of a bound."""
    cells = cells_of(heat, current, words, lambda place, _: face_of(found, place, words))
    looks = {cell["look"] for cell in cells}
    legend = [(look, sign, words(text)) for look, (text, sign) in _STANDINGS.items() if look in looks]
    return draw_map(heat, cells, legend, words, key=key, title=words(RISKS[found.risk]))


def face_of(found: Certificates, place: int, words: Words) -> Face:
    """What can be said of a setting, and what that rests on."""
    standing = found.standing(place)
    text, sign = _STANDINGS[standing]
    return Face(standing, sign, f"{words(text)} · {_seen(found, place, words)}")


def predicted_card(found: Predicted | None, judge: str, words: Words, *, key: str) -> None:
    """Draw what judgements drawn at random and the verdicts of a model say together; nothing where they are too few."""
    if found is None:
        return
    head = node("div", "head", node("strong", "heading", words("Estimated with the help of a model")))
    said = words(
        "About {value} of the {n} answers are wrong ({low} – {high}, at {confidence} confidence).",
        value=_share(found.value),
        n=found.n,
        low=_share(found.low),
        high=_share(found.high),
        confidence=percent(found.confidence),
    )
    of = words(
        "From {judged} labels drawn at random and {verdicts} verdicts of {judge}; the labels alone say {low} – {high}. "
        "An estimate, no guarantee.",
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
        return [node("p", "muted", words("The sliders stand between the settings tried."))]
    said = [words("{name}: {text}", name=words("Settings under test"), text=_seen(found, place, words))]
    if unrecorded := int(found.unrecorded[place]):
        missing = words.count(
            "1 answer is not recorded under them, or was not checked.",
            "{n} answers are not recorded under them, or were not checked.",
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
        said.append(words("Alone they would pass, but a stricter setting did not."))
    return [node("p", "muted", words.joined(said))]
