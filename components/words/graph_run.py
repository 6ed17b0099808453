"""Words of what a run of graph + vector retrieval did: analysis, lists and stages, notes of a mode, context, cells."""

from __future__ import annotations

GRAPH_RUN: dict[str, tuple[str, str]] = {
    # The presenter's sentences
    "presenter.asked.graph_hybrid": (
        "A question comes in. First it is analysed: what does it name, and how far must one look?",
        "来了一个问题。先做分析：它提到了什么，要找多远？",
    ),
    "presenter.graph.analysed": ("It is {kind}, and names {names}.", "这是{kind}，提到了{names}。"),
    "presenter.graph.analysed.unnamed": (
        "It is {kind}, and names nothing that the graph knows.",
        "这是{kind}，没有提到图谱里认识的东西。",
    ),
    "presenter.graph.analysed.failed": ("The analysis did not come about.", "分析没有完成。"),
    "presenter.graph.routed": ("It needs a search, in the mode “{mode}”.", "需要检索，模式是“{mode}”。"),
    "presenter.graph.routed.bypass": (
        "In this mode nothing is searched: on to the answer.",
        "这个模式不检索，直接作答。",
    ),
    "presenter.graph.routed.tables_only": (
        "The attached tables alone are to answer it: nothing is searched.",
        "只凭所附的表格作答，不检索。",
    ),
    "presenter.graph.routed.simple": (
        "It is simple enough to be answered without a search.",
        "问题很简单，无需检索即可回答。",
    ),
    "presenter.graph.searched": (
        "The search brings {total}, {graphs} of them found through the graph; {kept} go to the grader.",
        "检索找到 {total}，其中 {graphs} 个由图谱找到；{kept} 个交给质检员。",
    ),
    "presenter.graph.fell_back": (
        "{note} So vectors are searched instead. {sentence}",
        "{note}于是改用向量检索。{sentence}",
    ),
    "presenter.graph.ended.unsearched": (
        "The answer is there, without a search: nothing was graded and nothing is cited.",
        "回答写好了，没有检索：没有质检，也没有引用。",
    ),
    # Analysis
    "graph.complexity.simple": ("a simple query", "简单问题"),
    "graph.complexity.single": ("a question of one step", "单步问题"),
    "graph.complexity.multi_hop": ("a question of several steps", "多步问题"),
    "graph.complexity.overview": ("a question about the whole", "概览问题"),
    "graph.analysis": ("Analysis", "分析"),
    "graph.analysis.names": ("The query names {names}", "问题提到 {names}"),
    "graph.analysis.unnamed": ("The query names no entity of the graph", "问题没有提到图谱中的实体"),
    "graph.analysis.suggests": ("suggests mode {mode}", "建议模式：{mode}"),
    "graph.analysis.by": ("by {by}", "由{by}分析"),
    "graph.mode": ("Mode {mode}", "模式：{mode}"),
    "graph.skipped": (
        "Nothing was searched, so grading and citations are skipped.",
        "没有检索，因此跳过了质检和引用。",
    ),
    # Lists and stages
    "list.vector": ("vectors", "向量"),
    "list.local": ("neighbourhood", "邻域"),
    "list.global": ("communities", "社区"),
    "list.attachment": ("attachment", "附件"),
    "list.place": ("{list} #{rank}", "{list} #{rank}"),
    "stage.fused": ("fused #{place}", "融合 #{place}"),
    "stage.ranked": ("ranked #{place}", "排序 #{place}"),
    "stage.reranked": ("reranked #{place}", "重排 #{place}"),
    "step.below_graph": ("dropped: graph score", "图谱得分淘汰"),
    "step.below_rerank": ("dropped: rerank score", "重排得分淘汰"),
    "passages.found_in": ("Found by", "来自"),
    "passages.via": ("Via", "途经"),
    "passages.moves": ("Order", "名次"),
    "passages.graph_score": ("graph {value}", "图谱 {value}"),
    "passages.rerank_score": ("rerank {value}", "重排 {value}"),
    "passages.duplicate": ("nearly repeats {place}", "与 {place} 几乎重复"),
    "passages.dated": ("dated {date}, newness {value}", "日期 {date}，新旧 {value}"),
    "passages.state_below_graph": ("dropped: graph score", "图谱得分淘汰"),
    "passages.state_below_rerank": ("dropped: rerank score", "重排得分淘汰"),
    "passages.filter_list": ("Found by", "来自"),
    "passages.all_lists": ("any list", "任何来路"),
    "passages.only_graph": ("only the graph", "仅图谱"),
    "passages.cut_sentences": ("greyed: left out before the answer was written", "灰色部分：作答前已略去"),
    "drop.graph": (
        "graph score {value} < {bound}, missed by {missed}",
        "图谱得分 {value} < {bound}，差 {missed}",
    ),
    "drop.rerank": (
        "rerank score {value} < {bound}, missed by {missed}",
        "重排得分 {value} < {bound}，差 {missed}",
    ),
    # What a mode could not do
    "mode.note.no_graph": (
        "This collection has no knowledge graph, which the search needs ({list}).",
        "这个集合没有知识图谱，而检索{list}需要它。",
    ),
    "mode.note.no_entity": (
        "The query names no entity of the graph, so there is no neighbourhood to search.",
        "问题没有提到图谱中的实体，没有邻域可查。",
    ),
    "mode.note.no_passages": (
        "What the graph led to has no passages here ({list}).",
        "图谱指向的内容在这里没有片段（{list}）。",
    ),
    "mode.note.no_communities": (
        "The graph has no communities, so there are no summaries to search.",
        "图谱没有社区，没有摘要可查。",
    ),
    "mode.note.graph_unfinished": (
        "The graph is still being built: what it gave may be incomplete ({list}).",
        "图谱还在构建：{list}可能不全。",
    ),
    "mode.note.graph_stale": (
        "The collection has changed since its graph was built: what it gave may be out of date ({list}).",
        "图谱建成后集合有变动：{list}可能已过时。",
    ),
    "mode.note.graph_unreachable": (
        "The graph could not be reached, or not read in time: {list} was left out. The next question may find it.",
        "图谱连不上，或没能及时读出：未检索{list}。图谱较大时，下次提问即可就绪。",
    ),
    "mode.fell_back": (
        "Mode {mode} could not do its own work: {lists} searched instead.",
        "“{mode}”模式没能做它自己的事：改用{lists}检索。",
    ),
    "mode.chain": (
        "The graph led to {n} passages that the built-in grader, judging each by itself, did not pass. A chat model as "
        "grader reads such chains further.",
        "图谱引出了 {n} 个片段，内置质检员逐条单独判断，没有放行。换用对话模型做质检员，更能读懂这样的线索。",
    ),
    "mode.chain.one": (
        "The graph led to a passage that the built-in grader, judging it by itself, did not pass. A chat model as "
        "grader reads such chains further.",
        "图谱引出了 1 个片段，内置质检员单独判断，没有放行。换用对话模型做质检员，更能读懂这样的线索。",
    ),
    "mode.build": ("Build a graph", "构建图谱"),
    # Context
    "context.title": ("Context of the answer", "回答的上下文"),
    "context.used": ("{n} of {most} tokens", "{n}/{most} 词元"),
    "context.graph": ("graph {n}", "图谱 {n}"),
    "context.table": ("table {number}: {n}", "表 {number}：{n}"),
    "context.passage": ("[{marker}] {n}", "[{marker}] {n}"),
    "context.cut": ("{n} left out, {tokens} tokens", "略去 {n} 项，{tokens} 词元"),
    "context.cut.one": ("1 left out, {tokens} tokens", "略去 1 项，{tokens} 词元"),
    "context.table.name": ("table {number}", "表 {number}"),
    "context.graph.name": ("part of the graph, which may take a quarter", "部分图谱（最多占四分之一）"),
    "context.refined": (
        "{n} passages cut to what bears on the question: {share} of their text left out.",
        "{n} 个片段已精简到与问题相关的句子：略去其中 {share} 的文字。",
    ),
    "context.refined.one": (
        "1 passage cut to what bears on the question: {share} of its text left out.",
        "1 个片段已精简到与问题相关的句子：略去其中 {share} 的文字。",
    ),
    "graph.open_in_run": ("Open in the table of passages", "在片段表中打开"),
    "graph.rounds": ("Round", "轮次"),
    "context.free": ("free {n}", "空余 {n}"),
    # Answer
    "answer.unsupported": (
        "{n} markers taken out, because the passage does not bear the sentence out: {markers}",
        "有 {n} 个引用标记因片段不能支持该句而去掉：{markers}",
    ),
    "answer.unsupported.one": (
        "1 marker taken out, because the passage does not bear the sentence out: {markers}",
        "有 1 个引用标记因片段不能支持该句而去掉：{markers}",
    ),
    "answer.cell": ("Table {table}, cell {cell}: {value}", "表 {table} 单元格 {cell}：{value}"),
    "answer.cell.place": ("{table} · {row} · {column}", "{table} · {row} · {column}"),
    "answer.unsearched": (
        "Answered without a search: grading and citations were skipped.",
        "未经检索作答：跳过了质检和引用。",
    ),
    "answer.from_tables": (
        "No passage passed: the answer is based on the tables of the question alone.",
        "没有片段通过：回答只依据问题所附的表格。",
    ),
    "badge.unsearched": ("without a search", "未检索"),
    "badge.tables": ("from the tables of the question", "依据问题所附表格"),
    "tab.loop.graph_hybrid": ("Graph", "图谱"),
    "graph.none_taken": (
        "This run took nothing from a graph.",
        "这次运行没有用到图谱。",
    ),
    "graph.entities": ("Entities", "实体"),
    "graph.relationships": ("Relationships", "关系"),
    "graph.communities": ("Communities", "社区"),
    "graph.round": ("Round {n}", "第 {n} 轮"),
    "graph.linked.name": ("named in the query", "问题点名"),
    "graph.linked.alias": ("by another name", "别名"),
    "graph.linked.passage": ("through a passage found", "由片段引出"),
    "graph.linked.neighbour": ("{n} hops away", "相距 {n} 跳"),
    "graph.linked.neighbour.one": ("1 hop away", "相距 1 跳"),
}
