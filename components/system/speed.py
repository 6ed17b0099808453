"""What was measured of chat models on this host: answers a second by how many are asked at once, the best marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.common.amounts import moment, span_text
from components.common.i18n import Words
from components.common.markup import Node, button, chip, figure, gauge, node
from components.common.spreadsheet import table_csv
from components.system.draw import draw_system, ended_box
from components.system.models import short_digest
from engine.host.values import Measuring, ModelSpeed, SpeedStep
from engine.messages import N_, NC_

_PHASE = {
    "warm_up": N_("loading the model"),
    "speed": N_("reading and writing"),
    "at_once": N_("{n} at once"),
}

_CSV = {
    "model": N_("model"),
    "digest": N_("digest"),
    "measured_at": N_("measured at"),
    "at_once": N_("at once"),
    "calls": NC_("system", "calls"),
    "failed": N_("failed"),
    "wall_s": N_("seconds"),
    "per_second": N_("answers per second"),
    "best": N_("best"),
    "warm_up_s": N_("warm-up, s"),
    "reads": N_("reads, tokens/s"),
    "writes": N_("writes, tokens/s"),
}

_USED = {
    "measured": N_("Used: {n} at once, the smallest number within 10 % of the quickest."),
    "set": N_("Used: {n} at once, because WORKBENCH_GRADER_CONCURRENCY says so. Remove it to use what was measured."),
    "stale": N_("Used: {n} at once. The model was pulled again since it was measured; measure it again."),
}

STOP = "stop"
"""The action of the button that stops a measurement."""
_NO_GAIN = 1.1


def measuring_card(measuring: Measuring, words: Words, *, key: str) -> str | None:
    """Draw how far a measurement is, or what ended it before its time; returns :data:`STOP` where that was pressed."""
    head = node("div", "head", node("strong", "", node("bdi", "", measuring.model)))
    if measuring.state == "running":
        phase = words(_PHASE[measuring.phase], n=measuring.at_once)
        share = measuring.done / measuring.total if measuring.total else 0.0
        said = words(
            "{done} of at most {total} calls · {time}",
            done=measuring.done,
            total=measuring.total or "…",
            time=span_text(measuring.elapsed_s),
        )
        head = node("div", "head", *head.kids, chip("accent", phase))
        bar = gauge(share, phase, moving=not measuring.total or measuring.phase == "warm_up")
        stop = node("div", "actions", button(words("Stop"), STOP))
        card = node("section", "card task running", head, bar, node("div", "small num muted", said), stop)
        return draw_system((card,), words, key=key)
    stopped = words("The measurement was stopped; what was measured before stands.")
    return draw_system((ended_box(measuring.fault, stopped, words, head),), words, key=key)


def speed_cards(speeds: Sequence[ModelSpeed], used: Mapping[str, tuple[int, str]], words: Words, *, key: str) -> None:
    """Draw a card for each measured model.

    ``used`` says by model how many are graded at once and why: ``measured``, ``set`` or ``stale``.
    """
    draw_system([_card(speed, used.get(speed.model), words) for speed in speeds], words, key=key)


def speeds_csv(speeds: Sequence[ModelSpeed], words: Words) -> bytes:
    """One row for each model and number at once."""
    rows = (
        (
            *(speed.model, speed.digest, speed.measured_at),
            *(str(step.at_once), str(step.calls), str(step.failed), f"{step.wall_s:.3f}", f"{step.per_second:.4f}"),
            *("✓" if step.at_once == speed.best_at_once else "", f"{speed.warm_up_s:.3f}"),
            *("" if rate is None else f"{rate:.2f}" for rate in (speed.prompt_tokens_per_s, speed.tokens_per_s)),
        )
        for speed in speeds
        for step in speed.steps
    )
    return table_csv([words(text) for text in _CSV.values()], rows)


def rate_text(value: float) -> str:
    """With two or three figures: ``0.42``, ``3.8``, ``41``."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def _card(speed: ModelSpeed, used: tuple[int, str] | None, words: Words) -> Node:
    when = moment(speed.measured_at)
    head = node(
        "div",
        "head",
        node("strong", "", node("bdi", "", speed.model)),
        node("span", "grow"),
        node(
            "span",
            "muted small num",
            words("measured {time} UTC · {digest}", time=when, digest=short_digest(speed.digest)),
        ),
    )
    parts = [head, node("div", "figures", *_figures(speed, words))]
    most = max((step.per_second for step in speed.steps), default=0.0)
    rates = [_rate(step, speed.best_at_once, most, words) for step in speed.steps]
    parts.append(node("div", "rates", *rates, role="list", aria_label=words("Answers per second")))
    if used is not None:
        parts.append(node("p", "small", words(_USED[used[1]], n=used[0])))
    return node("section", "card speed", *parts, aria_label=speed.model)


def _figures(speed: ModelSpeed, words: Words) -> list[Node]:
    rates = {step.at_once: step.per_second for step in speed.steps}
    best, alone = rates.get(speed.best_at_once, 0.0), rates.get(1, 0.0)
    gain = best / alone if alone else 0.0
    gained = (
        words("{gain} × of one at a time", gain=rate_text(gain))
        if gain >= _NO_GAIN
        else words("no faster than one at a time")
    )
    return [
        figure(words("Best at once"), str(speed.best_at_once), gained, look="accent"),
        figure(words("Answers per second"), rate_text(best), words("at {n} at once", n=speed.best_at_once)),
        figure(words("Writes"), _tokens(speed.tokens_per_s, words)),
        figure(words("Reads"), _tokens(speed.prompt_tokens_per_s, words)),
        figure(words("Warm-up"), span_text(speed.warm_up_s), words("until the first word of a cold model")),
    ]


def _tokens(rate: float | None, words: Words) -> str:
    return words("not said") if rate is None else words("{n} tokens/s", n=rate_text(rate))


def _rate(step: SpeedStep, best: int, most: float, words: Words) -> Node:
    here = step.at_once == best
    share = f"{100 * step.per_second / most:.1f}%" if most else "0%"
    said: list[Node | str] = [words("{n}/s", n=rate_text(step.per_second))]
    if here:
        said += [" ", chip("accent", words("best"))]
    if step.failed:
        said += [" ", chip("fault", words("{n} failed", n=step.failed))]
    return node(
        "div",
        "rate best" if here else "rate",
        node("span", "num", words(NC_("system", "{n} at once"), n=step.at_once)),
        node("span", "rail", node("i", "", data_fill=share), aria_hidden="true"),
        node("span", "said num", *said),
        role="listitem",
    )
