"""Words of branching off a run."""

from __future__ import annotations

from collections.abc import Mapping

FORK: Mapping[str, tuple[str, str]] = {
    # What a branch is made of
    "fork.title": ("Branch off", "分叉"),
    "fork.intro": (
        "Change something at one decision and go on from there. What came before stands, and every verdict, rewrite "
        "and answer that still holds is reused.",
        "在某一步决策改动一点，再从那里继续。之前的部分保持原样，仍然适用的判定、重写和回答都会沿用。",
    ),
    "fork.round": ("From which decision", "从哪一步决策开始"),
    "fork.round.open": ("round {n}: nothing decided yet", "第 {n} 轮：尚未决策"),
    "fork.settings.same": (
        "Settings: as in the run. Move a slider at the left to change one.",
        "设置：与本次运行相同。移动左侧滑块即可改动。",
    ),
    "fork.settings": ("Settings: {changes}", "设置：{changes}"),
    "fork.change": ("{name} {old} → {new}", "{name} {old} → {new}"),
    "fork.query": ("Query of this round", "这一轮的查询"),
    "fork.query.help": (
        "What is searched. Verdicts go by the question as it was asked all the same.",
        "检索用的查询。判定仍以原来的问题为准。",
    ),
    "fork.verdicts": ("Verdicts of this round", "这一轮的判定"),
    "fork.verdicts.none": ("This round kept no passage.", "这一轮没有保留任何片段。"),
    "fork.verdict.to_yes": ("Set to relevant", "改为相关"),
    "fork.verdict.to_no": ("Set to not relevant", "改为不相关"),
    "fork.verdict.undo": ("Undo", "撤销"),
    "fork.verdict.by_hand": ("Set by hand", "手动设定"),
    "rewrite.why.by_hand": ("Written by hand", "手动改写"),
    # Its price
    "fork.price.free": ("Costs no call: all that is needed is recorded.", "无需调用：所需内容都有记录。"),
    "fork.price.once": ("Costs {next}.", "需要 {next}。"),
    "fork.price": ("Next step: {next}. At worst: {worst}.", "下一步：{next}。最坏情况：{worst}。"),
    "fork.price.query": (
        "The new search and its verdicts cost at most {next}. With all further rounds at worst: {worst}.",
        "新的检索和判定最多需要 {next}。连同后续各轮，最坏情况：{worst}。",
    ),
    "fork.go": ("Branch off here", "从这里分叉"),
    "fork.nothing": (
        "Nothing is changed yet: move a slider, edit the query or turn a verdict.",
        "还没有改动：移动滑块、修改查询或改一个判定。",
    ),
    # What became of it
    "fork.of": ("Branched off run {run} at round {n}", "从运行 {run} 的第 {n} 轮分叉"),
    "fork.changed": ("Changed: {changes}", "改动：{changes}"),
    "fork.changed.query": ("query “{query}”", "查询“{query}”"),
    "fork.changed.yes": ("{passage} set to relevant", "{passage} 设为相关"),
    "fork.changed.no": ("{passage} set to not relevant", "{passage} 设为不相关"),
    "fork.changed.none": ("Nothing was changed.", "没有改动。"),
    "fork.open_parent": ("Open that run", "打开原来的运行"),
    "fork.parent_gone": (
        "That run is not here any more, so the two cannot be compared.",
        "那次运行已经不在了，无法比较两者。",
    ),
    "fork.waiting": (
        "How the paths differ is said here when the branch has ended.",
        "分叉结束后，这里会说明路径有何不同。",
    ),
    "fork.same_path": ("The path is the same to its end.", "路径自始至终相同。"),
    "fork.parted": ("Parted at round {n}: “{was}” became “{now}”.", "在第 {n} 轮分开：原为“{was}”，现为“{now}”。"),
    "fork.parted.first": (" The decisions before it stayed.", "之前的决策都未变。"),
    "fork.decided": (
        "{passed} of {kept} passed, {inequality} → {route}",
        "{kept} 个中通过 {passed} 个，{inequality} → {route}",
    ),
    "fork.undecided": ("no decision", "没有决策"),
    "fork.no_round": ("no such round", "没有这一轮"),
    "fork.outcome": ("Outcome: {was} → {now}.", "结果：{was} → {now}。"),
    "fork.outcome.same": ("Outcome: {now}, as before.", "结果：{now}，与原来相同。"),
    "fork.given": (
        "To the generator: {shared} as before, {gained} gained, {lost} lost.",
        "交给生成者的片段：{shared} 个不变，新增 {gained} 个，减少 {lost} 个。",
    ),
    "fork.answer.same": ("The answer is word for word the same.", "回答一字未变。"),
    "fork.answer.other": ("The answer is another one.", "回答与原来不同。"),
    "fork.paid": ("{reused} calls reused, {made} made.", "沿用 {reused} 次调用，新增 {made} 次。"),
    "fork.gained": ("Gained", "新增"),
    "fork.lost": ("Lost", "减少"),
}
