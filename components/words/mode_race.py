"""Words of the mode race: one question in every mode of graph + vector retrieval."""

from __future__ import annotations

from collections.abc import Mapping

MODE_RACE: Mapping[str, tuple[str, str]] = {
    "ask.sample.multi_hop": (
        "The answer joins two passages that only an entity ties together",
        "答案要把两个片段连起来，而两者只靠一个实体相连",
    ),
    "race.view": ("What is compared", "比较什么"),
    "race.view.workflows": ("Loops", "工作流"),
    "race.view.modes": ("Modes: graph and vectors", "模式：图谱与向量"),
    "race.title": ("One question, six modes of graph + vectors", "同一个问题，图谱＋向量的六种模式"),
    "race.intro": (
        "The same question goes through all six modes of graph + vector retrieval at once. What does the graph find "
        "that vectors alone do not, and what does it cost?",
        "同一个问题同时交给图谱＋向量检索的六种模式。图谱找到了哪些单靠向量找不到的内容？代价多大？",
    ),
    "race.ask": ("Question for all modes", "给各模式的同一个问题"),
    "race.pick": ("Modes", "模式"),
    "race.pick.none": ("Choose at least one mode.", "请至少选择一种模式。"),
    "race.run": ("Run the race", "开始竞赛"),
    "race.empty": (
        "Ask a question above: every chosen mode answers it at the same time. Questions that join two passages show "
        "best what a graph is good for.",
        "在上方提问：所选的每种模式会同时作答。需要把两个片段连起来的问题，最能看出图谱的用处。",
    ),
    "race.settings": (
        "Each mode runs with the defaults of graph + vectors, on {collection}, with the models chosen on the page "
        "Ask. Every run is kept as a record.",
        "每种模式使用图谱＋向量的默认设置，检索 {collection}，模型与“提问”页所选相同。每次运行都会存下记录。",
    ),
    "race.no_graph": (
        "{collection} has no knowledge graph: the modes that need one will say what they fell back on.",
        "{collection} 没有知识图谱：需要图谱的模式会说明改用了什么。",
    ),
    "race.no_graph.build": ("Build its graph", "去构建图谱"),
    "race.finding.cited": (
        "The graph led to {n} passages that vectors alone did not keep, and answers rest on {cited} of them.",
        "图谱带来了 {n} 个单靠向量没有留下的片段，其中 {cited} 个被回答引用。",
    ),
    "race.finding.cited.one": (
        "The graph led to 1 passage that vectors alone did not keep, and an answer cites it.",
        "图谱带来了 1 个单靠向量没有留下的片段，而且有回答引用了它。",
    ),
    "race.finding.found": (
        "The graph led to {n} passages that vectors alone did not keep, but no answer cites them.",
        "图谱带来了 {n} 个单靠向量没有留下的片段，但没有回答引用它们。",
    ),
    "race.finding.found.one": (
        "The graph led to 1 passage that vectors alone did not keep, but no answer cites it.",
        "图谱带来了 1 个单靠向量没有留下的片段，但没有回答引用它。",
    ),
    "race.unseen": (
        "Found by the graph alone, among the candidates of no vector search here: {n}.",
        "其中 {n} 个只有图谱找到：不在任何一次向量检索的候选之中。",
    ),
    "race.unseen.none": ("Vector searches had found all of them too.", "这些片段也都出现在向量检索的候选之中。"),
    "race.rescued": (
        "Vectors alone had found and dropped {n}: {why}.",
        "单靠向量找到但淘汰了 {n} 个：{why}。",
    ),
    "race.elsewhere": ("The vectors of another mode found {n}.", "其他模式里的向量找到 {n} 个。"),
    "race.dropped.below_threshold.n": ("{n} below the similarity threshold", "{n} 个低于相似度阈值"),
    "race.dropped.beyond_top_k.n": ("{n} beyond top-k", "{n} 个在 top-k 之外"),
    "race.dropped.otherwise.n": ("{n} at a later stage", "{n} 个在后续环节"),
    "race.dropped.below_threshold": ("vectors dropped it: {value} < {bound}", "向量淘汰：{value} < {bound}"),
    "race.dropped.beyond_top_k": ("vectors dropped it: rank {rank} > {top_k}", "向量淘汰：排名 {rank} > {top_k}"),
    "race.dropped.otherwise": ("vectors dropped it at a later stage", "向量在后续环节淘汰"),
    "race.finding.nothing": (
        "Vectors alone kept everything that the graph led to and any mode kept.",
        "图谱带来并保留的片段，单靠向量也都留下了。",
    ),
    "race.finding.unable": (
        "No mode could use a graph here, so this race says nothing about what one is worth. The columns say why.",
        "这里没有一种模式用上了图谱，所以看不出图谱的价值。原因见各栏。",
    ),
    "race.finding.no_baseline": (
        "Without the naive mode among them it cannot be told what only the graph found.",
        "没有选“朴素”模式，无从判断哪些内容只有图谱才找得到。",
    ),
    "race.finding.cut_short": (
        "Not every run came to its end, so they cannot be held against each other.",
        "有运行没有走完，无法相互比较。",
    ),
    "race.unable": ("Could not do their own work: {modes}.", "没能完成自己的检索：{modes}。"),
    "race.skipped": ("no search", "未检索"),
    "race.skipped.note": ("Grading and citations are skipped.", "跳过质检与引用。"),
    "race.time": ("time", "用时"),
    "race.calls": ("calls", "调用"),
    "race.searches": ("searches", "检索"),
    "race.kept": ("passages kept", "保留片段"),
    "race.passed": ("passed", "通过"),
    "race.best": ("best similarity", "最高相似度"),
    "race.cited": ("cited", "引用"),
    "race.entities": ("begun from", "起始实体"),
    "race.alone": ("{n} in no other mode", "其中 {n} 个为此模式独有"),
    "race.whole": ("Whole answer", "完整回答"),
    "race.passages": ("Passages by mode", "各模式保留的片段"),
    "race.counts": (
        "{n} in all · {shared} in every mode that searched · {graph} found by the graph alone · {rescued} found and "
        "dropped by vectors alone",
        "共 {n} 个 · 各检索模式共有 {shared} 个 · 仅图谱找到 {graph} 个 · 单靠向量找到但淘汰 {rescued} 个",
    ),
    "race.legend": (
        "# rank among those kept · ✓ passed the grader · ✗ did not · [1] cited in the answer",
        "# 名次 · ✓ 通过质检 · ✗ 未通过 · [1] 被回答引用",
    ),
    "race.rank": ("rank {rank}", "第 {rank} 名"),
    "race.only_graph": ("only the graph", "仅图谱找到"),
    "race.only_graph.help": (
        "Entities or communities led to it, and it is not among the candidates of any vector search of this race.",
        "由实体或社区引到这里，不在这次竞赛任何一次向量检索的候选之中。",
    ),
    "race.shared": ("in every mode", "各模式共有"),
    "race.only": ("only {mode}", "仅{mode}"),
    "race.not_kept": ("not kept", "未保留"),
    "race.did_pass": ("passed the grader", "通过质检"),
    "race.did_not_pass": ("did not pass the grader", "未通过质检"),
}
