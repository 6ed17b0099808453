"""Words of graph + vector retrieval in a report and in a comparison."""

from __future__ import annotations

from collections.abc import Mapping

REPORT_GRAPH: Mapping[str, tuple[str, str]] = {
    "report.graph": ("Analysis and graph", "查询分析与图谱"),
    "report.graph.simple": ("a simple query", "简单的查询"),
    "report.graph.single": ("a query about one thing", "只问一件事"),
    "report.graph.multi_hop": ("a query of several steps", "要分几步才能回答"),
    "report.graph.overview": ("a query about a whole", "问的是整体"),
    "report.graph.analysis": ("Analysis: {what} · suggested mode: {mode}", "查询分析：{what} · 建议的模式：{mode}"),
    "report.graph.round": ("Round {n} · mode {mode}", "第 {n} 轮 · 模式“{mode}”"),
    "report.graph.nothing": ("Nothing was taken from the graph.", "没有用到图谱中的内容。"),
    "report.graph.type": ("Type", "类型"),
    "report.graph.how": ("How it was come to", "如何找到"),
    "report.graph.score": ("Score", "得分"),
    "report.graph.similarity": ("Similarity", "相似度"),
    "report.context": ("Context", "上下文"),
    "report.context.spent": ("{n} of {most} tokens", "{n} / {most} 个词元"),
    "report.context.part": ("Part", "组成"),
    "report.context.graph": ("Graph", "图谱"),
    "report.context.table": ("Table T{n}", "表格 T{n}"),
    "report.context.tokens": ("Tokens", "词元"),
    "report.context.given": ("given", "已给出"),
    "report.context.cut": ("left out, the budget was spent", "预算用完，没有给出"),
    "report.context.refined": ("cut to {kept} of {n} sentences", "{n} 句中保留 {kept} 句"),
    "report.markers": ("Markers taken out", "去掉的引用"),
    "report.markers.dangling": ("[{marker}] points nowhere", "[{marker}] 没有对应的来源"),
    "report.markers.unsupported": (
        "[{marker}] does not bear this out (support {support})",
        "[{marker}] 不支持这句话（支持度 {support}）",
    ),
    "compare.found_by": ("found by {lists}", "由{lists}找到"),
    "compare.context.graph": (
        "Entities given: {shared} in both · {gained} only in B · {lost} only in A",
        "给出的实体：共同 {shared} · 只在 B {gained} · 只在 A {lost}",
    ),
}
