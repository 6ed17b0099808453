"""Words of knowledge graphs: the picture of one, and the view Graph of the Knowledge page."""

from __future__ import annotations

from collections.abc import Mapping

GRAPH: Mapping[str, tuple[str, str]] = {
    # The picture
    "graph.picture": ("A knowledge graph of {n} entities and {m} relationships.", "知识图谱：{n} 个实体、{m} 条关系。"),
    "graph.picture.overview": ("{n} communities, joined at {m} places.", "{n} 个社区，彼此之间有 {m} 处相连。"),
    "graph.find": ("Find in this picture", "在图中查找"),
    "graph.find.overview": ("Find a community", "查找社区"),
    "graph.find.none": ("nothing of that name", "没有这个名称"),
    "graph.colour": ("Colour by", "着色方式"),
    "graph.colour.kind": ("Colour: type", "着色：类型"),
    "graph.colour.group": ("Colour: community", "着色：社区"),
    "graph.in": ("Nearer", "放大"),
    "graph.out": ("Farther", "缩小"),
    "graph.fit": ("Show all", "显示全部"),
    "graph.save": ("Save the picture as SVG", "将图片存为 SVG"),
    "graph.keys": (
        "Drag to move, Ctrl + wheel or two fingers to zoom. Keys: arrows go from entity to entity, Enter chooses, "
        "+ and − zoom, 0 shows all.",
        "拖动可移动，Ctrl＋滚轮或双指可缩放。键盘：方向键在实体间移动，回车选中，+ 和 − 缩放，0 显示全部。",
    ),
    "graph.hint": (
        "Choose an entity or a relationship: its passages appear here.",
        "点选一个实体或一条关系，相关片段会显示在这里。",
    ),
    "graph.hint.overview": (
        "Choose a community: its summary, its entities and its passages appear here.",
        "点选一个社区，它的摘要、实体和片段会显示在这里。",
    ),
    "graph.central": ("Most important", "最重要的"),
    "graph.largest": ("Largest", "最大的"),
    "graph.relations": ("Relationships", "关系"),
    "graph.more.relations": ("{n} more", "还有 {n} 条"),
    "graph.self": ("this one", "此实体"),
    "graph.aliases": ("also:", "又称："),
    "graph.include": ("Its most important entities", "其中最重要的实体"),
    "graph.members": ("{n} entities", "{n} 个实体"),
    "graph.members.one": ("1 entity", "1 个实体"),
    "graph.passages": ("Passages", "片段"),
    "graph.passages.wait": ("Reading its passages…", "正在读取片段…"),
    "graph.passages.more": ("and {n} more", "另有 {n} 个"),
    "graph.unread": ("Their text cannot be shown here.", "这里无法显示它们的文字。"),
    "graph.full": ("Whole passage", "完整片段"),
    "graph.less": ("Less", "收起"),
    "graph.around": ("Show what lies around it", "查看它的周围"),
    "graph.whole": ("Show its entities", "查看其中的实体"),
    "graph.close": ("Let go", "取消选中"),
    "graph.list": ("The same as a list", "以列表显示"),
    "graph.list.entities": ("Entities with their relationships", "实体及其关系"),
    "graph.list.communities": ("Communities", "社区"),
    "graph.look.centre": ("the one asked for", "所查的实体"),
    "graph.look.asked": ("named in the question", "问题中提到"),
    "graph.look.linked": ("reached through a passage", "由片段找到"),
    "graph.look.near": ("reached along relationships", "沿关系找到"),
    "graph.others": ("others, {n} types", "其他 {n} 种"),
    "graph.degree": ("{n} relationships", "{n} 条关系"),
    "graph.degree.one": ("1 relationship", "1 条关系"),
    "graph.joins": ("{n} relationships", "{n} 条关系"),
    "graph.joins.one": ("1 relationship", "1 条关系"),
    "graph.hops": ("{n} steps away", "相隔 {n} 步"),
    "graph.hops.one": ("1 step away", "相隔 1 步"),
    "graph.score": ("score {score}", "得分 {score}"),
    # What a mode could not do
    "graph.note": ("{list}: {what}", "{list}：{what}"),
    "graph.from.vector": ("Vectors", "向量"),
    "graph.from.local": ("Entities", "实体"),
    "graph.from.global": ("Communities", "社区"),
    "graph.from.attachment": ("Attachment", "附件"),
    "graph.note.no_graph": (
        "the collection has no knowledge graph. Build one under Knowledge → Graph.",
        "这个集合没有知识图谱，可在“知识库 → 图谱”里构建。",
    ),
    "graph.note.no_entity": (
        "nothing in the query is an entity of the graph, so there was nothing to begin from.",
        "问题里没有图谱认识的实体，无从出发。",
    ),
    "graph.note.no_passages": (
        "what was found in the graph led to no passage.",
        "图谱里找到的内容没有对应的片段。",
    ),
    "graph.note.no_communities": (
        "the graph has no communities with summaries.",
        "图谱里没有带摘要的社区。",
    ),
    "graph.note.graph_unfinished": (
        "the graph is not finished, so only a part of the passages is in it.",
        "图谱还没建完，只收录了一部分片段。",
    ),
    "graph.note.graph_stale": (
        "the collection has changed since the graph was built.",
        "图谱建成之后，集合又有改动。",
    ),
    "graph.note.graph_unreachable": (
        "the graph could not be read, or not in time. Ask again, or see System → Health.",
        "图谱无法读取，或没能及时读出。请再问一次，或看“系统 → 健康”。",
    ),
    "graph.fell_back": (
        "This mode could not do its own work; searched instead: {lists}.",
        "此模式没能完成自己的检索，改为检索：{lists}。",
    ),
    # The view Graph of the Knowledge page
    "kb.view.graph": ("Graph", "图谱"),
    "graph.title": ("Knowledge graph", "知识图谱"),
    "graph.fact.entities": ("Entities", "实体"),
    "graph.fact.relationships": ("Relationships", "关系"),
    "graph.fact.communities": ("Communities", "社区"),
    "graph.fact.read": ("Passages read", "已读片段"),
    "graph.fact.extractor": ("Read by", "抽取器"),
    "graph.fact.built": ("Finished", "建成于"),
    "graph.read": ("{done} of {n}", "{done} / {n}"),
    "graph.unfinished": ("unfinished", "未建完"),
    "graph.up_to_date": ("up to date", "已是最新"),
    "graph.stale": ("out of date", "已过期"),
    "graph.stale.note": (
        "The collection has changed since the graph was built: what is new is not in it, and runs say so. "
        "Bring it up to date to read only what has changed.",
        "图谱建成之后，集合又有改动：新内容不在图谱里，运行时也会提示。点“更新”只读取变动的部分。",
    ),
    "graph.extractor": ("Who reads the passages", "由谁抽取"),
    "graph.extractor.builtin": ("Built-in rules", "内置规则"),
    "graph.extractor.samples": ("Written by hand", "人工编写"),
    "graph.extractor.other": ("Another model…", "其他模型…"),
    "graph.extractor.name": ("Name of the model", "模型名称"),
    "graph.extractor.help": (
        "A chat model reads every passage once: better names, types and relationships, but one call a passage. The "
        "built-in rules need no model.",
        "对话模型会逐个阅读片段：名称、类型和关系都更准，但每个片段要调用一次。内置规则不需要模型。",
    ),
    "graph.builtin.honest": (
        "The built-in rules know key terms, plain patterns such as “X is a Y” and what stands together. Fast and "
        "free, but weak: many relationships only say “related to”.",
        "内置规则只认得关键术语、“X 是一种 Y”之类句式，以及哪些词常在一起。快且免费，但能力有限，很多关系只写“有关”。",
    ),
    "graph.build.title": ("This collection has no knowledge graph yet", "这个集合还没有知识图谱"),
    "graph.build.about": (
        "A graph holds the entities that passages speak of and the relationships between them. With it a question "
        "can be followed from one passage to another that shares no words with it, and communities of entities give "
        "an overview. Every entity and relationship leads back to its passages.",
        "知识图谱记录片段里提到的实体，以及实体之间的关系。有了它，检索可以从一个片段顺着关系找到另一个与问题没有共同字词的片段；"
        "实体聚成的社区还能给出概览。每个实体、每条关系都能查到出处。",
    ),
    "graph.build.empty": (
        "There are no passages to read yet: add documents first.",
        "还没有可读的片段，请先添加文档。",
    ),
    "graph.build.passages": ("{n} passages will be read.", "将读取 {n} 个片段。"),
    "graph.build.passages.one": ("1 passage will be read.", "将读取 1 个片段。"),
    "graph.build": ("Build the graph", "构建图谱"),
    "graph.nothing_found": (
        "Nothing that could be an entity was found in the passages. Try a chat model as the reader.",
        "在片段里没有认出实体，可以换用对话模型来抽取。",
    ),
    "graph.ask": ("Ask with the graph", "用图谱提问"),
    "graph.race": ("Mode race", "模式竞赛"),
    "graph.update": ("Bring up to date", "更新"),
    "graph.update.help": (
        "Reads what is new or has changed, by the same reader.",
        "由同一抽取器读取新增和变动的片段。",
    ),
    "graph.rebuild": ("Rebuild", "重建"),
    "graph.rebuild.note": (
        "Every passage is read again, and what is there now goes.",
        "所有片段都会重新读取，现有图谱会被替换。",
    ),
    "graph.rebuild.absent": (
        "Ollama does not have this model at hand, so the graph would be gone and nothing read. Start Ollama, or pull "
        "the model under System → Models.",
        "Ollama 里没有这个模型：现有图谱会被清空，却读不出新的。请启动 Ollama，或到“系统 → 模型”拉取该模型。",
    ),
    "graph.rebuild.yes": ("Replace the graph", "替换图谱"),
    "graph.delete": ("Delete graph", "删除图谱"),
    "graph.delete.note": (
        "The graph of {name} goes for good. Its passages stay.",
        "{name} 的图谱将被永久删除，片段不受影响。",
    ),
    "graph.delete.yes": ("Delete it", "确认删除"),
    "graph.said.deleted": ("Deleted the graph of {name}.", "已删除 {name} 的图谱。"),
    "graph.looks": ("View", "查看方式"),
    "graph.looks.overview": ("Communities", "社区概览"),
    "graph.looks.entities": ("Entities", "实体"),
    "graph.looks.table": ("Tables", "表格"),
    "graph.overview.about": (
        "Entities that belong together by their relationships, larger ones larger; lines say how many relationships "
        "lead from one to another.",
        "按关系聚在一起的实体：圆越大，实体越多；连线表示社区之间有多少条关系。",
    ),
    "graph.overview.largest": (
        "The {n} largest of {all}; the others are under Entities.",
        "只显示 {all} 个社区中最大的 {n} 个，其余可在“实体”里查看。",
    ),
    "graph.no_communities": (
        "No communities: the graph is unfinished, or its entities are not joined.",
        "没有社区：图谱还没建完，或者实体之间没有关系。",
    ),
    "graph.shown": ("{n} of {all} entities", "{all} 个实体中的 {n} 个"),
    "graph.around.whom": ("Around an entity", "查看某个实体的周围"),
    "graph.around.all": ("The most important of all", "默认显示最重要的实体"),
    "graph.reach": ("Reach", "范围"),
    "graph.reach.n": ("{n} steps", "{n} 步"),
    "graph.reach.n.one": ("1 step", "1 步"),
    "graph.community": ("Community", "社区"),
    "graph.community.all": ("All", "全部"),
    "graph.most": ("At most", "最多显示"),
    "graph.most.n": ("{n} entities", "{n} 个实体"),
    "graph.unknown": (
        "No entity of the graph has this in its name. Try a shorter part of it.",
        "图谱中没有名称含这些字的实体，换一个更短的词试试。",
    ),
    "graph.suggested": ("No entity has just this name. Did you mean:", "没有完全同名的实体，你要找的是："),
    "graph.table.entities": ("Entities", "实体"),
    "graph.table.relations": ("Relationships", "关系"),
    "graph.table.hint": ("Tick a row to see what lies around it.", "勾选一行，即可查看它的周围。"),
    "graph.column.name": ("Name", "名称"),
    "graph.column.type": ("Type", "类型"),
    "graph.column.about": ("What is said of it", "说明"),
    "graph.column.relations": ("Relationships", "关系数"),
    "graph.column.passages": ("Passages", "片段数"),
    "graph.column.community": ("Community", "社区"),
    "graph.column.aliases": ("Also called", "又称"),
    "graph.column.source": ("From", "起点"),
    "graph.column.relation": ("Relationship", "关系"),
    "graph.column.target": ("To", "终点"),
    "graph.column.weight": ("Weight", "权重"),
    # The job that builds it
    "kb.job.graph": ("Knowledge graph of {name}", "{name} 的知识图谱"),
    "kb.job.extracting": ("reading", "抽取中"),
    "kb.job.summarising": ("finding communities", "归纳社区"),
    "kb.done.graph": (
        "{passages} read: {entities} entities, {relationships} relationships, {communities} communities",
        "已读 {passages}：{entities} 个实体、{relationships} 条关系、{communities} 个社区",
    ),
    "kb.graph.so_far": (
        "{entities} entities and {relationships} relationships so far",
        "目前有 {entities} 个实体、{relationships} 条关系",
    ),
    "kb.graph.unreadable": ("{n} replies could not be read", "{n} 条回复无法解读"),
    "kb.graph.unreadable.one": ("1 reply could not be read", "1 条回复无法解读"),
}
