"""What a recorded run looks like, as plain values: the Python twin of ``assets/live_run_picture.js``, for exports.

A test draws the same records with both and compares, so that a saved picture never tells another story than the page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from engine.values import Comparison
from engine.wording import operands
from engine.workflows.graph import END, START, Edge, WorkflowGraph

STOPPED = "CancelledError"
"""What a visit that was stopped has for an error: somebody's wish, and no fault."""
Tone = Literal["plain", "active", "passed", "rewrite", "forced", "fault", "stopped"]
Plain = Mapping[str, Any]
Words = Mapping[str, str]
Lines = tuple[tuple[str, ...], ...]
"""Lines of facts; each is a list of wordings, longest first, of which a drawing takes the first that fits."""

_ENDED = frozenset({"answered", "answered_forced", "answered_unverified", "abstained", "fallback"})
_FORCED = frozenset(
    {"deadline", "max_rewrites", "repeated_rewrite", "no_passages", "rewriter_failed", "grader_unavailable"}
)
_RELATIONS = MappingProxyType({"<": "<", ">=": "≥", "==": "="})
_KINDS = MappingProxyType(
    {
        "retrieve": "retrieve",
        "retrieve_documents": "retrieve",
        "grade": "grade",
        "grade_documents": "grade",
        "rewrite": "rewrite",
        "rewrite_query": "rewrite",
        "generate": "generate",
        "generate_answer": "generate",
        "generate_response": "generate",
    }
)
_LONGEST_QUERY = 60


@dataclass(frozen=True, slots=True)
class NodeView:
    title: str
    tone: Tone
    visits: int
    lines: Lines
    progress: float | None
    """Share of the passages judged while the grader works, in [0, 1]."""
    spoken: str


@dataclass(frozen=True, slots=True)
class EdgeView:
    taken: int
    tone: Tone
    live: bool
    chips: tuple[str, ...]
    """The newest inequality, in wordings from long to short."""
    detail: str
    """Every decision that chose the edge, a line each."""


@dataclass(frozen=True, slots=True)
class PictureView:
    nodes: Mapping[str, NodeView]
    edges: Mapping[tuple[str, str], EdgeView]
    status: str


def picture_of(graph: WorkflowGraph, record: Plain | None, words: Words) -> PictureView:
    """The view of a record as ``RunRecord.to_dict()`` writes it; None shows the workflow at rest."""
    ways = travelled(graph.edges, record)
    tones = {name: _tone_of(name, record, ways) for name in graph.nodes}
    return PictureView(
        nodes={name: _node_view(name, tones[name], record, words) for name in graph.nodes},
        edges={(edge.source, edge.target): _edge_view(edge, tones, record, ways, words) for edge in graph.edges},
        status=_status(record, words),
    )


def travelled(edges: Sequence[Edge], record: Plain | None) -> dict[tuple[str, str], int]:
    """How often each edge was taken; a choice is taken from the newest visit before, a plain edge from all since."""
    taken: dict[tuple[str, str], int] = {}
    if record is None:
        return taken
    visits = [str(item["node"]) for item in record["nodes"]]
    last = record["decisions"][-1]["route"] if record["decisions"] else ""
    if record["outcome"] in _ENDED or (record["outcome"] and last == "end"):
        visits.append(END)
    for place, target in enumerate(visits):
        previous = _last(visits[:place], target)
        into = []
        for edge in edges:
            at = _last(visits[:place], edge.source)
            open_way = previous < 0 if edge.source == START else at >= 0 and at >= previous
            if edge.target == target and open_way:
                into.append((edge, at))
        newest = max((at for _, at in into), default=-1)
        for edge, at in into:
            if not edge.conditional or at == newest:
                key = (edge.source, edge.target)
                taken[key] = taken.get(key, 0) + 1
    return taken


def _last(items: Sequence[str], wanted: str) -> int:
    return max((place for place, item in enumerate(items) if item == wanted), default=-1)


