"""A run as one HTML file that needs nothing else: no script, no reference, no word of anybody read as markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from html import escape

from components.ask.attachments import attached_nodes
from components.ask.diagnosis import next_text, title, why_text
from components.ask.origin import note_texts, origin_text
from components.ask.rewrites import rewrite_why, word_diff
from components.common.i18n import Words
from components.common.inline import script
from components.common.judged import known_nodes
from components.common.markup import Node, chip, figure, node
from components.common.outcomes import REASONS, branch_text, reason_text, round_text
from components.common.phrases import begun, duration_text, fault_text, inequality_text, node_text
from components.common.report_context import context_nodes, marker_nodes
from components.common.run_settings import setting_label, setting_text
from components.common.workflow_view import view_of
from components.labels import MESSAGE_ROLES
from components.picture.export import darkened, workflow_svg
from components.runs.figures import figures_of
from components.runs.lanes import outcome_chip
from components.runs.report_charts import ReportMap, map_legend, map_svg, timeline_legend, timeline_svg
from components.runs.report_passages import anchors, report_answer, report_passages
from components.sentences.calls import calls_text, reason_calls, reason_calls_text
from components.sentences.decisions import NO_DECISION, UNDECIDED, followed_text
from components.sentences.steps import passed_text
from engine.evaluation.values import RunAnswer
from engine.flow import workflow
from engine.flow.graph import WorkflowGraph
from engine.messages import N_
from engine.model.config import ROLES, RunConfig
from engine.model.values import COMPLETE, Decision, Fault, ModelCall, Rewrite, RunRecord
from engine.replay.diagnosis import Diagnosis

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_LONGEST_TITLE = 120
_KEPT = frozenset(
    (
        "class",
        "title",
        "role",
        "start",
        "scope",
        "colspan",
        "open",
        "aria-hidden",
        "aria-label",
        "data-fill",
        "data-tick",
    )
)
_TAGS = frozenset(
    "main header footer section h1 h2 h3 h4 p div span strong em small i a ol ul li table "
    "thead tbody tr th td details summary pre code ins del mark bdi svg g title rect line path text".split()
)
_ATTRIBUTES = frozenset(
    "class id lang dir title role start scope colspan open href tabindex aria-hidden aria-label "
    "data-fill data-tick viewBox width height x y x1 x2 y1 y2 rx text-anchor".split()
)
_FRAGMENT = re.compile(r"#[a-z][a-z0-9-]*")
_SHARE = re.compile(r"\d{1,3}(?:\.\d{1,3})?%")
_SHARES = {"data-fill": "--fill", "data-tick": "--tick"}
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
"""Controls that a file cannot hold or that reorder the text around them."""


def report_html(
    record: RunRecord,
    graph: WorkflowGraph,
    words: Words,
    drawn_map: ReportMap | None = None,
    *,
    known: RunAnswer | None = None,
    found: Diagnosis | None = None,
) -> str:
    """The whole document: how the run ended and why, its path, answer and verdicts, then all else, folded.

    A run that failed or was cut off is shown as far as it came. ``known`` is what is known of its answer beyond the run
    itself, ``found`` its diagnosis.
    """
    places = anchors(record)
    own = _own_sections(record, words)
    judged, others = report_passages(record, words, places)
    sections = [
        html_of(_head(record, words)),
        *([_section(words("Why this outcome"), *_diagnosis(found, words))] if found is not None else []),
        _section(words("Path"), *_path(record, words)),
        _section(words("Answer"), *_faults(record, words), *report_answer(record, words, places)),
        *_known_section(known, words),
        _section(words("Verdicts"), *judged, count=len(judged)),
        _section(words("Other passages"), *others, count=len(others), folded=True) if others else "",
        *own,
        _section(words("Figures"), _figures(record, words), folded=True),
        _section(words("Workflow"), _workflow(record, graph, words), folded=True),
    ]
    if record.rewrites:
        sections.append(_section(words("Rewrites"), *_rewrites(record, words), count=len(record.rewrites), folded=True))
    if (timeline := timeline_svg(record, words)) is not None:
        chart = node("div", "scroll", timeline)
        sections.append(_section(words("Timeline"), timeline_legend(record, words), chart, folded=True))
    if drawn_map is not None:
        axes = f"{drawn_map.x_label} × {drawn_map.y_label}"
        grid = node("div", "scroll", map_svg(drawn_map, words))
        note = node("p", "muted small", axes)
        sections.append(_section(words("What-if map"), note, map_legend(drawn_map, words), grid, folded=True))
    sections.append(_section(words("Settings"), *_settings(record, words), folded=True))
    sections.append(_section(calls_text(record, words), *_calls(record, words), folded=True))
    if reasons := reason_calls(record):
        listed = _calls(replace(record, model_calls=reasons), words)
        sections.append(_section(reason_calls_text(reasons, words), *listed, folded=True))
    sheets = ("report.css", "loops.css", "report_loop.css") if own else ("report.css",)
    return _document(record, words, script(*sheets), "\n".join(sections))


def _diagnosis(found: Diagnosis, words: Words) -> list[Node]:
    said = (node("strong", "", title(found, words)), node("p", "", why_text(found, words)))
    return [*said, *([node("p", "muted", text)] if (text := next_text(found, words)) else [])]


def _known_section(known: RunAnswer | None, words: Words) -> list[str]:
    nodes = known_nodes(known, words) if known is not None else []
    return [_section(words("How the answer was judged"), *nodes)] if nodes else []


def _own_sections(record: RunRecord, words: Words) -> list[str]:
    """Draw sections that only some workflows have, as on the page but without controls."""
    attached = attached_nodes(record.attachments, record.cell_citations, words) if record.attachments else []
    parts = (
        (words("Attached to the question"), attached),
        view_of(record.workflow).report(record, words),
        (words("Context"), context_nodes(record, words)),
        (words("Markers taken out"), marker_nodes(record, words)),
    )
    return [
        f'<details class="section wb loop">{html_of(node("summary", "", node("h2", "", title)))}'
        f"{''.join(html_of(still(item)) for item in drawn)}</details>"
        for title, drawn in parts
        if drawn
    ]


def _document(record: RunRecord, words: Words, style: str, body: str) -> str:
    heading = safe_text(f"{' '.join(record.question.split())[:_LONGEST_TITLE]} · {words('Self-corrective RAG run')}")
    return (
        f'<!doctype html>\n<html lang="{words.declared.html}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{heading}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n{html_of(_footer(record, words))}\n</body>\n</html>\n"
    )


def _section(title: str, *parts: Node | str, count: int | None = None, folded: bool = False) -> str:
    """One part of the page, opened on request where it is ``folded``; strings among ``parts`` are markup of our own."""
    number = () if count is None else (node("small", "muted num", str(count)),)
    heading = node("h2", "", title, " ", *number)
    inside = "".join(part if isinstance(part, str) else html_of(part) for part in parts)
    if folded:
        return f'<details class="section">{html_of(node("summary", "", heading))}{inside}</details>'
    return f"<section>{html_of(heading)}{inside}</section>"


def _head(record: RunRecord, words: Words) -> Node:
    facts = [words("Run {id}, started {started} UTC", id=record.id, started=record.started_at[:19].replace("T", " "))]
    if record.origin is not None:
        facts += [origin_text(record.origin, words), *note_texts(record, words)]
    if record.fork is not None:
        facts.append(branch_text(record.fork, words))
    return node(
        "header",
        "",
        node("h1", "", node("bdi", "", record.question)),
        node("p", "", outcome_chip(record, words)),
        *(node("p", "muted small", node("bdi", "", fact)) for fact in facts),
    )


def _figures(record: RunRecord, words: Words) -> Node:
    cards = (
        figure(item.label, item.value, item.note, look=item.look, note_look=f"num {item.note_look}")
        for item in figures_of(record, words)
    )
    return node("div", "figures", *cards)


def _workflow(record: RunRecord, graph: WorkflowGraph, words: Words) -> str:
    """Both looks of the picture; the style sheet shows the one that suits the reader's screen."""
    light = workflow_svg(graph, record, words)
    dark = f'<div class="scroll dark" aria-hidden="true">{darkened(light)}</div>'
    return f'<div class="scroll light">{light}</div>{dark}'


