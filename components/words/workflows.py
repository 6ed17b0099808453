"""Words of the four workflows: what each does, and the settings that only it has."""

from __future__ import annotations

WORKFLOWS: dict[str, tuple[str, str]] = {
    "workflow.about.self_corrective": (
        "Grades each passage, and rephrases the question while too few pass.",
        "逐条质检片段，通过太少就改写问题再查。",
    ),
    "workflow.about.quality_loop": (
        "Searches several kinds of sources, scores what came back, and rewrites while the score is low.",
        "同时检索多类来源，给结果打分，得分低就重写。",
    ),
    "workflow.about.dual_loop": (
        "Tries one search after the other until passages help, then corrects the answer until it fits. It remembers.",
        "依次换用检索方式直到片段有用，再纠正回答直到切题；会记住答过的问题。",
    ),
    "workflow.about.answer_evaluation": (
        "Searches as the four-node loop does, then has each answer judged and revised.",
        "检索与四节点循环相同，之后评估每一稿回答并修改。",
    ),
    "workflow.intro.self_corrective": (
        "Retrieve passages, let an independent grader judge each one, rephrase the question if too few pass, "
        "and answer only from what passed. Everything that happened stays visible below.",
        "先检索片段，由独立的质检员逐条判定；通过太少就改写问题再检索，最后只依据通过的片段作答。全过程都会留在下方。",
    ),
    "workflow.intro.quality_loop": (
        "A router picks among knowledge base, entity notes and study log; the lists are merged, reranked and scored on "
        "four dimensions. A low score sends a rewritten question back to the router.",
        "路由者在知识库、实体笔记和学习日志之间选择来源，各路结果合并、重排，再按四个维度打分。得分低就改写问题，交回路由者。",
    ),
    "workflow.intro.dual_loop": (
        "The inner loop changes the way of searching until a passage helps; the outer loop rewrites the question until "
        "the answer fits it. Answers that passed are remembered for later questions.",
        "内层循环不断换检索方式，直到有片段帮得上忙；外层循环不断改写问题，直到回答切题。通过的回答会记下来，供以后参考。",
    ),
    "workflow.intro.answer_evaluation": (
        "Passages are found and graded as in the four-node loop. Then an evaluator judges the answer for sense and "
        "evidence, and the generator revises it until nothing is left to suggest.",
        "先像四节点循环那样检索和质检，再由评估者检查回答是否合理、有据；生成者据此修改，直到没有建议为止。",
    ),
    "ask.sample.sources": ("asks for several kinds of sources", "需要多类来源"),
    "ask.sample.direct": ("needs no search", "无需检索"),
    "ask.sample.overview": ("asks for an overview", "问概况"),
    "run.other_workflow": (
        "The run below is one of the workflow “{run}”; press Run to ask the one chosen at the left.",
        "下方是“{run}”的一次运行；按“运行”即用左侧所选的工作流提问。",
    ),
    # Settings of the quality-control loop
    "settings.weights": ("Quality score: weights", "质量得分：权重"),
    "settings.weights.help": (
        "The score is the sum of four shares between 0 and 1, each times its weight. The weights always sum to 1: "
        "moving one changes those below it, the last one changes those above it.",
        "得分是四个 0 到 1 之间的值各乘以权重之和。权重之和总是 1："
        "移动一个，由它下面的几个补足；移动最后一个，由上面的补足。",
    ),
    "settings.weights.change": ("Change the weights", "调整权重"),
    "settings.coverage_weight": ("Study log", "薄弱点覆盖"),
    "settings.coverage_weight.help": (
        "Share of passages from the dated study log, where weak points are noted. Usual: 0.40.",
        "来自按日期记录的学习日志（记有薄弱点）的片段所占比例。常用 0.40。",
    ),
    "settings.relevance_weight": ("Relevance", "平均相关性"),
    "settings.relevance_weight.help": (
        "Mean probability that a passage is relevant, as the grader sees it. Usual: 0.30.",
        "质检员给出的相关概率的平均值。常用 0.30。",
    ),
    "settings.diversity_weight": ("Kinds of sources", "来源多样性"),
    "settings.diversity_weight.help": (
        "How many of the three kinds of sources the passages come from. Usual: 0.20.",
        "片段来自三类来源中的几类。常用 0.20。",
    ),
    "settings.count_weight": ("Number of passages", "片段数量"),
    "settings.count_weight.help": (
        "How many passages there are; twenty count in full. Usual: 0.10.",
        "片段有多少个；二十个算满。常用 0.10。",
    ),
    "settings.weights.off": (
        "These weights sum to {sum}; they count as {shares}.",
        "这些权重之和为 {sum}，实际按 {shares} 计算。",
    ),
    "settings.weights.normalise": ("Make them sum to 1", "调整为总和 1"),
    "settings.grade_on": ("Grade on", "评分依据"),
    "settings.grade_on.weighted": ("Weighted score", "加权得分"),
    "settings.grade_on.top3": ("Best three", "前三名"),
    "settings.grade_on.help": (
        "Which number is graded: the weighted score, or the mean relevance of the three best passages. "
        "Both are computed and shown.",
        "以哪个数评级：加权得分，或最好三个片段的平均相关性。两者都会计算并显示。",
    ),
    "settings.medium_score": ("Medium from", "中等起点"),
    "settings.medium_score.help": (
        "A lower score is graded low, and the question is rewritten. Usual: 0.50.",
        "低于此分评为低，问题会被重写。常用 0.50。",
    ),
    "settings.high_score": ("High from", "高分起点"),
    "settings.high_score.help": (
        "A score from here on is graded high. It is never below medium. Usual: 0.70.",
        "达到此分评为高，不会低于中等起点。常用 0.70。",
    ),
    "settings.ceiling.unreachable": (
        "With these settings the score is at most {score}, below the {bar} that it needs: every question would use up "
        "all its rewrites.",
        "按这些设置，得分最高只有 {score}，达不到所需的 {bar}：每个问题都会用完全部重写。",
    ),
    "settings.ceiling.first": (
        "With these settings the first round of a question that names no kind of source scores at most {score}, below "
        "the {bar} that it needs: it is rewritten before it is answered. Raise top-k or lower the bar to let one round "
        "be enough.",
        "按这些设置，没有指明来源类型的问题，首轮得分最高只有 {score}，达不到所需的 {bar}，总要先重写再回答。"
        "想让一轮就够，可以调高 top-k 或降低起点。",
    ),
    "settings.ceiling.high": (
        "With these settings the score is at most {score}: high ({bar}) cannot be reached, medium can.",
        "按这些设置，得分最高 {score}：达不到高（{bar}），能达到中。",
    ),
    "settings.ceiling.missing": (
        "The collection has no passages of these kinds: {kinds}.",
        "这个集合里没有这几类片段：{kinds}。",
    ),
    "settings.ceiling.remedy": (
        "Raise top-k, lower the bar, or grade on the best three.",
        "可以调高 top-k、降低起点，或改按前三名评级。",
    ),
    "settings.rewriter_temperature": (
        "In this workflow a rewriter on a chat model is asked at temperature 0.30 where this is 0.",
        "在此工作流中，温度为 0 时重写员的对话模型按 0.30 运行。",
    ),
    # Settings of the dual loop
    "settings.outer": ("Outer loop", "外层循环"),
    "settings.max_corrections": ("Corrections at most", "最多纠正次数"),
    "settings.max_corrections.help": (
        "How often an answer that misses the question may be corrected. Each one is a whole pass with a new search. "
        "Usual: 2.",
        "回答没有答到点上时最多纠正几次。每次都重新检索一遍。常用 2。",
    ),
    "settings.memory": ("Long-term memory", "长期记忆"),
    "settings.memory.help": (
        "Recalls earlier answers of this collection that passed, and keeps this one. Knowledge → Memory lists them.",
        "回忆本集合中通过检查的过往回答，并记下这一次的。“知识库 → 记忆”列出全部。",
    ),
    "settings.web_search": ("Search the web too", "也检索网络"),
    "settings.web_search.help": (
        "The last of the searches, where nothing local helped. What the web says is treated as untrusted text.",
        "本地检索都帮不上忙时的最后一步。网上的内容一律按不可信文本处理。",
    ),
    "settings.web_search.unset": (
        "Not available: set WORKBENCH_SEARXNG_URL to the address of a SearXNG search engine.",
        "不可用：请把 WORKBENCH_SEARXNG_URL 设为 SearXNG 搜索引擎的地址。",
    ),
    # Settings of the answer-evaluation loop
    "settings.answers": ("Answers", "回答"),
    "settings.gener_epoch": ("Answers at most", "最多写几稿"),
    "settings.gener_epoch.help": (
        "How many answers may be written, the first included. Each is judged; the last stands. Usual: 3.",
        "最多写几稿回答，包括第一稿。每稿都会评估，最后一稿为准。常用 3。",
    ),
    "settings.model.evaluator": ("Evaluator", "评估者"),
    "settings.model.router": ("Router", "路由者"),
    "role.evaluator": ("evaluator", "评估者"),
    "role.router": ("router", "路由者"),
    "settings.shared_model": (
        "Evaluator and generator are the same model: it would judge its own answers, and find fewer faults in them.",
        "评估者与生成者用的是同一个模型：自己评自己，容易看不出毛病。",
    ),
    # Before a run
    "settings.passes": ("{n} passes of {searches} searches", " {n} 遍、每遍 {searches} 种检索"),
    "settings.passes.one": ("1 pass of {searches} searches", " 1 遍、{searches} 种检索"),
    "settings.answers.n": ("{rounds} and {n} answers", "{rounds}、{n} 稿回答"),
    "settings.answers.n.one": ("{rounds} and 1 answer", "{rounds}、1 稿回答"),
    # Figures
    "figure.quality": ("Quality score", "质量得分"),
    "figure.quality.before": ("per round", "每轮一个值"),
    "figure.suggestions": ("Suggestions", "修改建议"),
    "figure.suggestions.before": ("per answer", "每稿一个数"),
    "figure.answers": ("answer {n} of at most {most}", "第 {n} 稿，最多 {most} 稿"),
    "figure.answers_n": ("{n} answers judged", "检查了 {n} 个回答"),
    "figure.answers_n.one": ("1 answer judged", "检查了 1 个回答"),
}
