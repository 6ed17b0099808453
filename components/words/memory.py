"""Words of the page Memory: the ledger, what was recalled of it, deleting and switching off."""

from __future__ import annotations

from collections.abc import Mapping

MEMORY: Mapping[str, tuple[str, str]] = {
    "memory.title": ("Long-term memory", "长期记忆"),
    "memory.intro": (
        "The dual loop keeps every answer that passed its last check, and recalls it when a question comes again. "
        "Answers that failed are kept apart and never recalled.",
        "双循环会记下每个通过最终检查的回答，同样的问题再来时会想起它。没有通过的回答另外存放，永远不会被当作事实想起。",
    ),
    # Figures
    "memory.figure.passed": ("Remembered", "已记住"),
    "memory.figure.passed.note": ("answers that passed", "通过检查的回答"),
    "memory.figure.failed": ("Kept apart", "另存的失败"),
    "memory.figure.failed.note": ("never recalled", "永不想起"),
    "memory.figure.recalled": ("Recalled", "想起过"),
    "memory.figure.recalled.note": ("of the newest {n} runs", "最近 {n} 次运行中"),
    "memory.figure.recalled.note.one": ("of the newest run", "最近 1 次运行中"),
    "memory.figure.recalled.none": ("no run of the dual loop yet", "还没有双循环的运行"),
    "memory.figure.changed": ("Changed the route", "改变了路线"),
    "memory.figure.changed.note": ("runs that went another way for it", "因记忆而走了另一条路"),
    # Empty states
    "memory.empty": (
        "Nothing is remembered yet. Choose *Dual loop* as the workflow on the page Ask and ask a question: "
        "an answer that passes its last check is listed here.",
        "还没有任何记忆。在“提问”页把工作流选为“双循环”并提一个问题，通过最终检查的回答就会列在这里。",
    ),
    "memory.empty.go": ("Ask a question", "去提问"),
    "memory.no_match": ("No memory matches.", "没有符合条件的记忆。"),
    "memory.clear": ("Clear the filters", "清除筛选"),
    # Filters and actions
    "memory.search": ("Search", "搜索"),
    "memory.search.hint": ("Question, answer, source or collection", "问题、回答、来源或集合"),
    "memory.kind": ("Show", "显示"),
    "memory.kind.all": ("All", "全部"),
    "memory.kind.passed": ("Passed", "通过的"),
    "memory.kind.failed": ("Failed", "失败的"),
    "memory.count": ("{n} memories", "{n} 条记忆"),
    "memory.count.one": ("1 memory", "1 条记忆"),
    "memory.export": ("Export CSV", "导出 CSV"),
    "memory.export.help": ("All memories that are shown, with their full answers.", "当前列出的全部记忆，含完整回答。"),
    "memory.delete_all": ("Delete all", "全部删除"),
    "memory.again": ("Look again", "刷新"),
    # Tabs
    "memory.tab.ledger": ("Memories {n}", "记忆 {n}"),
    "memory.tab.recalls": ("Recalled lately {n}", "最近想起 {n}"),
    # One memory
    "memory.passed": ("✓ passed", "✓ 通过"),
    "memory.passed.tip": ("May be recalled.", "可以被想起。"),
    "memory.failed": ("✗ failed", "✗ 未通过"),
    "memory.failed.tip": (
        "Kept apart as a failure, and never recalled as a fact.",
        "作为失败另外存放，永远不会被当作事实想起。",
    ),
    "memory.collection": ("collection", "集合"),
    "memory.kept_at": ("kept {when} UTC", "记于 {when}（UTC）"),
    "memory.run": ("run {run}", "运行 {run}"),
    "memory.run.open": ("Open this run in a new tab", "在新标签页打开这次运行"),
    "memory.recalled": ("recalled by {n} recent runs", "最近 {n} 次运行想起过"),
    "memory.recalled.one": ("recalled by 1 recent run", "最近 1 次运行想起过"),
    "memory.whole": ("Whole answer", "完整回答"),
    "memory.sources": ("cites {names}", "引用 {names}"),
    "memory.claim_by": ("put into these words by {model}", "由 {model} 概括"),
    "memory.delete": ("Delete", "删除"),
    "memory.delete.this": ("Delete this memory", "删除这条记忆"),
    "memory.no_answer": ("(no text)", "（没有文字）"),
    # Deleting
    "memory.delete.title": ("Delete memories", "删除记忆"),
    "memory.delete.confirm": ("Delete all {n} memories for good?", "要永久删除全部 {n} 条记忆吗？"),
    "memory.delete.confirm.one": ("Delete this memory for good?", "要永久删除这条记忆吗？"),
    "memory.delete.runs_stay": (
        "The runs that they came from keep their records.",
        "它们所来自的运行记录不受影响。",
    ),
    "memory.delete.hidden": (
        "{n} of them are hidden by the filters now.",
        "其中有 {n} 条因为筛选没有显示。",
    ),
    "memory.delete.hidden.one": (
        "One of them is hidden by the filters now.",
        "其中有 1 条因为筛选没有显示。",
    ),
    "memory.delete.yes": ("Delete", "删除"),
    "memory.delete.no": ("Keep", "保留"),
    "memory.deleted": ("{n} memories were deleted.", "已删除 {n} 条记忆。"),
    "memory.deleted.one": ("The memory was deleted.", "已删除这条记忆。"),
    # The switch
    "memory.switch_off": ("Switch memory off", "关闭记忆"),
    "memory.switch_off.help": (
        "Sets *Long-term memory* in the panel of the dual loop to off: your next questions neither recall anything nor "
        "leave anything behind. What is stored stays until you delete it.",
        "把双循环设置面板里的“长期记忆”关掉：之后的提问既不想起、也不留下任何记忆。已存的内容在你删除之前都会保留。",
    ),
    "memory.switch_on": ("Switch memory on", "打开记忆"),
    "memory.switch_on.help": (
        "Sets *Long-term memory* in the panel of the dual loop to on again.",
        "把双循环设置面板里的“长期记忆”重新打开。",
    ),
    "memory.is_off": (
        "*Long-term memory* is off in the panel of the dual loop: your next questions recall nothing and leave nothing "
        "here. What is listed below stays.",
        "双循环设置面板里的“长期记忆”已关闭：之后的提问不会想起、也不会留下任何记忆。下面列出的内容仍然保留。",
    ),
    # What was recalled
    "memory.recalls.intro": (
        "The newest runs of the dual loop: what each recalled, and whether that changed the way it went.",
        "双循环最近的运行：各自想起了什么，以及这是否改变了它走的路线。",
    ),
    "memory.recalls.empty": (
        "No run of the dual loop is stored yet. Ask the same question twice and look here again.",
        "还没有双循环的运行记录。把同一个问题问两遍，再回到这里看看。",
    ),
    "memory.recall.item": ("“{question}” · similarity {similarity}", "“{question}” · 相似度 {similarity}"),
    "memory.recall.when": ("{when} UTC", "{when}（UTC）"),
    "memory.recall.stale": ("outdated, not used", "已过时，未采用"),
    "memory.recall.stale.tip": (
        "The collection has changed since this answer was kept, so it was shown and not answered from.",
        "记下这个回答之后知识库有了变化，因此只列出、不据此作答。",
    ),
    "memory.effect.changed": ("⇄ changed the route", "⇄ 改变了路线"),
    "memory.effect.same": ("= same route without it", "= 没有它也是这条路线"),
    "memory.effect.unknown": ("? effect not known", "? 影响未知"),
    "memory.effect.nothing": ("– nothing recalled", "– 没有想起什么"),
    "memory.effect.off": ("■ memory was off", "■ 记忆已关闭"),
    "memory.effect.failed": ("✗ memory could not be read", "✗ 记忆无法读取"),
    "memory.effect.how": ("{taken}; without memory: {without}", "{taken}；若没有记忆：{without}"),
    "memory.route.direct": ("answered directly", "直接回答"),
    # Columns of the CSV
    "memory.csv.id": ("id", "编号"),
    "memory.csv.passed": ("passed", "通过"),
    "memory.csv.question": ("question", "问题"),
    "memory.csv.answer": ("answer", "回答"),
    "memory.csv.collection": ("collection", "集合"),
    "memory.csv.kept_at": ("kept at", "记录时间"),
    "memory.csv.run": ("run", "运行"),
    "memory.csv.sources": ("sources", "来源"),
    "memory.csv.yes": ("yes", "是"),
    "memory.csv.no": ("no", "否"),
    # The history of weak points
    "history.title": ("History of weak points", "薄弱点历史"),
    "history.intro": (
        "A question that was refused, answered below the bar or judged unhelpful is noted here with its day. The "
        "quality-control loop searches it as dated history; no answer is ever written from it. Batches, sweeps, "
        "branches, races and evaluations add nothing.",
        "被拒答、未达标也作答或被判为没有帮助的问题，会连同日期记在这里。质量控制循环把它当作历史来检索，但绝不据此写回答。"
        "批次、扫描、分支、竞赛和评测都不会增加条目。",
    ),
    "history.collection": ("Collection", "集合"),
    "history.on": ("Note weak points", "记录薄弱点"),
    "history.on.help": (
        "On for your own collections, off for the samples, until you switch it.",
        "默认对自己的集合打开，对示例关闭。",
    ),
    "history.empty": ("No weak points are noted for this collection.", "这个集合还没有记录薄弱点。"),
    "history.why.refused": ("{date} · there was no answer", "{date} · 没有给出回答"),
    "history.why.forced": ("{date} · answered below the bar", "{date} · 未达标也作答"),
    "history.why.unhelpful": ("{date} · the answer was judged unhelpful", "{date} · 回答被判为没有帮助"),
    "history.run": ("Open the run", "打开运行"),
    "history.delete": ("Delete", "删除"),
}