def _executions(name: str, record: Plain | None) -> list[Plain]:
    return [item for item in record["nodes"] if item["node"] == name] if record else []


def _tone_of(name: str, record: Plain | None, ways: Mapping[tuple[str, str], int]) -> Tone:
    visits = _executions(name, record)
    if not visits or record is None:
        return "plain"
    newest = visits[-1]
    if newest.get("error") == STOPPED:
        return "stopped"
    if newest.get("error") or (record["error"] or {}).get("node") == name:
        return "fault"
    if newest["duration_ms"] is None:
        return "active" if not record["outcome"] else "fault" if record["outcome"] == "failed" else "stopped"
    own = [item for item in record["decisions"] if item["node"] == name]
    if own and own[-1]["reason"] == "grader_failed":
        return "fault"
    if _KINDS.get(name) == "rewrite":
        return "rewrite"
    entries = [item for item in record["decisions"] if item["route"] == name]
    if entries and ways.get((entries[-1]["node"], name)):
        return _tone_of_reason(entries[-1]["reason"])
    return "passed"


def _tone_of_reason(reason: str) -> Tone:
    if reason == "passed":
        return "passed"
    return "fault" if reason == "grader_failed" else "forced" if reason in _FORCED else "rewrite"


def _node_view(name: str, tone: Tone, record: Plain | None, words: Words) -> NodeView:
    visits = len(_executions(name, record))
    kind = _KINDS.get(name, "")
    state = say(words, f"state_{tone}")
    if record is None or not visits:
        facts: Lines = tuple((words[key],) for key in (f"role_{name}", f"rest_{name}") if words.get(key))
    else:
        facts = _FACTS.get(kind, _plain_facts)(name, record, words, tone)
    lines = ((state,), *facts[:1]) if tone in ("fault", "stopped") else facts
    title = title_of(name, words)
    heard = [title, say(words, "visits", n=visits) if visits > 1 else "", state, *(line[0] for line in facts)]
    progress = None
    if record is not None and tone == "active" and kind == "grade":
        done, total, _ = _grading(record)
        progress = done / total if total else 0.0
    return NodeView(title, tone, visits, lines, progress, words["comma"].join(part for part in heard if part))


def _edge_view(
    edge: Edge, tones: Mapping[str, Tone], record: Plain | None, ways: Mapping[tuple[str, str], int], words: Words
) -> EdgeView:
    route = "end" if edge.target == END else edge.target
    decisions = record["decisions"] if record else []
    choices = [item for item in decisions if item["node"] == edge.source and item["route"] == route]
    taken = max(ways.get((edge.source, edge.target), 0), len(choices))
    source = tones.get(edge.source, "passed")
    tone: Tone = source if source in ("rewrite", "forced", "fault") else "passed"
    if choices:
        tone = _tone_of_reason(choices[-1]["reason"])
    return EdgeView(
        taken=taken,
        tone=tone if taken else "plain",
        live=bool(taken) and tones.get(edge.target) == "active",
        chips=_chips(choices[-1], len(choices), words) if choices else (),
        detail="\n".join(decision_line(choice, words) for choice in choices),
    )


def _chips(decision: Plain, count: int, words: Words) -> tuple[str, ...]:
    short = [_comparison(item, words, "short_") for item in decision["comparisons"]]
    times = f" ×{count}" if count > 1 else ""
    every = words["joint"].join(short)
    return (f"{every} → {route_of(decision['route'], words)}{times}", f"{every}{times}", f"{short[0]}{times}")


def decision_line(decision: Plain, words: Words) -> str:
    """E.g. ``Round 0: pass rate 0.40 < 0.60 and rewrites 0 < 3 → rewrite``."""
    target = route_of(decision["route"], words)
    return say(words, "decision", round=decision["round"], why=inequality_of(decision, words), target=target)


def inequality_of(decision: Plain, words: Words) -> str:
    """The comparisons of a decision with their quantities named."""
    return words["joint"].join(_comparison(item, words, "quantity_") for item in decision["comparisons"])