def _faults(record: RunRecord, words: Words) -> list[Node]:
    boxes = [_fault(record.error, "fault", record, words)] if record.error else []
    return [*boxes, *(_fault(item, "warn", record, words) for item in record.warnings)]


def _fault(fault: Fault, look: str, record: RunRecord, words: Words) -> Node:
    fact, remedy = fault_text(fault, words)
    where = f"{node_text(fault.node, record.workflow, words)} · {fault.code}" if fault.node else fault.code
    return node("div", f"box {look}", node("strong", "", fact), node("p", "", remedy), node("small", "muted", where))


def _path(record: RunRecord, words: Words) -> list[Node]:
    if not record.decisions and record.origin is not None:
        return [node("p", "muted", words(UNDECIDED))]
    if not record.decisions:
        decides = record.outcome not in COMPLETE or workflow(record.workflow).flow.decides
        return [node("p", "muted", words("The run broke off before its first decision." if decides else NO_DECISION))]
    steps = [_step(decision, record, words) for decision in record.decisions]
    if record.outcome is not None:
        steps.append(node("li", "end", node("span", "where", words("end")), outcome_chip(record, words)))
    return [node("ol", "path", *steps)]


def _step(decision: Decision, record: RunRecord, words: Words) -> Node:
    # The router of a query decides before anything is searched.
    opening = decision.node in workflow(record.workflow).flow.preparing
    counts = "" if opening else passed_text(decision, words)
    followed = followed_text(decision, record, words)
    look = "pass" if REASONS[decision.reason].tone == "pass" else "warn"
    return node(
        "li",
        look,
        node("span", "where num", round_text(decision.round, words)),
        node("strong", "num", inequality_text(decision, words)),
        " → ",
        chip(look, node_text(decision.route, record.workflow, words)),
        " ",
        node("span", "muted small", reason_text(decision.reason, words)),
        node("div", "muted small", node("bdi", "", " · ".join(part for part in (counts, followed) if part))),
    )


