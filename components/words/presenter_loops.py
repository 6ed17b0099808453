"""Plain sentences for the steps that only the quality-control, dual and answer-evaluation loops have."""

from __future__ import annotations

from collections.abc import Mapping

PRESENTER_LOOPS: Mapping[str, tuple[str, str]] = {
    "presenter.asked.quality_loop": (
        "A question comes in. First a router chooses in which kinds of sources to look.",
        "来了一个问题。先由路由者决定到哪几类来源里去找。",
    ),
    "presenter.asked.dual_loop": (
        "A question comes in. First memory is searched for earlier answers.",
        "来了一个问题。先在记忆里找找以前的回答。",
    ),
    "presenter.recalled.off": ("Memory is switched off.", "记忆已关闭。"),
    "presenter.recalled.failed": ("Memory cannot be read: the run continues without it.", "记忆读不出来，先不用它。"),
    "presenter.recalled.none": ("Memory has nothing on this.", "记忆里没有相关内容。"),
    "presenter.recalled": ("Memory brings up {n} earlier answers.", "记忆里有 {n} 条相关的旧回答。"),
    "presenter.recalled.one": ("Memory brings up one earlier answer.", "记忆里有 1 条相关的旧回答。"),
    "presenter.recalled.stale": (
        "The collection has changed since, so it is shown and not relied on.",
        "此后知识库变过，所以只列出，不采信。",
    ),
    "presenter.routed.kinds": ("The router sends the query to: {kinds}.", "路由者决定检索：{kinds}。"),
    "presenter.routed.wide": ("Free places may be filled from any of them.", "空余名额可由其中任何一类补上。"),
    "presenter.routed.missing": ("There are none of this kind here: {kinds}.", "这里没有这类来源：{kinds}。"),
    "presenter.kind.vector": ("knowledge base {share}", "知识库 {share}"),
    "presenter.kind.graph": ("entity notes {share}", "实体笔记 {share}"),
    "presenter.kind.temporal": ("study log {share}", "学习日志 {share}"),
    "presenter.routed.direct": (
        "The router decides to answer at once, without a search.",
        "路由者决定不检索，直接回答。",
    ),
    "presenter.routed.search": ("The router decides to begin with {strategy}.", "路由者决定先用{strategy}。"),
    "presenter.routed.memory": ("Without memory it would have searched.", "如果没有记忆，它会去检索。"),
    "presenter.strategy.hierarchical_search": (
        "a search from summaries down to passages",
        "从摘要到片段的分层检索",
    ),
    "presenter.strategy.direct_chunk_search": ("a search of the passages themselves", "直接检索片段"),
    "presenter.strategy.web_search": ("a web search", "网络检索"),
    "presenter.searched.by": ("By {strategy}: {sentence}", "{strategy}：{sentence}"),
    "presenter.documents.relevant": (
        "One that helps is enough, so an answer can be written.",
        "有一个有用的就够了，可以写回答了。",
    ),
    "presenter.documents.next": (
        "At least one must help, so another way is tried.",
        "至少要有一个有用，换一种办法再找。",
    ),
    "presenter.documents.exhausted": (
        "At least one must help, and every way has been tried: there will be no answer.",
        "至少要有一个有用，而所有办法都试过了：不会有回答。",
    ),
    "presenter.documents.strategies_exhausted": (
        "At least one must help, and every way has been tried.",
        "至少要有一个有用，而所有办法都试过了。",
    ),
    "presenter.documents.no_query": (
        "No new query was found, so the answer before stands.",
        "没有找到新的问法，保留先前的回答。",
    ),
    "presenter.documents.grader_unavailable": (
        "The grader cannot be reached any more, so the run ends here.",
        "质检员联系不上了，运行到此结束。",
    ),
    "presenter.documents.deadline": ("And the time is used up.", "而且时间用完了。"),
    "presenter.judged.scored": (
        "Each passage now has a chance of helping; the best has {best}.",
        "每个片段都有了“有用”的概率，最高的是 {best}。",
    ),
    "presenter.checked": (
        "The quality check gives {score} of 1, where {bar} is needed.",
        "质量检查得分 {score}（满分 1），及格线为 {bar}。",
    ),
    "presenter.checked.met": ("That is enough, so the answer can be written.", "已经够了，可以写回答了。"),
    "presenter.checked.low": (
        "That is too low, so the query is rewritten to mend what is missing: {issues}.",
        "太低了，于是针对不足之处改写问题：{issues}。",
    ),
    "presenter.checked.forced": (
        "That is too low, but {why}: the answer is based on what there is, and says so.",
        "太低了，但{why}：只能依据现有内容作答，并注明这一点。",
    ),
    "presenter.issue.low_coverage": ("too little of the learner's own history", "学习者自己的记录太少"),
    "presenter.issue.low_relevance": ("passages that match poorly", "片段不够相关"),
    "presenter.issue.single_source": ("only one kind of source", "来源种类单一"),
    "presenter.issue.too_few": ("too few passages", "片段太少"),
    "presenter.issue.no_passages": ("no passages at all", "没有片段"),
    "presenter.drafted": ("An answer is written, and goes to an evaluator.", "写出一份回答，交给评估者。"),
    "presenter.drafted.again": (
        "Answer number {n} is written: what was good stays, what was criticised changes.",
        "写出第 {n} 份回答：好的保留，被批评的修改。",
    ),
    "presenter.drafted.corrected": (
        "Another answer is written from what the new search found.",
        "根据新检索到的内容再写一份回答。",
    ),
    "presenter.drafted.direct": (
        "An answer is given without a search, and goes to an evaluator.",
        "不检索直接作答，交给评估者。",
    ),
    "presenter.evaluated.passed": ("The evaluator has nothing to object to.", "评估者没有意见。"),
    "presenter.evaluated.failed": ("The evaluator asks for {n} changes.", "评估者提出 {n} 处修改。"),
    "presenter.evaluated.failed.one": ("The evaluator asks for one change.", "评估者提出 1 处修改。"),
    "presenter.evaluated.none": ("The evaluator could not be heard.", "评估者没有回应。"),
    "presenter.evaluated.answer_off": (
        "So the question is rephrased, and everything is searched once more.",
        "于是改写问题，重新检索一遍。",
    ),
    "presenter.evaluated.revise": ("So the answer is revised.", "于是修改回答。"),
    "presenter.evaluated.max_corrections": (
        "No correction is left, so the best answer stands and is marked.",
        "修正次数已用完，留下最好的一份，并加以注明。",
    ),
    "presenter.evaluated.max_epochs": (
        "No revision is left, so the last answer stands and is marked.",
        "修改次数已用完，留下最后一份，并加以注明。",
    ),
    "presenter.evaluated.deadline": (
        "The time is used up, so the answer stands as it is.",
        "时间用完了，回答就此保留。",
    ),
    "presenter.evaluated.evaluator_failed": (
        "So the answer stands unevaluated, and says so.",
        "回答未经评估就此保留，并加以注明。",
    ),
    "presenter.kept.passed": ("The answer is kept in memory for the next time.", "这个回答存入记忆，供以后使用。"),
    "presenter.kept.failed": (
        "The answer did not pass: it is kept apart and will not be recalled as a fact.",
        "这个回答没有通过：单独存放，以后不会当作事实想起。",
    ),
    "presenter.rewritten.initial": ("For the search the question becomes: “{query}”.", "检索时问题变为：“{query}”。"),
    "presenter.rewritten.initial.same": ("The question is searched as it was asked.", "按原问题检索。"),
    "presenter.ended.passed_evaluation": (
        "The answer that the evaluator passed is the answer of the run.",
        "通过评估的这份回答就是最终回答。",
    ),
    "presenter.ended.marked": (
        "The answer stands, marked as one that did not pass in full.",
        "回答保留下来，并注明没有完全通过。",
    ),
}
