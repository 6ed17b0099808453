"""Words of the Knowledge page."""

from __future__ import annotations

KNOWLEDGE = {
    "kb.title": ("Knowledge", "知识库"),
    "kb.intro": (
        "Each collection holds sources, cut into passages and embedded by one model. Runs search one collection.",
        "每个集合包含若干来源，切成片段后用同一个模型做嵌入。每次运行检索一个集合。",
    ),
    "kb.collection": ("Collection", "集合"),
    "kb.facts": (
        "{sources} sources · {passages} passages · {dim} dimensions · {model}",
        "{sources} 个来源 · {passages} 个片段 · {dim} 维 · {model}",
    ),
    "kb.prefixes": ("Prefixes: query “{query}”, passage “{passage}”", "前缀：查询“{query}”，片段“{passage}”"),
    "kb.upload": ("Add files", "添加文件"),
    "kb.upload.help": ("Text and Markdown, up to {mb} MB each.", "文本和 Markdown，每个不超过 {mb} MB。"),
    "kb.into": ("Into collection", "放入集合"),
    "kb.into.help": (
        "An existing collection, or a new name: letters, digits and underscores, beginning with a letter.",
        "已有集合，或新名称：字母、数字和下划线，以字母开头。",
    ),
    "kb.start": ("Put into collection", "放入集合"),
    "kb.stop": ("Stop", "停止"),
    "kb.progress": (
        "{done} of {total} passages · {rate} per second · {left} left",
        "{done} / {total} 个片段 · 每秒 {rate} 个 · 剩余 {left}",
    ),
    "kb.reading": ("Reading the files …", "正在读取文件……"),
    "kb.stopped": (
        "Stopped. Sources that were complete are in; no half source is.",
        "已停止。完整的来源已入库，没有半个来源。",
    ),
    "kb.done": ("{n} sources went in, {passages} passages", "{n} 个来源已入库，共 {passages} 个片段"),
    "kb.done.one": ("1 source went in, {passages} passages", "1 个来源已入库，共 {passages} 个片段"),
    "kb.nothing_new": ("Nothing new went in.", "没有新内容入库。"),
    "kb.added": ("{name}", "{name}"),
    "kb.skipped": ("{name}: already in this collection as {same}, skipped", "{name}：集合中已有（{same}），已跳过"),
    "kb.replaced": ("{name}: content had changed, replaced", "{name}：内容有变化，已替换"),
    "kb.failed": ("{name} was left out:", "{name} 未入库："),
    "kb.sources": ("Sources", "来源"),
    "kb.source": ("Source", "来源"),
    "kb.source.title": ("Title", "标题"),
    "kb.source.kind": ("Kind", "类别"),
    "kb.source.kind.help": (
        "Which source kind its passages count as; the quality-control workflow searches each kind apart.",
        "片段算作哪一类来源；质量控制工作流按类别分别检索。",
    ),
    "kb.kinds": (
        "A Markdown file names its kind between two lines `---` at its very top: `kind: temporal` for the dated study "
        "log, `kind: graph` for entity notes. Anything else is knowledge base. To change it, add the file again.",
        "Markdown 文件在最开头的两行 `---` 之间写明类别：`kind: temporal` 是按日期记录的学习日志，"
        "`kind: graph` 是实体笔记；不写就是知识库。要改类别，改好文件再添加一次。",
    ),
    "kb.source.passages": ("Passages", "片段数"),
    "kb.source.added": ("Added", "入库时间"),
    "kb.choose": ("Choose a source to see its passages.", "选择一个来源查看片段。"),
    "kb.empty": (
        "This collection is empty. Add text or Markdown files above.",
        "此集合为空。请在上方添加文本或 Markdown 文件。",
    ),
    "kb.delete": ("Delete this source", "删除此来源"),
    "kb.delete.confirm": (
        "Delete {name} and its {n} passages? Records of runs keep what they saw.",
        "删除 {name} 及其 {n} 个片段？运行记录中的内容会保留。",
    ),
    "kb.delete.confirm.one": (
        "Delete {name} and its passage? Records of runs keep what they saw.",
        "删除 {name} 及其 1 个片段？运行记录中的内容会保留。",
    ),
    "kb.delete.yes": ("Delete", "删除"),
    "kb.delete.no": ("Keep", "保留"),
    "kb.deleted": ("{name} was deleted with its {n} passages.", "已删除 {name} 及其 {n} 个片段。"),
    "kb.deleted.one": ("{name} was deleted with its passage.", "已删除 {name} 及其 1 个片段。"),
    "kb.search": ("Filter sources", "筛选来源"),
    "kb.passage": ("Passage {n}", "片段 {n}"),
    "kb.prefix.new": ("Prefixes of the embedding model", "嵌入模型的前缀"),
    "kb.prefix.help": (
        "Some models want a few words before each text. Left empty, those known for the model are used.",
        "有些模型要求在文本前加固定的前缀。留空则使用该模型已知的前缀。",
    ),
    "kb.prefix.query": ("Before a query", "查询前缀"),
    "kb.prefix.passage": ("Before a passage", "片段前缀"),
    "kb.prefix.edit": ("Query prefix", "查询前缀"),
    "kb.prefix.edit.help": (
        "Put before every question to this collection. The passages' prefix is part of their vectors and stays.",
        "加在对此集合的每个问题之前。片段前缀已含在向量里，不能再改。",
    ),
    "kb.prefix.save": ("Save", "保存"),
}
