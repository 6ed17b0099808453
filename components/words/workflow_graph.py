"""Words of graph + vector retrieval: what it does, its modes, and the settings that only it has."""

from __future__ import annotations

WORKFLOW_GRAPH: dict[str, tuple[str, str]] = {
    "node.analyze_query": ("Analyse", "分析"),
    "node.refine_query": ("Refine", "优化查询"),
    "actor.reranker": ("reranker", "重排员"),
    "reason.bypass": ("the mode searches nothing", "此模式不检索"),
    "reason.simple": ("simple enough to answer at once", "问题简单，直接作答"),
    "reason.table_answers": ("a table of the question covers what it asks", "随问附上的表格已涵盖所问"),
    "reason.tables_only": ("to be answered from the attached tables alone", "只用所附表格作答"),
    "reason.needs_search": ("needs a search", "需要检索"),
    "gate.below_graph": ("graph score too low", "图谱得分过低"),
    "gate.below_rerank": ("rerank score too low", "重排得分过低"),
    "role.reranker": ("reranker", "重排员"),
    "settings.model.reranker": ("Reranker", "重排员"),
    "settings.workflow.graph_hybrid": ("Graph + vectors · 6 nodes", "图谱＋向量 · 6 个节点"),
    "workflow.about.graph_hybrid": (
        "Analyses the query, searches vectors and a knowledge graph in one of six modes, refines while too few pass.",
        "先分析问题，再按六种模式之一检索向量和知识图谱，通过太少就优化查询再查。",
    ),
    "workflow.intro.graph_hybrid": (
        "The query is analysed and routed; then vectors, the neighbourhood of the entities it names and summaries of "
        "communities are searched, made one list, reranked and graded. The answer comes from the graph, the tables and "
        "the passages that passed.",
        "先分析问题并选择路线，再检索向量、问题所提实体的邻域和社区摘要，合并重排后逐条质检；"
        "回答只依据图谱、表格和通过质检的片段。",
    ),
    # Modes
    "settings.mode": ("Mode", "模式"),
    "settings.mode.naive": ("Naive", "朴素"),
    "settings.mode.local": ("Local", "局部"),
    "settings.mode.global": ("Global", "全局"),
    "settings.mode.hybrid": ("Hybrid", "混合"),
    "settings.mode.mix": ("Mix", "融合"),
    "settings.mode.bypass": ("Bypass", "直答"),
    "settings.mode.about.naive": ("Vectors alone; the graph is not looked at.", "只用向量，不看图谱。"),
    "settings.mode.about.local": (
        "Entities of the query and their neighbourhood: precise where the question names things.",
        "从问题提到的实体出发，查其邻域：问题点名时最准。",
    ),
    "settings.mode.about.global": (
        "Summaries of communities: broad, for questions about the whole.",
        "先看社区摘要：面广，适合问整体。",
    ),
    "settings.mode.about.hybrid": (
        "Local and global at once, merged and reranked.",
        "局部与全局同时检索，合并后重排。",
    ),
    "settings.mode.about.mix": (
        "Graph and vectors together, reranked: the usual choice.",
        "图谱与向量一起检索再重排：一般选它。",
    ),
    "settings.mode.about.bypass": (
        "No search: answered without passages, so nothing is graded or cited.",
        "不检索：没有片段，因此不质检，也没有引用。",
    ),
    "settings.mode.help": (
        "Where passages are looked for. A mode that cannot do its own work (no graph, no entity found) says so. "
        "Usual: mix.",
        "到哪里找片段。某个模式做不了自己的事（没有图谱、没认出实体）会明说。常用：融合。",
    ),
    "settings.mode_from": ("Who picks the mode", "模式由谁定"),
    "settings.mode_from.config": ("You", "由你定"),
    "settings.mode_from.analysis": ("The analysis", "由分析定"),
    "settings.mode_from.help": (
        "The analysis of the query suggests a mode; it may pick it too. The choice above then counts where it "
        "suggests none.",
        "分析问题时会建议一个模式，也可以直接由它来定。",
    ),
    "settings.mode.analysed": (
        "The analysis of each query picks the mode.",
        "每次由问题分析来选模式。",
    ),
    # Graph
    "settings.graph": ("Graph", "图谱"),
    "settings.hops": ("Hops", "跳数"),
    "settings.hops.help": (
        "How many relationships away from the entities of the query the search may go. Usual: 1–2.",
        "从问题的实体出发，最多沿关系走几步。常用 1–2。",
    ),
    "settings.max_entities": ("Entities to begin from", "起始实体数"),
    "settings.max_entities.help": (
        "Entities of the query that a search begins from, at most. Usual: 5–10.",
        "检索最多从问题中的几个实体出发。常用 5–10。",
    ),
    "settings.max_communities": ("Communities", "社区数"),
    "settings.max_communities.help": (
        "How many of the nearest community summaries a global search looks inside. Usual: 2–5.",
        "全局检索查看最接近的几个社区摘要。常用 2–5。",
    ),
    "settings.graph_weight": ("Share of the graph", "图谱占比"),
    "settings.graph_weight.help": (
        "In mix: what the graph counts in the order; the rest is the vectors'. Usual: 0.30–0.70.",
        "“融合”模式下图谱在排序中所占的份量，其余归向量。常用 0.30–0.70。",
    ),
    "settings.graph_threshold": ("Graph score at least", "图谱得分不低于"),
    "settings.graph_threshold.help": (
        "What the graph found is cut by this, and not by its similarity: the second step of a chain is seldom like "
        "the question. 0 cuts nothing.",
        "图谱找到的片段按此值取舍，不按相似度：链条的第二步往往与问题并不相似。0 表示不剔除。",
    ),
    # Order
    "settings.order": ("Order", "排序"),
    "settings.rerank": ("Rerank", "重排"),
    "settings.rerank.by_mode": ("By mode", "随模式"),
    "settings.rerank.always": ("Always", "总是"),
    "settings.rerank.never": ("Never", "从不"),
    "settings.rerank.help": (
        "Whether the best passages are reranked against the question: in hybrid and mix alone, always, or never.",
        "是否把靠前的片段与问题重新打分：只在“混合”和“融合”里、总是，或从不。",
    ),
    "settings.rerank_k": ("Reranked at most", "最多重排几个"),
    "settings.rerank_k.help": (
        "How many of the best passages are reranked. Usual: 10–30.",
        "靠前的多少个片段重新打分。常用 10–30。",
    ),
    "settings.rerank_threshold": ("Rerank score at least", "重排得分不低于"),
    "settings.rerank_threshold.help": (
        "Passages reranked below this are dropped. 0 cuts nothing.",
        "重新打分后低于此值的片段被剔除。0 表示不剔除。",
    ),
    "settings.duplicate_threshold": ("Duplicate from", "视为重复的相似度"),
    "settings.duplicate_threshold.help": (
        "A passage this much like a better one goes below all that repeat nothing. Usual: 0.80–0.95.",
        "与更靠前的片段相似到此程度，就排到所有不重复的片段之后。常用 0.80–0.95。",
    ),
    "settings.freshness_weight": ("Weight of newness", "新旧的份量"),
    "settings.freshness_weight.help": (
        "What being the newest dated passage counts in the order, against 1 for relevance. Usual: 0–0.30.",
        "有日期的片段中，越新越靠前；相关性计 1，新旧计此值。常用 0–0.30。",
    ),
    # Context
    "settings.context_graph": ("Context", "上下文"),
    "settings.context_tokens": ("Context, tokens", "上下文词元数"),
    "settings.context_tokens.help": (
        "Budget for graph, tables and passages together; never more than the generator takes. Usual: 1000–4000.",
        "图谱、表格和片段合计的上限，不会超过生成者的容量。常用 1000–4000。",
    ),
    "settings.refine": ("Cut passages to what bears", "精简片段"),
    "settings.refine.help": (
        "Leaves out sentences that do not bear on the question before the answer is written. Citations still point to "
        "the whole passage.",
        "作答前去掉与问题无关的句子；引用仍指向整个片段。",
    ),
    "settings.sentence_threshold": ("Bearing at least", "句子相关度不低于"),
    "settings.sentence_threshold.help": (
        "Sentences that bear less than this on the question are left out; at least one of a passage stays. "
        "Usual: 0.20–0.50.",
        "与问题的相关度低于此值的句子略去；每个片段至少留一句。常用 0.20–0.50。",
    ),
    "settings.tables_only": ("Attached tables alone", "只用所附表格"),
    "settings.tables_only.help": (
        "A question with tables is answered from them alone; the collection is not searched.",
        "随问题附上表格时只凭表格作答，不检索集合。",
    ),
    "settings.answer_directly": ("Answer simple queries directly", "简单问题直接回答"),
    "settings.answer_directly.help": (
        "Small talk and the like need no search.",
        "寒暄一类的问题无需检索。",
    ),
    # Figures
    "figure.context": ("Context", "上下文"),
    "figure.context.before": ("tokens of its budget", "占预算的词元数"),
    "figure.context.none": ("nothing was searched", "没有检索"),
    "figure.context.of": ("of {most}", "上限 {most}"),
    "figure.tokens": ("{n} tokens", "{n} 词元"),
    "figure.passages": ("{n} passages", "{n} 个片段"),
    "figure.passages.one": ("1 passage", "1 个片段"),
    "figure.relationships": ("{n} relationships", "{n} 条关系"),
    "figure.relationships.one": ("1 relationship", "1 条关系"),
    "figure.tables": ("{n} tables", "{n} 个表格"),
    "figure.tables.one": ("1 table", "1 个表格"),
}
