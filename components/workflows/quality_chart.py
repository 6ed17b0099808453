"""The quality-control loop round by round: where was searched, what the four dimensions add, what was wrong."""

from __future__ import annotations

from components.ask.rewrites import ISSUE_NAMES
from components.common.i18n import Words
from components.common.markup import Node, chip, filled, node
from components.common.outcomes import round_text
from components.common.phrases import begun, moved_text, probability_text
from components.labels import GRADE_NAMES, SOURCE_KIND_NAMES
from components.workflows.scores import grade_look, score_text
from engine.messages import N_
from engine.model.values import (
    SOURCE_KINDS,
    Comparison,
    QualityCheck,
    QualityDimension,
    QualityDimensionName,
    QualityIssue,
    QualityIssueCode,
    Round,
    Routing,
    RunRecord,
    operands,
)
from engine.model.wording import change_of
from engine.workflows.quality_loop.options import QualityOptions, quality_options
from engine.workflows.quality_loop.policy import FULL_COUNT

_COLUMN = {
    "round": N_("Round"),
    "query": N_("Query"),
    "score": N_("Weighted score"),
    "top3": N_("Best three"),
    "change": N_("Change"),
    "dimension": N_("Dimension"),
    "value": N_("Value"),
    "weight": N_("Weight"),
    "adds": N_("Adds"),
    "issue": N_("Issue"),
}

_ROUTING_WHY = {
    "plain": N_("Usual shares: it asks for no kind of source in particular."),
    "relations": N_("It asks how things relate: more from entities."),
    "history": N_("It asks about the own history: half from the study log."),
    "asked": N_("It asks for certain sources."),
}

_DIMENSION = {
    "coverage": N_("Study log"),
    "relevance": N_("Relevance"),
    "diversity": N_("Kinds of sources"),
    "count": N_("Number of passages"),
}

_ISSUE_OF: dict[QualityDimensionName, QualityIssueCode] = {
    "coverage": "low_coverage",
    "relevance": "low_relevance",
    "diversity": "single_source",
    "count": "too_few",
}
_COUNTED = ("single_source", "too_few")
_WHOLE: dict[QualityDimensionName, int] = {"diversity": len(SOURCE_KINDS), "count": FULL_COUNT}
_CLOSE = 0.08
"""Cut-offs nearer to each other than this share one label, or the two would overlap."""
_COLUMNS = ("dimension", "value", "weight", "adds", "issue")


def quality_nodes(record: RunRecord, words: Words) -> list[Node]:
    """The rounds compared, where there are several, then one card a round."""
    options = quality_options(record.config)
    compared = [_compared(record, options, words)] if len(record.rounds) > 1 else []
    return [*compared, *(_round_card(item, options, words) for item in record.rounds)]


def _compared(record: RunRecord, options: QualityOptions, words: Words) -> Node:
    names = ("round", "query", "score", "top3", "change")
    head = node("tr", "", *(node("th", "", words(_COLUMN[name]), scope="col") for name in names))
    rows = []
    former: QualityCheck | None = None
    for item in record.rounds:
        check = item.quality
        cells: list[tuple[str, list[Node | str]]] = [
            ("round", [node("strong", "num", round_text(item.index, words))]),
            ("query", [item.query]),
            ("score", _small_bar(check.score, check.grade, options, words) if check else ["–"]),
            ("top3", _small_bar(check.top3, check.top3_grade, options, words) if check else ["–"]),
            ("change", [_change(former, check)]),
        ]
        drawn = (
            node("td", "num" if name != "query" else "", *kids, data_label=words(_COLUMN[name])) for name, kids in cells
        )
        rows.append(node("tr", "", *drawn))
        former = check or former
    table = node("table", "flips rounds", node("thead", "", head), node("tbody", "", *rows))
    return node("section", "card", node("strong", "heading", words("Rounds")), table)


