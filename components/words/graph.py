"""Words of knowledge graphs: the picture of one, and the view Graph of the Knowledge page."""

from __future__ import annotations

from collections.abc import Mapping

GRAPH: Mapping[str, tuple[str, str]] = {
    # The picture
    "graph.picture": ("A knowledge graph of {n} entities and {m} relationships.", "知识图谱：{n} 个实体、{m} 条关系。"),
    "graph.picture.overview": ("{n} communities, joined at {m} places.", "{n} 个社区，彼此之间有 {m} 处相连。"),
    "graph.find": ("Find an entity", "查找实体"),
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
        "the graph could not be read. See System → Health.",
        "图谱无法读取，请看“系统 → 健康”。",
    ),
    "graph.fell_back": (
        "This mode could not do its own work; searched instead: {lists}.",
        "此模式没能完成自己的检索，改为检索：{lists}。",
    ),
}
