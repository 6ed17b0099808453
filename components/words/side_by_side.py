"""Words of the page Side by side, and the short names of the workflows."""

from __future__ import annotations

SIDE_BY_SIDE = {
    "side.title": ("One question, several workflows", "同一个问题，几种工作流"),
    "side.intro": (
        "The same question goes through several workflows at once. When is the four-node loop enough, and what does "
        "another one add for its price?",
        "同一个问题同时交给几种工作流：四节点循环什么时候就够了？别的循环多花的代价换来了什么？",
    ),
    "side.pick": ("Workflows", "工作流"),
    "side.pick.none": ("Choose at least one workflow.", "请至少选择一种工作流。"),
    "side.settings": (
        "Each workflow runs with its own defaults and with the models chosen on the page Ask.",
        "每种工作流使用各自的默认设置，模型与“提问”页所选相同。",
    ),
    "side.run": ("Run all", "全部运行"),
    "side.stop": ("Stop all", "全部停止"),
    "side.again": ("Ask again", "再问一次"),
    "side.empty": (
        "Ask a question above: every chosen workflow answers it at the same time, and the columns fill as they go on.",
        "在上方提问：所选的每种工作流会同时作答，各栏随运行逐步填满。",
    ),
    "side.missing": ("A run of this link no longer exists.", "此链接中的一个运行已不存在。"),
    "side.same_time": (
        "The runs shared this machine, so each may have taken longer than it would alone.",
        "这些运行同时占用本机，各自耗时可能比单独运行长。",
    ),
    "side.open": ("Open on Ask", "在“提问”页打开"),
    "side.searched": ("Searched: {collection}", "检索的集合：{collection}"),
    "side.answer": ("Answer", "回答"),
    "side.no_answer": ("no answer", "没有回答"),
    "side.path": ("Path", "路径"),
    "side.path.more": ("{n} steps", "{n} 步"),
    "side.time": ("time", "用时"),
    "side.calls": ("calls", "调用"),
    "side.calls.built_in": ("{n} built in", "{n} 次内置"),
    "side.searches": ("searches", "检索"),
    "side.rewrites": ("rewrites", "重写"),
    "side.answers": ("answers", "回答数"),
    "side.cited": ("cited", "引用"),
    "side.slower": ("{times}× the four-node loop", "四节点循环的 {times} 倍"),
    "side.extra": ("{n} more calls", "多 {n} 次调用"),
    "side.fewer": ("{n} fewer calls", "少 {n} 次调用"),
    "side.sources": ("Passages that answers rest on", "各回答所依据的片段"),
    "side.sources.none": ("No answer cites a passage.", "没有回答引用片段。"),
    "side.passage": ("Passage", "片段"),
    "side.marker": ("cited as [{n}]", "引用为 [{n}]"),
    "side.not_cited": ("not cited", "未引用"),
    "side.running": ("at {node}", "正在：{node}"),
    "side.waiting": ("about to begin", "即将开始"),
    "side.enough.enough": (
        "The four-node loop was enough: no other loop cites a passage that its answer lacks.",
        "四节点循环已经够用：没有别的循环引用它所缺的片段。",
    ),
    "side.enough.others_cite_more": (
        "The four-node loop answered; {workflows} also cites passages that it lacks. See below whether they add to it.",
        "四节点循环已作答；{workflows}还引用了它所缺的片段，下方可看这些片段是否有用。",
    ),
    "side.enough.others_answered": (
        "The four-node loop did not answer; {workflows} did.",
        "四节点循环没有作答，{workflows}作答了。",
    ),
    "side.enough.only_it": ("Only the four-node loop answered.", "只有四节点循环作答。"),
    "side.enough.nobody": (
        "No loop answered: the collection {collection} may not hold it.",
        "没有一种循环作答：集合“{collection}”里可能没有相关内容。",
    ),
    "side.enough.cut_short": (
        "No loop answered, but not every run came to its end.",
        "没有一种循环作答，但也有运行没有走完。",
    ),
    "side.enough.no_baseline": (
        "Without the four-node loop among them there is nothing to hold these runs against.",
        "没有选四节点循环，无从比较是否够用。",
    ),
    "side.enough.alone": ("Choose further workflows to compare with.", "再选几种工作流来比较。"),
    "side.ask": ("Question for all of them", "给它们的同一个问题"),
    "workflow.self_corrective": ("Four-node loop", "四节点循环"),
    "workflow.quality_loop": ("Quality control", "质量控制"),
    "workflow.dual_loop": ("Dual loop", "双循环"),
    "workflow.answer_evaluation": ("Answer evaluation", "回答评估"),
    "workflow.graph_hybrid": ("Graph + vectors", "图谱＋向量"),
}