def _small_bar(score: float, grade: str, options: QualityOptions, words: Words) -> list[Node | str]:
    named = f"{score_text(score, options)} {words(GRADE_NAMES[grade])}"
    return [node("div", "mini", _rail((node("i", "seg", data_fill=filled(score)),), options), node("span", "", named))]


def _change(former: QualityCheck | None, check: QualityCheck | None) -> Node | str:
    """By how much the score that routes rose or fell against the round before."""
    if former is None or check is None:
        return ""
    change = change_of(former.routing_score, check.routing_score)
    return chip(("grey", "pass", "warn")[change.direction], moved_text(change))


def _round_card(current: Round, options: QualityOptions, words: Words) -> Node:
    check = current.quality
    head = [
        node("strong", "heading", begun(round_text(current.index, words))),
        node("span", "muted", current.query),
    ]
    parts = [_routing(current, current.routing, words)] if current.routing else []
    if check is None:
        parts.append(node("p", "muted", words("Not checked.")))
        return node("section", "card", node("div", "head", *head), *parts)
    grade = words(GRADE_NAMES[check.routing_grade])
    head.append(chip(grade_look(check.routing_grade), grade))
    parts += [_scores(check, options, words), _dimensions(check, words)]
    parts += [
        node("p", "note", "! ", words(ISSUE_NAMES["no_passages"]))
        for issue in check.issues
        if issue.code == "no_passages"
    ]
    return node("section", "card", node("div", "head", *head), *parts)


# -- where was searched ---------------------------------------------------------------------------------------------


def _routing(current: Round, routing: Routing, words: Words) -> Node:
    shares = (_kind(kind, share, current, words) for kind, share in routing.shares.items())
    absent = words(", ").join(words(SOURCE_KIND_NAMES[kind]) for kind in routing.missing)
    missing = [chip("warn", f"✗ {words('none here: {kinds}', kinds=absent)}")] if absent else []
    wide = [chip("accent", words("wider scope"))] if routing.wide else []
    said = words(_ROUTING_WHY[routing.code]) if routing.code in _ROUTING_WHY else routing.reason
    lines = [node("p", "muted small", said)] if said else []
    if routing.query != current.query:
        lines.append(node("p", "muted small", words("Searched as: {query}", query=routing.query)))
    title = node("span", "muted small", words("Searched in"))
    return node("div", "routing", node("div", "chips", title, *shares, *wide, *missing), *lines)


def _kind(kind: str, share: float, current: Round, words: Words) -> Node:
    found = [item for item in current.candidates if item.kind == kind]
    kept = sum(item.gate == "kept" for item in found)
    return node("span", "chip plain", node("strong", "", share_text(kind, share, words)), f" · {len(found)}→{kept}")


def share_text(kind: str, share: float, words: Words) -> str:
    """``knowledge base 60 %``."""
    return f"{words(SOURCE_KIND_NAMES[kind])} {words('{n} %', n=f'{share * 100:.0f}')}"


# -- both definitions of the grade ----------------------------------------------------------------------------------


def _scores(check: QualityCheck, options: QualityOptions, words: Words) -> Node:
    segments = tuple(
        node("i", f"seg {item.name}", data_fill=filled(item.value * item.weight)) for item in check.dimensions
    )
    limits = {"medium": probability_text(options.medium_score), "high": probability_text(options.high_score)}
    score, top3 = score_text(check.score, options), score_text(check.top3, options)
    cuts = words("Medium from {medium}, high from {high}.", **limits)
    weighted = _rail(segments, options, f"{words(_COLUMN['score'])} {score}. {cuts}")
    best = _rail((node("i", "seg", data_fill=filled(check.top3)),), options, f"{words(_COLUMN['top3'])} {top3}. {cuts}")
    return node(
        "div",
        "scores",
        *_score_row("score", score, check.grade, weighted, words, decides=check.graded_on == "weighted"),
        *_score_row("top3", top3, check.top3_grade, best, words, decides=check.graded_on == "top3"),
        node("span", ""),
        _scale(options),
        node("span", "muted small", cuts),
    )


