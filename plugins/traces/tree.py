"""The spans of one trace as a tree, however they came: in any order, twice, cut off, or in a circle."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from plugins.traces.spans import Span

_GRADING = re.compile(r"grad|relevan|filter|judge|evaluat_doc|check_doc", re.IGNORECASE)
_REWRITING = re.compile(r"rewrit|transform|reformulat|rephras|expand|hyde|query_gen|condense", re.IGNORECASE)
_GENERATING = re.compile(r"generat|answer|synthes|respon|final", re.IGNORECASE)
_SEARCHING = re.compile(r"retriev|search|fetch_doc|lookup", re.IGNORECASE)
_DECIDING = re.compile(r"decide|route|router|condition|should_|edge|branch", re.IGNORECASE)


class Tree:
    """Spans in the order of their beginning, and how they lie in each other."""

    def __init__(self, spans: Sequence[Span]) -> None:
        by_id: dict[str, Span] = {}
        for span in sorted(spans, key=lambda span: (span.start_ns, -span.end_ns, span.id, span.name)):
            # A span that came twice is taken as it was when it had lasted longest.
            if span.id not in by_id or span.end_ns > by_id[span.id].end_ns:
                by_id[span.id] = span
        self.by_id = by_id
        self.spans = sorted(by_id.values(), key=lambda span: (span.start_ns, -span.end_ns, span.id))
        self._break_circles()
        self.began_ns = min((span.start_ns for span in self.spans if span.start_ns), default=0)
        self._named: dict[str, str] = {}
        roots = [span for span in self.spans if span.parent not in self.by_id]
        self.root = max(roots, key=lambda span: (span.end_ns - span.start_ns, -span.start_ns))

    def _break_circles(self) -> None:
        ending: set[str] = set()
        for span in self.spans:
            seen, at = {span.id}, span.parent
            while at in self.by_id and at not in ending:
                if at in seen:
                    self.by_id[span.id], seen = replace(span, parent=""), {span.id}
                    break
                seen.add(at)
                at = self.by_id[at].parent
            ending |= seen
        self.spans = [self.by_id[span.id] for span in self.spans]

    def above(self, span: Span) -> list[Span]:
        """The spans that contain a span, the nearest first."""
        found, at = [], span.parent
        while at in self.by_id:
            found.append(self.by_id[at])
            at = self.by_id[at].parent
        return found

    def within(self, span: Span, outer: Span) -> bool:
        return any(item.id == outer.id for item in self.above(span))

    def ms(self, ns: int) -> float:
        """Milliseconds since the trace began."""
        return max(0.0, (ns - self.began_ns) / 1e6)

    @property
    def ended_ns(self) -> int:
        return max(span.end_ns for span in self.spans)

    def does(self, span: Span) -> str:
        """``search``, ``grade``, ``rewrite`` or ``generate``, by kind or the nearest name that says so; else empty."""
        if span.kind in ("RETRIEVER", "RERANKER"):
            return "search"
        if span.kind == "EVALUATOR":
            return "grade"
        if span.id == self.root.id:
            return _by_name(span)
        way = []
        while span.id not in self._named:
            way.append(span)
            if _by_name(span) or span.parent not in self.by_id or span.parent == self.root.id:
                self._named[span.id] = _by_name(span)
                break
            span = self.by_id[span.parent]
        # Kept for all on the way: in a deep trace each would go it once more.
        self._named |= dict.fromkeys((item.id for item in way), self._named[span.id])
        return self._named[span.id]

    def decides(self, span: Span) -> bool:
        return bool(_DECIDING.search(span.name)) and span.kind in ("CHAIN", "", "UNKNOWN", "TOOL", "AGENT")


def _by_name(span: Span) -> str:
    return next((name for name, pattern in _BY_NAME if pattern.search(span.name)), "")


_BY_NAME = (("grade", _GRADING), ("rewrite", _REWRITING), ("generate", _GENERATING), ("search", _SEARCHING))
