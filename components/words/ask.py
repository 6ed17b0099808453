"""Words of the Ask page's own order: the line under the question, sharing, what stands there before a run."""

from __future__ import annotations

ASK = {
    # The line under the question
    "line.fewer": ("{parts} fewer", "少 {parts}"),
    "line.more": ("{parts} more", "多 {parts}"),
    "line.same": ("Nothing would change", "什么都不会变"),
    "line.same_path": ("The same decisions, from other passages", "决策不变，但依据的片段不同"),
    "line.open": ("Not known from this run", "仅凭这次运行还不能确定"),
    "line.known": ("0 calls", "0 次调用"),
    "line.joint": (" · ", " · "),
    "line.tune": (
        "Move a slider at the left: nothing is called, and “What if” shows what it would have changed.",
        "移动左侧的滑块：不会发起任何调用，“换个设置会怎样”一栏会显示结果会怎样不同。",
    ),
    "line.tune.narrow": (
        "Open the settings (») and move a slider: nothing is called, and “What if” shows what it would have changed.",
        "打开设置（»），移动滑块：不会发起任何调用，“换个设置会怎样”一栏会显示结果会怎样不同。",
    ),
    "line.running": ("Every step shows below as it happens.", "每一步都会随运行显示在下方。"),
    # Share
    "share.title": ("Share", "分享"),
    "share.link": ("Copy the link", "复制链接"),
    "share.link.note": (
        "It opens this run with the settings as they stand, for whoever reaches this address.",
        "能访问此地址的人，会打开这次运行和当前的设置。",
    ),
    # Other questions, folded away while a run is open
    "more.title": ("Examples", "示例"),
    # The judgement that makes a diagnosis exact
    "mark.ask": ("Which passage should have answered? Mark it.", "本应由哪个片段作答？请标出来。"),
    "mark.why": (
        "One judgement makes the diagnosis exact: it then says where that passage was lost.",
        "标出一个，诊断就能说清它是在哪一步丢掉的。",
    ),
    "mark.none": ("If none does, the refusal was right.", "如果都不能作答，这次不答就是对的。"),
    "mark.go": ("Mark a passage", "去标注"),
}
