"""Words of what-if for the loops beside that of four nodes."""

from __future__ import annotations

from collections.abc import Mapping

WHAT_IF_LOOPS: Mapping[str, tuple[str, str]] = {
    "whatif.answers": ("{n} answers", "{n} 稿回答"),
    "whatif.answers.one": ("{n} answer", "{n} 稿回答"),
    "whatif.end.written": (", as answer {n}", "，采用第 {n} 稿"),
    "whatif.end.answered.direct": (
        "it would have **answered without a search**",
        "会**不经检索直接作答**",
    ),
    "whatif.end.answered_forced.direct": (
        "it would have answered **without a search**, and that answer would stand: {reason}",
        "会**不经检索直接作答**，并保留这一回答：{reason}",
    ),
    "whatif.end.abstained.direct": (
        "it would have searched **nothing** and had nothing to answer from: {reason}",
        "会**什么也不检索**，因此无从作答：{reason}",
    ),
    "whatif.end.answered_unverified.direct": (
        "it would have answered **without a search**, from what the model knows by itself: {reason}",
        "会**不经检索**，凭模型自身的知识作答：{reason}",
    ),
    "whatif.end.fallback": (
        "it would have ended **without an answer after round {round}**: {reason}",
        "会在**第 {round} 轮后没有回答**而结束：{reason}",
    ),
    # Where the path stops being known
    "whatif.gap.routing": (
        "**another router** would choose what is searched, and nothing recorded says what.",
        "会由**另一个路由者**决定检索什么，而记录里没有它的选择。",
    ),
    "whatif.gap.strategies": (
        "**the router would have other strategies to choose from**, and nothing recorded says which it would take.",
        "**可供路由者选择的检索方式不同**，而记录里没有它会选哪一种。",
    ),
    "whatif.gap.retrieval.graph": (
        "**another search** would be made (mode, hops, entities, communities or depth), and nothing recorded says what "
        "it would find.",
        "会做**另一次检索**（模式、跳数、实体、社区或深度不同），而记录里没有它会找到什么。",
    ),
    "whatif.gap.scores": (
        "**round {round} is open**: {n} passages would be reranked that this run did not score, and the order "
        "hangs on them.",
        "**第 {round} 轮无法确定**：有 {n} 个片段要重新打分，本次运行没有给它们打过分，而顺序取决于此。",
    ),
    "whatif.gap.scores.one": (
        "**round {round} is open**: one passage would be reranked that this run did not score, and the order hangs "
        "on it.",
        "**第 {round} 轮无法确定**：有 1 个片段要重新打分，本次运行没有给它打过分，而顺序取决于此。",
    ),
    "whatif.gap.reranker": (
        "**round {round} is open**: another reranker would score the passages, and it has scored none of them.",
        "**第 {round} 轮无法确定**：换了重排员，而它还没有给这些片段打过分。",
    ),
    "whatif.gap.memory": (
        "**the router would see other memories** than it did, and nothing recorded says what it would choose.",
        "**路由者看到的记忆会不同**，而记录里没有它会怎样选择。",
    ),
    "whatif.gap.memory.own": (
        "**memory answered this run**. Run with these settings, what runs of this very question left is not recalled, "
        "and nothing recorded says what would be found.",
        "**本次运行由记忆作答**。用这些设置运行时，不会想起同一问题以前留下的回答，而记录里没有检索会找到什么。",
    ),
    "whatif.gap.web": (
        "**the web would be searched** where a search engine is set, and nothing recorded says what it would find.",
        "若设置了搜索引擎，会**检索网络**，而记录里没有它会找到什么。",
    ),
    "whatif.gap.evaluation": (
        "the recorded answer would stand, but **its evaluator would see other passages**, or might not fail: "
        "its judgement is not known.",
        "会写出记录里的那稿回答，但**评估者看到的片段不同**，或者不会再失败，所以评估结果未知。",
    ),
    "whatif.gap.evaluator": (
        "the recorded answer would be judged by **another evaluator**, and its judgement is not known.",
        "记录里的那稿回答会由**另一个评估者**评估，结果未知。",
    ),
    "whatif.gap.answer": (
        "it would **answer after round {round}** from something else than the run did: that answer would have to be "
        "written, and evaluated.",
        "会在**第 {round} 轮后作答**，但依据与本次运行不同：那稿回答要重新生成，并经过评估。",
    ),
    "whatif.gap.answer.direct": (
        "it would **answer without a search** as the run did not: that answer would have to be written, and evaluated.",
        "会**不经检索直接作答**，与本次运行不同：那稿回答要重新生成，并经过评估。",
    ),
    "whatif.gap.rewriter.first": (
        "it would search, and **another rewriter** would word the first query.",
        "会进行检索，但第一条查询会由**另一个重写员**来写。",
    ),
    "whatif.gap.unrecorded.search": (
        "it would **search**, and the run ended before it had searched.",
        "会进行**检索**，而本次运行在检索之前就结束了。",
    ),
    "whatif.gap.unrecorded.strategy": (
        "it would go on to **another strategy** after round {round}, which the run did not search by.",
        "会在**第 {round} 轮后换一种检索方式**，而本次运行没有这样检索过。",
    ),
    "whatif.gap.unrecorded.correction": (
        "it would **correct the answer** after round {round}, where the run did not go on.",
        "会在**第 {round} 轮后纠正回答**，而本次运行到此为止，没有后续记录。",
    ),
    "whatif.gap.unrecorded.revision": (
        "it would have the answer **revised once more**, where the run did not go on.",
        "会让回答**再修改一稿**，而本次运行到此为止，没有后续记录。",
    ),
    "whatif.gap.unrecorded.answer": (
        "it would **answer after round {round}**; the run ended before an answer was written and evaluated there.",
        "会在**第 {round} 轮后作答**，而本次运行在写出并评估回答之前就结束了。",
    ),
    "whatif.gap.verdicts_score": (
        "**round {round} is open**: {n} kept passages have no verdict, so its score lies from {least} to {most}, "
        "and {bar} lies between.",
        "**第 {round} 轮无法确定**：有 {n} 个保留的片段没有判定，得分在 {least} 到 {most} 之间，{bar}正在其间。",
    ),
    "whatif.gap.verdicts_score.one": (
        "**round {round} is open**: one kept passage has no verdict, so its score lies from {least} to {most}, "
        "and {bar} lies between.",
        "**第 {round} 轮无法确定**：有 1 个保留的片段没有判定，得分在 {least} 到 {most} 之间，{bar}正在其间。",
    ),
    "whatif.gap.verdicts_grader": (
        "**round {round} is open**: {n} kept passages have no verdict. Its score would not change the route, "
        "but a grader that fails on all of them would end the run.",
        "**第 {round} 轮无法确定**：有 {n} 个保留的片段没有判定。得分不会改变去向，"
        "但若质检员全部判定失败，运行就会结束。",
    ),
    "whatif.gap.verdicts_grader.one": (
        "**round {round} is open**: one kept passage has no verdict. Its score would not change the route, "
        "but a grader that fails on it would end the run.",
        "**第 {round} 轮无法确定**：有 1 个保留的片段没有判定。得分不会改变去向，但若质检员判定失败，运行就会结束。",
    ),
    "whatif.bar_score": ("the bar of {value}", "阈值 {value} "),
    "whatif.bar_count.one": ("the bar of one passage", "“1 个片段”这一条件"),
    "whatif.why.words": (
        "it says how many passages were read, and some of those have no verdict",
        "其中要说明读过多少个片段，而有的片段没有判定",
    ),
}
