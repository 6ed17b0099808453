"""Words of the page Runs: the list, its filters, tags and exports."""

from __future__ import annotations

from collections.abc import Mapping

RUNS: Mapping[str, tuple[str, str]] = {
    "nav.runs": ("Runs", "运行"),
    "runs.title": ("Runs", "运行记录"),
    "runs.view": ("View", "视图"),
    "runs.view.list": ("List", "列表"),
    "runs.view.compare": ("Compare", "对比"),
    "runs.view.loops": ("Loops side by side", "并排运行"),
    "runs.view.present": ("Present", "演示"),
    "runs.intro": (
        "Every run is kept with all it did. Open one to see its evidence, or put it on the watch list: every "
        "what-if then says whether it would end otherwise.",
        "每次运行都连同全过程保存在这里。打开一条可以查看证据；加入关注的运行，每次推演都会一并检查结果是否改变。",
    ),
    "runs.empty": (
        "No run is stored yet. Ask a question; its run will be listed here.",
        "还没有运行记录。提一个问题，运行结束后就会列在这里。",
    ),
    "runs.empty.batches": (
        "No run of your own is stored yet; those of batches are hidden.",
        "还没有自己发起的运行；批量运行的记录没有显示。",
    ),
    "runs.go": ("Ask a question", "去提问"),
    "runs.no_match": ("No run matches these filters.", "没有符合筛选条件的运行。"),
    "runs.clear": ("Clear the filters", "清除筛选"),
    "runs.search": ("Search", "搜索"),
    "runs.search.hint": ("Question, tag or run id", "问题、标签或运行编号"),
    "runs.outcome": ("Outcome", "结果"),
    "runs.outcome.any": ("Any outcome", "全部结果"),
    "runs.workflow": ("Workflow", "工作流"),
    "runs.workflow.any": ("Any workflow", "全部工作流"),
    "runs.collection": ("Collection", "集合"),
    "runs.collection.any": ("Any collection", "全部集合"),
    "runs.collection.tip": ("The collection that it searched", "检索的集合"),
    "runs.tag": ("Tag", "标签"),
    "runs.tag.any": ("Any tag", "全部标签"),
    "runs.tag.counted": ("{tag} ({n})", "{tag}（{n}）"),
    "runs.batches": ("Show runs of batches", "显示批量运行"),
    "runs.batches.help": (
        "A batch makes one run a question of its query set; left out here unless you ask for them.",
        "批量运行会为查询集里的每个问题各生成一次运行，默认不在此列出。",
    ),
    "runs.shown": ("{n} runs", "{n} 次运行"),
    "runs.shown.one": ("1 run", "1 次运行"),
    "runs.shown.first": ("The newest {n} runs", "最近 {n} 次运行"),
    "runs.more": ("Show more", "显示更多"),
    # Columns and cells
    "runs.column.question": ("Question", "问题"),
    "runs.column.outcome": ("Outcome", "结果"),
    "runs.column.rounds": ("Rounds", "轮次"),
    "runs.column.calls": ("Calls", "调用"),
    "runs.column.time": ("Time", "用时"),
    "runs.column.when": ("When", "时间"),
    "runs.rounds.tip": ("{n} rewrites", "重写 {n} 次"),
    "runs.rounds.tip.one": ("1 rewrite", "重写 1 次"),
    "runs.calls.tip": (
        "Calls of chat models, cached ones included; built-in roles make none.",
        "对话模型的调用次数，含缓存命中；内置角色不计。",
    ),
    "runs.select": ("Select this run", "选中这次运行"),
    "runs.select_all": ("Select all that are shown", "选中全部已显示的运行"),
    "runs.open": ("Open this run", "打开这次运行"),
    "runs.compare": ("Compare", "对比"),
    "runs.compare.help": ("Select two runs to see them side by side.", "选中两次运行即可并排对比。"),
    "runs.pin": ("Add to the watch list", "加入关注"),
    "runs.unpin": ("Take off the watch list", "取消关注"),
    "runs.copy": ("Copy the link", "复制链接"),
    "runs.copied": ("Link copied", "链接已复制"),
    "runs.untag": ("Take this tag away: {tag}", "去掉标签：{tag}"),
    "runs.untitled": ("(question cannot be read)", "（问题无法读取）"),
    "runs.badge.damaged": ("✗ damaged", "✗ 已损坏"),
    "runs.badge.damaged.tip": (
        "Parts of this record cannot be read. The others are not affected; it can be deleted.",
        "这条记录有一部分无法读取，其他记录不受影响；可以删除它。",
    ),
    "runs.interrupted.tip": (
        "The program ended while this run went on; everything it had by then is kept.",
        "运行途中程序退出；在那之前的全部过程都保留着。",
    ),
    "runs.badge.fork": ("↳ fork", "↳ 分叉"),
    "runs.badge.fork.tip": ("Went on from run {parent} with something changed.", "由运行 {parent} 改动后继续而来。"),
    "runs.badge.batch": ("batch", "批量"),
    "runs.badge.batch.tip": ("Made by a batch over a query set.", "由查询集的批量运行产生。"),
    # What is done with those selected
    "runs.selected": ("{n} selected", "已选 {n} 次运行"),
    "runs.selected.hint": (
        "Select runs to tag, export or delete them.",
        "选中运行后可以加标签、导出或删除。",
    ),
    "runs.tag.add": ("Add a tag", "加标签"),
    "runs.tag.new": ("Tag", "标签"),
    "runs.tag.placeholder": ("e.g. to review", "例如：待查"),
    "runs.tag.save": ("Add", "添加"),
    "runs.export": ("Export JSON", "导出 JSON"),
    "runs.export.help": (
        "One run as one JSON file; several as JSON Lines, one run a line. Damaged ones are left out.",
        "单次运行导出为一个 JSON 文件；多次运行导出为 JSON Lines，每行一次运行。已损坏的不导出。",
    ),
    "runs.delete": ("Delete", "删除"),
    "runs.delete.title": ("Delete runs", "删除运行"),
    "runs.delete.confirm": (
        "{n} runs and all their evidence will be deleted. This cannot be undone.",
        "{n} 次运行及其全部证据将被删除，无法恢复。",
    ),
    "runs.delete.confirm.one": (
        "This run and all its evidence will be deleted. This cannot be undone.",
        "这次运行及其全部证据将被删除，无法恢复。",
    ),
    "runs.delete.pinned": (
        "{n} of them are on the watch list: their questions will no longer be watched while you tune.",
        "其中 {n} 次是关注的运行：删除后，移动滑块时不再检查它们的问题。",
    ),
    "runs.delete.pinned.one": (
        "One is on the watch list: its question will no longer be watched while you tune.",
        "其中有 1 次关注的运行：删除后，移动滑块时不再检查它的问题。",
    ),
    "runs.delete.evidence": (
        "{n} of them were made by a batch: their questions drop out of the figures of Tune until they are run again.",
        "其中 {n} 次来自批量运行：删除后，这些问题不再计入“调参”页的数字，重新运行后才会恢复。",
    ),
    "runs.delete.evidence.one": (
        "One was made by a batch: its question drops out of the figures of Tune until it is run again.",
        "其中有 1 次来自批量运行：删除后，它的问题不再计入“调参”页的数字，重新运行后才会恢复。",
    ),
    "runs.delete.more": ("… and {n} more", "……以及另外 {n} 次"),
    "runs.delete.yes": ("Delete", "删除"),
    "runs.delete.no": ("Keep them", "保留"),
    "runs.deleted": ("{n} runs deleted.", "已删除 {n} 次运行。"),
    "runs.deleted.one": ("1 run deleted.", "已删除 1 次运行。"),
    # Demos
    "runs.demos": ("Recorded demos", "录制好的示例"),
    "runs.demos.intro": (
        "Recorded runs that ship with the workbench: they open without a model, a store or a network.",
        "随工作台附带的运行记录：不需要模型、向量库和网络就能打开。",
    ),
}