def _comparison(item: Plain, words: Words, prefix: str) -> str:
    plain = Comparison(item["quantity"], item["value"], item["relation"], item["bound"])
    left, right = operands(plain)
    name = words.get(prefix + plain.quantity, plain.quantity)
    return f"{name} {left} {_RELATIONS[plain.relation]} {right}".strip()


def _retrieve_facts(name: str, record: Plain, words: Words, tone: Tone) -> Lines:
    searched = [item for item in record["rounds"] if item["searched"]]
    spent = _time_of(name, record, words)
    if not searched:
        return _lines([say(words, "searching")], [spent])
    candidates = searched[-1]["candidates"]
    kept = sum(item["gate"] == "kept" for item in candidates)
    return _lines([say(words, "probed", n=len(candidates)), say(words, "kept", n=kept)], [spent])


def _grade_facts(name: str, record: Plain, words: Words, tone: Tone) -> Lines:
    rates = [f"{item['passed']}/{item['kept']}" for item in record["decisions"] if item["node"] == name]
    reused = sum(len(item["reused"]) for item in record["rounds"])
    saved = say(words, "reused", n=reused) if reused else ""
    if tone == "active":
        done, total, passed = _grading(record)
        now = [say(words, "judged", n=done, total=total), say(words, "ticks", yes=passed, no=done - passed)]
        # Its own decision may be made already, a moment before the node ends.
        own = [item for item in record["decisions"] if item["node"] == name]
        former = [f"{item['passed']}/{item['kept']}" for item in own if item["round"] < len(record["rounds"]) - 1]
        return _lines(now, [say(words, "before", rates=former[-1]) if former else "", saved])
    ended = _lines([_time_of(name, record, words), saved])
    if tone in ("fault", "stopped"):
        done, total, _ = _grading(record)
        return (*_lines([say(words, "judged", n=done, total=total), _time_of(name, record, words)]), *ended)
    passed_line = _passed_line(rates, words)
    return (passed_line, *ended) if passed_line else ended


def _passed_line(rates: Sequence[str], words: Words) -> tuple[str, ...]:
    if not rates:
        return ()
    if len(rates) == 1:
        return (say(words, "passed_once", a=rates[0]),)
    ends = {"a": rates[0], "b": rates[-1], "all": ", ".join(rates[:-1])}
    return (
        say(words, "passed_twice" if len(rates) == 2 else "passed_often", **ends),
        say(words, "passed_span", **ends),
    )


def _rewrite_facts(name: str, record: Plain, words: Words, tone: Tone) -> Lines:
    spent = _time_of(name, record, words)
    if not record["rewrites"]:
        return _lines([say(words, "rephrasing")], [spent])
    newest = record["rewrites"][-1]
    before, after = _cut(newest["query"]), _cut(newest["rewritten_query"])
    return ((f"{before} → {after}", f"→ {after}"), *_lines([_gain_of(newest, record, words), spent]))


def _gain_of(rewrite: Plain, record: Plain, words: Words) -> str:
    if rewrite["failed"]:
        return say(words, "rewriter_failed")
    if rewrite["repeated"]:
        return say(words, "repeated")
    rates: dict[int, float] = {}
    for item in record["decisions"]:
        rates.setdefault(item["round"], item["passed"] / item["kept"] if item["kept"] else 0.0)
    if not {rewrite["round"], rewrite["round"] + 1} <= rates.keys():
        return ""
    gain = rates[rewrite["round"] + 1] - rates[rewrite["round"]]
    sign = "+" if gain > 0 else "−" if gain < 0 else "±"
    return say(words, "helped" if gain > 0 else "no_help", gain=f"{sign}{abs(gain):.2f}")


def _generate_facts(name: str, record: Plain, words: Words, tone: Tone) -> Lines:
    tokens = sum(item["reply_tokens"] or 0 for item in record["model_calls"] if item["role"] == "generator")
    context, cited = record["context"], len(record["citations"])
    if record["outcome"] == "abstained":
        first = [say(words, "abstained_fact")]
    else:
        given = say(words, "given", n=len(context["passages"])) if context else say(words, "writing")
        first = [given, say(words, "cited", n=cited) if cited else ""]
    return _lines(first, [_time_of(name, record, words), say(words, "tokens", n=tokens) if tokens else ""])