def _score_row(name: str, score: str, grade: str, rail: Node, words: Words, *, decides: bool) -> tuple[Node, ...]:
    label = node("span", "what", words(_COLUMN[name]))
    mark = [chip("accent", words("decides"))] if decides else []
    said = node("strong", "num", score)
    return label, rail, node("span", "said", said, node("span", "muted", words(GRADE_NAMES[grade])), *mark)


def _rail(segments: tuple[Node, ...], options: QualityOptions, spoken: str = "") -> Node:
    ticks = (node("i", "tick", data_tick=filled(cut)) for cut in (options.medium_score, options.high_score))
    named = {"role": "img", "aria_label": spoken} if spoken else {"aria_hidden": "true"}
    return node("div", "rail", *segments, *ticks, **named)


def _scale(options: QualityOptions) -> Node:
    """The cut-offs below their ticks."""
    medium, high = options.medium_score, options.high_score
    if high - medium < _CLOSE:
        both = " · ".join(dict.fromkeys((probability_text(medium), probability_text(high))))
        labels = [node("span", "", both, data_tick=filled(medium))]
    else:
        labels = [node("span", "", probability_text(cut), data_tick=filled(cut)) for cut in (medium, high)]
    return node("div", "scale num", *labels, aria_hidden="true")


# -- the four dimensions --------------------------------------------------------------------------------------------


def _dimensions(check: QualityCheck, words: Words) -> Node:
    if not check.dimensions:
        return node("span", "")
    head = node("tr", "", *(node("th", "", words(_COLUMN[name]), scope="col") for name in _COLUMNS))
    issues = {issue.code: issue for issue in check.issues}
    rows = [_dimension(item, check, issues.get(_ISSUE_OF[item.name]), words) for item in check.dimensions]
    label = words("Adds")
    total = node(
        "tr",
        "sum",
        node("td", "", words("Weighted score"), colspan="3"),
        node("td", "num", node("strong", "", f"= {check.score:.3f}"), data_label=label),
        node("td", ""),
    )
    return node("table", "flips dimensions", node("thead", "", head), node("tbody", "", *rows, total))


def _dimension(item: QualityDimension, check: QualityCheck, issue: QualityIssue | None, words: Words) -> Node:
    swatch = node("i", f"swatch {item.name}", aria_hidden="true")
    means = "" if item.name == "relevance" else f"{_part(item, check)}/{_whole(item, check)}"
    cells: tuple[tuple[str, tuple[Node | str, ...]], ...] = (
        ("dimension", (swatch, words(_DIMENSION[item.name]))),
        ("value", (node("strong", "num", probability_text(item.value)), " ", node("small", "muted", means))),
        ("weight", (f"× {item.weight:.2f}",)),
        ("adds", (f"= {item.value * item.weight:.3f}",)),
        ("issue", _issue(issue, words)),
    )
    return node("tr", "", *(node("td", "", *kids, data_label=words(_COLUMN[name])) for name, kids in cells))


def _part(item: QualityDimension, check: QualityCheck) -> int:
    """Count the passages or kinds behind a share."""
    if item.name == "count":
        return check.passages
    return round(item.value * _whole(item, check))


def _whole(item: QualityDimension, check: QualityCheck) -> int:
    return _WHOLE.get(item.name, check.passages)


def _issue(issue: QualityIssue | None, words: Words) -> tuple[Node | str, ...]:
    if issue is None:
        return (node("span", "pass-ink", "✓"),)
    named = chip("warn", f"! {words(ISSUE_NAMES[issue.code])}")
    return (named, " ", node("span", "num", issue_inequality(issue)))


def issue_inequality(issue: QualityIssue) -> str:
    """``0.20 < 0.50``, or ``1 < 2`` where things are counted; empty where no bound holds."""
    if issue.code == "no_passages":
        return ""
    if issue.code in _COUNTED:
        return f"{issue.value:.0f} < {issue.bound:.0f}"
    left, right = operands(Comparison("pass_rate", issue.value, "<", issue.bound))
    return f"{left} < {right}"
