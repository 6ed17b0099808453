"""The path of a run as a tree of elements: a row an attempt, with the steps taken and the inequalities between them."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.common.markup import Node, fold, node
from components.common.outcomes import REASONS, round_text, run_badge
from components.common.phrases import inequality_text, node_text
from components.labels import STRATEGY_NAMES
from components.path.facts import because, kept_of, short_fact
from components.path.rows import Row, Stop, again, rows_of
from components.picture.drawing import ICONS
from components.picture.picture import STOPPED, Tone
from components.sentences.decisions import followed_text
from components.sentences.rounds import first_round
from engine.flow import workflow
from engine.messages import NC_
from engine.model.decide import open_parts
from engine.model.values import Round, RunRecord

PRESS = "node:"
"""What the press of a box begins with; the node's name follows."""
_SHOWN = 4
_AROUND = 2
"""Rows that stay at the top and at the end where those between them are folded."""


def path_of(record: RunRecord, words: Words, *, pressed: bool = True) -> tuple[Node, ...]:
    """Draw the rows, those beyond four folded between the first and the last; ``pressed``: the boxes are buttons."""
    rows = rows_of(record)
    drawn = [_row(row, rows[place + 1 : place + 2], record, words, pressed) for place, row in enumerate(rows)]
    if len(drawn) > _SHOWN:
        between = drawn[_AROUND:-_AROUND]
        more = words.count("1 more round", "{n} more rounds", len(between))
        drawn[_AROUND:-_AROUND] = [node("li", "more", fold("path", more, node("ol", "rows", *between)))]
    return tuple(drawn)


def row_name(row: Row, record: RunRecord, words: Words) -> str:
    """What happened at its start: ``as asked``, ``rewrite 1``, the search that was tried next, or ``answer 2``."""
    if not row.number:
        return first_round(record, words)
    first = row.stops[0]
    nodes = workflow(record.workflow).flow.nodes
    match nodes[first.node].kind if first.node in nodes else "":
        case "rewrite":
            return round_text(row.number, words)
        case "answer":
            return words("answer {n}", n=row.number)
    strategies = [item.strategy for item in first.seen.rounds if item.strategy]
    return words(STRATEGY_NAMES[strategies[-1]]) if strategies else node_text(first.node, record.workflow, words)


def _row(row: Row, following: Sequence[Row], record: RunRecord, words: Words, pressed: bool) -> Node:
    name = row_name(row, record, words)
    legs: list[Node] = []
    heard = []
    for place, stop in enumerate(row.stops):
        last = place + 1 == len(row.stops)
        box, said = _box(stop, record, words, pressed)
        on = "" if last and not (following or record.outcome) else node("span", "to", "→", aria_hidden="true")
        if stop.decision is not None:
            said = words(
                "{step}; {why} → {target}",
                step=said,
                why=inequality_text(stop.decision, words),
                target=node_text(stop.decision.route, record.workflow, words),
            )
            on = _why(stop, bool(last and following), words, record)
        # A step and the edge that leaves it are never parted by the end of a line.
        legs.append(node("span", "leg", box, on))
        heard.append(said)
    if not following and record.outcome is not None:
        tone, text = run_badge(record, words)
        legs.append(node("span", f"end chip {tone}", text))
        heard.append(text)
    parts = _asked(row, record, words)
    heard += [item.text for item in parts]
    sentence = words("{row}: {steps}.", row=name, steps=words("; ").join(heard))
    return node(
        "li",
        "row",
        node("span", "sr", sentence),
        node("span", "name", name, aria_hidden="true"),
        node("div", "steps", *legs),
        *([node("div", "parts", *parts, aria_hidden="true")] if parts else ()),
    )


def _asked(row: Row, record: RunRecord, words: Words) -> list[Node]:
    """The query in another language, and what the question asks one by one, covered or open after a row's round."""
    graded = next((stop.seen.rounds[-1] for stop in row.stops if stop.grades and stop.decision), None)
    if graded is None:
        return []
    translated = graded.translation.query if graded.translation else ""
    still_open = open_parts(record.rounds[: graded.index + 1], record.config)
    return [
        *([node("span", "part", words("searched too: {query}", query=translated))] if translated else ()),
        *_parts(graded, still_open, words),
    ]


def _parts(graded: Round, still_open: Sequence[str], words: Words) -> list[Node]:
    """What the question asks, in words under the first round and by number under those after it."""
    found = []
    for n, part in enumerate(graded.parts, 1):
        covered = part not in still_open
        said = words("✓ part {n} covered", n=n) if covered else words("○ part {n} open", n=n)
        if not graded.index:
            said = words("{name}: {text}", name=said, text=part)
        found.append(node("span", "part covered" if covered else "part open", said))
    return found


def _box(stop: Stop, record: RunRecord, words: Words, pressed: bool) -> tuple[Node, str]:
    """The box of a visit, and what is read aloud of it."""
    tone = _tone(stop, record)
    title = node_text(stop.node, record.workflow, words)
    fact = short_fact(stop, tone, words)
    spoken = words(NC_("picture", ", ")).join(part for part in (title, fact.spoken) if part)
    inside = (
        node("span", "sign", ICONS[tone], aria_hidden="true"),
        node("strong", "", title),
        node("span", "fact num", *fact.shown) if fact.shown else "",
    )
    marks = {
        "data_round": str(stop.round),
        "data_verdicts": _verdicts(stop, record) if stop.grades else "",
        "data_answer": "1" if stop.last_answer else "",
    }
    if not pressed:
        return node("span", f"visit {tone}", *inside, title=spoken), spoken
    action = {"data_action": f"{PRESS}{stop.node}", "aria_label": spoken, "title": spoken}
    return node("button", f"visit {tone}", *inside, **action, **marks), spoken


def _verdicts(stop: Stop, record: RunRecord) -> str:
    """The verdicts in their order, a letter each: passed, failed or unreadable."""
    current, least = stop.seen.rounds[-1], record.config.min_confidence
    verdicts = [current.verdicts[name] for name in kept_of(current) if name in current.verdicts]
    return "".join("p" if item.passes(least) else "u" if item.relevant is None else "f" for item in verdicts)


def _why(stop: Stop, turns: bool, words: Words, record: RunRecord) -> Node:
    """The taken edge with its inequality; one that ``turns`` leads down to the next row."""
    decision = stop.decision
    assert decision is not None
    mark = REASONS.get(decision.reason)
    full = f"{inequality_text(decision, words)} → {node_text(decision.route, record.workflow, words)}"
    full = "\n".join(part for part in (full, followed_text(decision, record, words)) if part)
    look = "rewrite" if again(decision.reason) else mark.tone if mark else "grey"
    text = node("span", "why num", because(decision, words), title=full)
    turn = node("span", "turn") if turns else ""
    return node("span", f"way {look}{' turns' if turns else ''}", text, turn, aria_hidden="true")


def _tone(stop: Stop, record: RunRecord) -> Tone:
    visit, nodes = stop.visit, workflow(record.workflow).flow.nodes
    if visit is None:
        return "passed"
    if visit.error == STOPPED:
        return "stopped"
    if visit.error:
        return "fault"
    if visit.duration_ms is None:
        return "active" if not record.outcome else "fault" if record.outcome == "failed" else "stopped"
    return "rewrite" if stop.node in nodes and nodes[stop.node].kind == "rewrite" else "passed"