def _rewrites(record: RunRecord, words: Words) -> list[Node]:
    return [_rewrite(place, item, record, words) for place, item in enumerate(record.rewrites, 1)]


def _rewrite(place: int, rewrite: Rewrite, record: RunRecord, words: Words) -> Node:
    where = " → ".join(round_text(place, words) for place in (rewrite.round, rewrite.round + 1))
    marks = [chip("warn", words("repeated"))] if rewrite.repeated else []
    marks += [chip("fault", words("rewriter failed"))] if rewrite.failed else []
    kinds = {"same": "span", "added": "ins", "removed": "del"}
    changes = (node(kinds[item.kind], "", item.text) for item in word_diff(rewrite.query, rewrite.rewritten_query))
    head = (node("strong", "", begun(words("rewrite {n}", n=place))), " ", node("span", "muted small", where))
    parts = [node("div", "", *head, *marks), node("p", "diff", *changes)]
    parts.append(
        node("p", "", node("span", "muted small", words("New query"), " "), node("bdi", "", rewrite.rewritten_query))
    )
    parts.append(node("p", "muted", node("bdi", "", rewrite_why(rewrite, record, words))))
    if rewrite.refused:
        refused = (chip("grey", item) for item in rewrite.refused)
        parts.append(node("p", "", node("span", "muted small", words("Refused, tried before"), " "), *refused))
    return node("div", "card", *parts)


def _settings(record: RunRecord, words: Words) -> list[Node]:
    values = [(name, value) for name, value in _values(record.config) if value != ""]
    rows = [(setting_label(name, words), setting_text(name, value, words)) for name, value in values]
    manifest = [(name, value) for name, value in record.manifest.items() if value]
    return [
        _table(rows),
        node("h3", "", words("Made with")),
        _table(manifest) if manifest else node("p", "muted", "–"),
    ]


def _values(config: RunConfig) -> list[tuple[str, object]]:
    """Every setting with its value, the models of the roles that this workflow has among them."""
    found: list[tuple[str, object]] = [
        (item.name, getattr(config, item.name)) for item in fields(config) if item.name not in ("models", "options")
    ]
    found.extend((item.name, getattr(config.options, item.name)) for item in fields(config.options))
    for role in workflow(config.workflow).roles_asked(config):
        model = config.models.of(role)
        found.append((f"models.{role}", model.name))
        if not model.built_in:
            found.extend((f"models.{role}.{name}", getattr(model, name)) for name in ("temperature", "seed", "num_ctx"))
    return found