def _plain_facts(name: str, record: Plain, words: Words, tone: Tone) -> Lines:
    calls = sum(item.get("model_calls") or 0 for item in _executions(name, record))
    return _lines([_time_of(name, record, words), say(words, "calls", n=calls) if calls else ""])


_FACTS: Mapping[str, Callable[[str, Plain, Words, Tone], Lines]] = MappingProxyType(
    {"retrieve": _retrieve_facts, "grade": _grade_facts, "rewrite": _rewrite_facts, "generate": _generate_facts}
)


def _lines(*rows: Sequence[str]) -> Lines:
    filled = [[part for part in row if part] for row in rows]
    return tuple(tuple(" · ".join(row[:end]) for end in range(len(row), 0, -1)) for row in filled if row)


def _grading(record: Plain) -> tuple[int, int, int]:
    """Verdicts so far, verdicts expected and passed ones of the newest round."""
    if not record["rounds"]:
        return 0, 0, 0
    newest, least = record["rounds"][-1], record["config"]["min_confidence"]
    verdicts = list(newest["verdicts"].values())
    kept = sum(item["gate"] == "kept" for item in newest["candidates"])
    return len(verdicts), max(kept, len(verdicts)), sum(_passes(item, least) for item in verdicts)


def _passes(verdict: Plain, least: float) -> bool:
    if verdict["relevant"] is None:
        return False
    confidence = float(verdict["confidence"])
    return round(confidence if verdict["relevant"] else 1 - confidence, 9) >= least


def _time_of(name: str, record: Plain, words: Words) -> str:
    known = [item["duration_ms"] for item in _executions(name, record) if item["duration_ms"] is not None]
    return duration_of(math.fsum(known), words) if known else ""


def duration_of(ms: float, words: Words) -> str:
    """Milliseconds or seconds with two or three figures."""
    if ms < 999.5:
        return say(words, "ms", n=f"{ms:.1f}" if ms < 10 else f"{ms:.0f}")
    return say(words, "s", n=f"{ms / 1000:.2f}" if ms < 10000 else f"{ms / 1000:.1f}")


def _status(record: Plain | None, words: Words) -> str:
    if record is None:
        return words["idle_hint"]
    if record["outcome"]:
        rewrites = len(record["rewrites"])
        parts = [
            say(words, f"outcome_{record['outcome']}"),
            say(words, "after_rewrites", n=rewrites) if rewrites else "",
        ]
        return " · ".join(part for part in [*parts, duration_of(record["duration_ms"], words)] if part)
    running = [item["node"] for item in record["nodes"] if item["duration_ms"] is None]
    if not running:
        return words["starting"]
    kind, title = _KINDS.get(running[-1], ""), title_of(running[-1], words)
    if kind == "grade":
        done, total, _ = _grading(record)
        return say(words, "doing_grade", title=title, n=done, total=total)
    return say(words, f"doing_{kind}" if kind else "doing", title=title)


def say(words: Words, key: str, **values: object) -> str:
    """A sentence of the table with its places filled; ``key_one`` stands in where ``n`` is 1."""
    template = words.get(f"{key}_one") if values.get("n") == 1 else None
    template = template or words.get(key, key)
    for name, value in values.items():
        template = template.replace("{" + name + "}", str(value))
    return template


def title_of(name: str, words: Words) -> str:
    return words.get(f"node_{name}") or _plain_name(name)


def route_of(route: str, words: Words) -> str:
    return words.get(f"route_{route}") or words.get(f"node_{route}") or _plain_name(route)


def _plain_name(name: str) -> str:
    return (name[:1].upper() + name[1:]).replace("_", " ")


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONGEST_QUERY else f"{text[: _LONGEST_QUERY - 1]}…"
