"""Words of the frame around the pages, of the workbench page itself and of its empty states."""

from __future__ import annotations

SHELL = {
    "app.title": ("Self-Corrective RAG Workbench", "自省修正 RAG 工作台"),
    "nav.workbench": ("Workbench", "工作台"),
    "nav.tune": ("Tune", "调参"),
    "nav.knowledge": ("Knowledge", "知识库"),
    "badge.all_builtin": ("all roles built in", "角色均为内置"),
    "badge.some_builtin": ("{roles} built in", "{roles}为内置"),
    "badge.none_builtin": ("all roles on chat models", "角色均用对话模型"),
    "badge.help": (
        "Built-in roles are small deterministic programs of this workbench, not language models. "
        "They need no server; choose others under Models.",
        "内置角色是本工作台自带的确定性小程序，不是语言模型，无需服务器；可在“模型”中更换。",
    ),
    "role.grader": ("grader", "质检员"),
    "role.rewriter": ("rewriter", "修正者"),
    "role.generator": ("generator", "生成者"),
    "list.joint": (", ", "、"),
    "list.last": (" and ", "和"),
    "ask.label": ("Question", "问题"),
    "ask.placeholder": ("Ask something of the collection…", "向知识库提问……"),
    "ask.proposed": ("What fasting glucose level means diabetes today?", "妊娠期糖尿病怎么诊断？"),
    "ask.run": ("Run", "运行"),
    "ask.stop": ("Stop", "停止"),
    "ask.again": ("Try again", "重试"),
    "ask.intro": (
        "Retrieve passages, let an independent grader judge each one, rephrase the question if too few pass, "
        "and answer only from what passed. Everything that happened stays visible below.",
        "先检索片段，由独立的质检员逐条判定；通过太少就改写问题再检索，最后只依据通过的片段作答。全过程都会留在下方。",
    ),
    "ask.samples": ("Try one:", "试试："),
    "ask.sample.plain": ("answers at once", "一次通过"),
    "ask.sample.rewrite": ("needs a rewrite", "需要重写"),
    "ask.sample.vague": ("vague", "含糊"),
    "ask.sample.unanswerable": ("not in the collection", "库中没有"),
    "tab.passages": ("Passages {n}", "片段 {n}"),
    "tab.path": ("Decision path", "决策路径"),
    "tab.rewrites": ("Rewrites {n}", "重写 {n}"),
    "tab.timeline": ("Timeline", "时间线"),
    "tab.calls": ("Model calls {n}", "模型调用 {n}"),
    "tab.record": ("Record", "记录"),
    "record.manifest": ("What this run was made with", "本次运行的环境"),
    "record.json": ("Download the record as JSON", "下载记录（JSON）"),
    "record.id": ("Run {id}, started {started} UTC", "运行 {id}，开始于 {started}（UTC）"),
    "hint.tune": (
        "Move a slider at the left: nothing is called, and “What if” shows what it would have changed.",
        "移动左侧的滑块：不会发起任何调用，“假如”一栏会显示结果会怎样不同。",
    ),
    "run.other_settings": (
        "The settings at the left differ from those of this run: {names}.",
        "左侧设置与本次运行不同：{names}。",
    ),
    "run.missing": ("This run is not stored here.", "此处没有这次运行。"),
    "filter.node": ("Showing only what {node} did.", "只显示与“{node}”有关的内容。"),
    "filter.all": ("Show all", "显示全部"),
    "live.empty": ("The evidence of the run will appear here.", "运行的证据会显示在这里。"),
    "starting": ("Opening the knowledge base …", "正在打开知识库……"),
}
