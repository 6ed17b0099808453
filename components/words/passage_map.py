"""Words of the map of passages on the Knowledge page."""

from __future__ import annotations

from collections.abc import Mapping

PASSAGE_MAP: Mapping[str, tuple[str, str]] = {
    "pmap.query": ("Question", "问题"),
    "pmap.query.hint": ("Type a question to see where it falls", "输入一个问题，看它落在哪里"),
    "pmap.run": ("Colour by what became of them in a run", "按一次运行的结果着色"),
    "pmap.run.none": ("No run: colour by source", "不选运行：按来源着色"),
    "pmap.run.gone": (
        "The run in the address has not ended, or is not there.",
        "地址里的那次运行还没有结束，或已不存在。",
    ),
    "pmap.run.other": (
        "That run searched another collection, {name}: its passages are not on this map.",
        "那次运行检索的是另一个集合 {name}，它的片段不在这张图上。",
    ),
    "pmap.format": ("Picture as", "导出图片"),
    "pmap.format.help": (
        "The camera above the map saves it in this format.",
        "图右上角的相机按钮会以此格式保存图片。",
    ),
    "pmap.drawing": ("Reading vectors…", "正在读取向量…"),
    "pmap.empty": ("Nothing to draw yet: the collection has no passages.", "还没有可画的：这个集合没有片段。"),
    "pmap.shown": ("{n} passages", "{n} 个片段"),
    "pmap.shown.one": ("1 passage", "1 个片段"),
    "pmap.sample": ("a sample of {n} of {total} passages", "{total} 个片段中的 {n} 个样本"),
    "pmap.variance": (
        "The two axes show {share} of the variance, of {dim} dimensions.",
        "两条轴显示了 {dim} 维中 {share} 的方差。",
    ),
    "pmap.honest": (
        "So points near each other here may be far apart in meaning, and what is most similar to the question need "
        "not lie beside it.",
        "因此图上相近的点，含义可能相去甚远；与问题最相似的片段也不一定就在它旁边。",
    ),
    "pmap.axis.x": ("First component · {share}", "第一主成分 · {share}"),
    "pmap.axis.y": ("Second component · {share}", "第二主成分 · {share}"),
    "pmap.others": ("Other sources ({n})", "其他来源（{n} 个）"),
    "pmap.hits": ("Nearest to the question, by rank", "与问题最相近，按名次"),
    "pmap.star": ("The question", "问题"),
    "pmap.look.cited": ("Cited in the answer", "被回答引用"),
    "pmap.look.passed": ("Passed", "通过"),
    "pmap.look.failed": ("Judged not relevant", "被判为不相关"),
    "pmap.look.dropped": ("Found, not kept", "检索到但未保留"),
    "pmap.look.not_found": ("Not found", "未检索到"),
    "pmap.click": ("Click a point to read its passage.", "点击一个点即可阅读该片段。"),
}