def _table(rows: Sequence[tuple[str, str]]) -> Node:
    return node(
        "table",
        "pairs",
        node(
            "tbody",
            "",
            *(node("tr", "", node("th", "", name, scope="row"), node("td", "", value)) for name, value in rows),
        ),
    )


def _calls(record: RunRecord, words: Words) -> list[Node]:
    if not record.model_calls:
        none = N_("No call was made.") if record.origin is None else N_("The trace tells of no call.")
        return [node("p", "muted", words(none))]
    return [_call(place, call, record, words) for place, call in enumerate(record.model_calls, 1)]


def _call(place: int, call: ModelCall, record: RunRecord, words: Words) -> Node:
    model = words("built-in") if call.built_in else call.model
    name = node_text(call.node, record.workflow, words)
    facts = [round_text(call.round, words), name, duration_text(call.duration_ms)]
    facts += [words("from cache")] if call.cached else []
    facts += [words("attempt {n}", n=call.attempt)] if call.attempt > 1 else []
    marks = [chip("fault", f"✗ {call.error}")] if call.error else []
    head = (
        node("span", "rank num", str(place)),
        node("strong", "", words(ROLES[call.role]), " · ", node("bdi", "", model)),
    )
    summary = node("summary", "", *head, node("span", "muted small", " · ".join(facts)), *marks)
    parts = [(words(MESSAGE_ROLES[item.role]), item.content) for item in call.messages]
    if not call.messages:
        parts.append((words("built-in"), ""))
    if call.thinking:
        parts.append((words("Thinking"), call.thinking))
    parts.append((words("Raw reply"), call.reply or words("(empty)")))
    read = "–" if call.parsed is None else json.dumps(dict(call.parsed), ensure_ascii=False, default=str)
    parts.append((words("Read as"), read))
    said = [
        node("div", "", node("h4", "", title), *((node("pre", "", text),) if text else ())) for title, text in parts
    ]
    return node("details", "call", summary, *said)


def _footer(record: RunRecord, words: Words) -> Node:
    version = record.manifest.get("workbench", "")
    return node(
        "footer",
        "",
        words("Made with Self-Corrective RAG Workbench {version}", version=version).strip(),
    )


def still(drawn: Node) -> Node:
    """The same without buttons and what only a script could use."""
    kids = tuple(still(kid) if isinstance(kid, Node) else kid for kid in drawn.kids)
    attrs = {name: value for name, value in drawn.attrs.items() if name in _KEPT}
    if drawn.tag == "button":
        return Node("span", {**attrs, "role": "note"}, kids)
    return Node("div" if drawn.tag == "section" else drawn.tag, attrs, kids)


def html_of(item: Node | str) -> str:
    """The tree as text; raises ``ValueError`` for a tag or attribute outside the lists, or a link that leaves the file.

    Control characters and those that change the direction of writing are shown by their code: ``⟨U+202E⟩``.
    """
    if isinstance(item, str):
        return safe_text(item)
    if item.tag not in _TAGS:
        raise ValueError(f"no such element in a report: {item.tag}")
    inside = "".join(html_of(kid) for kid in item.kids)
    return f"<{item.tag}{''.join(_attributes(item))}>{inside}</{item.tag}>"


def safe_text(text: str) -> str:
    """Foreign text for an element or a quoted attribute: escaped, and without anything that cannot be seen."""
    return escape(
        _UNSEEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text.replace("\r\n", "\n").replace("\r", "\n"))
    )


def _attributes(item: Node) -> Iterable[str]:
    style = []
    for name, value in item.attrs.items():
        if name not in _ATTRIBUTES:
            raise ValueError(f"no such attribute in a report: {name}")
        if name == "href" and not _FRAGMENT.fullmatch(value):
            raise ValueError("a report links to nothing outside it")
        if name in _SHARES:
            if not _SHARE.fullmatch(value):
                raise ValueError(f"{name} is a share in per cent")
            style.append(f"{_SHARES[name]}:{value}")
        else:
            yield f' {name}="{safe_text(value)}"'
    if style:
        yield f' style="{";".join(style)}"'
