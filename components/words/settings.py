"""Words of the configuration panel."""

from __future__ import annotations

SETTINGS = {
    "settings.title": ("Configuration", "配置"),
    "settings.workflow": ("Workflow", "工作流"),
    "settings.workflow.self_corrective": ("Self-corrective · 4 nodes", "自省修正 · 4 个节点"),
    "settings.workflow.quality_loop": ("Quality control · 7 nodes", "质量控制 · 7 个节点"),
    "settings.workflow.dual_loop": ("Dual loop · 9 nodes", "双循环 · 9 个节点"),
    "settings.workflow.answer_evaluation": ("Answer evaluation · 6 nodes", "回答评估 · 6 个节点"),
    "settings.collection": ("Collection", "集合"),
    "settings.collection.size": ("{n} passages", "{n} 个片段"),
    "settings.collection.size.one": ("1 passage", "1 个片段"),
    "settings.collection.samples": ("Samples", "示例知识库"),
    "settings.collection.help": (
        "What is searched. Add your own files on the Knowledge page.",
        "检索的范围。可在“知识库”页添加自己的文件。",
    ),
    "settings.search": ("Search", "检索方式"),
    "settings.search.vector": ("by meaning", "按语义"),
    "settings.search.full_text": ("by words", "按词语"),
    "settings.search.fused": ("both", "两者融合"),
    "settings.search.help": (
        "By meaning (vectors) finds what says the same in other words. By words (BM25) finds exact names, numbers and "
        "terms. Both merges the two lists by reciprocal rank, so that what either puts first comes early. "
        "Usual: by meaning; both where questions hold names, codes or rare terms.",
        "按语义（向量）能找到换了说法的内容；按词语（BM25）能找到确切的名称、数字和术语；"
        "两者融合按倒数排名合并两份结果，任一方排在前面的都会靠前。"
        "常用：按语义；问题里有名称、编号或生僻术语时用两者融合。",
    ),
    "settings.search.full_text.note": (
        "Words decide the order. The similarity threshold is still about meaning: each passage found is measured "
        "against the question and dropped below it.",
        "由词语决定排序。相似度阈值衡量的仍是语义：找到的每个片段都会与问题比对，低于阈值即剔除。",
    ),
    "settings.search.fused.note": (
        "Both lists decide the order. The similarity threshold is still about meaning: what words alone found is "
        "measured too, and dropped below it.",
        "由两份结果共同决定排序。相似度阈值衡量的仍是语义：只靠词语找到的片段同样会比对，低于阈值即剔除。",
    ),
    "settings.search.none": (
        "This collection has no full-text index, so it is searched by meaning alone.",
        "这个集合没有全文索引，只能按语义检索。",
    ),
    "settings.search.add": ("Add one on the page Knowledge", "到“知识库”页添加"),
    "settings.thresholds": ("Thresholds", "阈值"),
    "settings.preset": ("Preset", "预设"),
    "settings.preset.lenient": ("Lenient", "宽松"),
    "settings.preset.balanced": ("Balanced", "均衡"),
    "settings.preset.strict": ("Strict", "严格"),
    "settings.preset.help": (
        "Sets the pass rate alone: lenient 0.40, balanced 0.60, strict 0.80.",
        "只设置通过率：宽松 0.40，均衡 0.60，严格 0.80。",
    ),
    "settings.top_k": ("Top-k", "Top-k"),
    "settings.top_k.help": (
        "How many of the best candidates may be kept and graded. More finds more and costs more grading. Usual: 5–10.",
        "最多保留并质检多少个候选片段。越大找得越全，质检开销也越大。常用 5–10。",
    ),
    "settings.similarity_threshold": ("Similarity at least", "相似度不低于"),
    "settings.similarity_threshold.help": (
        "Candidates less similar than this are dropped before grading, and stay visible with their margin. "
        "0 is unrelated text, a right passage is usually near 0.5. It is about meaning also where words decide the "
        "order. Usual: 0.30–0.50.",
        "低于此值的候选在质检前被剔除，但仍会列出并注明差值。"
        "0 表示与无关文本相当，正确片段通常在 0.5 左右。即使按词语排序，它衡量的也始终是语义。常用 0.30–0.50。",
    ),
    "settings.grade_pass_threshold": ("Pass rate at least", "通过率不低于"),
    "settings.grade_pass_threshold.help": (
        "Share of kept passages that must pass the grader; below it the question is rewritten. Usual: 0.40–0.80.",
        "通过质检的片段占保留片段的比例；低于此值就重写问题。常用 0.40–0.80。",
    ),
    "settings.max_rewrites": ("Rewrites at most", "最多重写次数"),
    "settings.max_rewrites.help": (
        "How often the question may be rephrased and searched again. Each one adds a full round. Usual: 2–3.",
        "最多改写并重新检索几次。每次都会多跑一整轮。常用 2–3。",
    ),
    "settings.usual": ("usual {low}–{high}", "常用 {low}–{high}"),
    "settings.gate": ("Gate", "放行条件"),
    "settings.gate.pass_rate": ("Pass rate", "按通过率"),
    "settings.gate.min_relevant": ("At least n passages", "至少 n 个片段"),
    "settings.gate.help": (
        "When to stop searching: when a share of the kept passages passed, or as soon as n passages passed. "
        "Where one passage holds the answer, a pass rate of 0.60 cannot be met while five are kept.",
        "何时停止检索：保留片段中达到一定比例通过，或者通过的片段够 n 个。"
        "若答案只在一个片段里，保留五个时 0.60 的通过率不可能达到。",
    ),
    "settings.min_relevant": ("Passages that must pass", "须通过的片段数"),
    "settings.min_relevant.help": (
        "Distinct passages that passed, over all rounds when the context is their union.",
        "通过质检的不同片段数；上下文取“各轮合并”时按所有轮次累计。",
    ),
    "settings.models": ("Models", "模型"),
    "settings.model.grader": ("Grader", "质检员"),
    "settings.model.rewriter": ("Rewriter", "重写员"),
    "settings.model.generator": ("Generator", "生成者"),
    "settings.model.builtin": ("built-in", "内置"),
    "settings.model.help": (
        "Built-in needs no server. Installed Ollama models are listed; any other is typed as provider:model.",
        "内置模型无需服务器。已安装的 Ollama 模型会列出；其他模型请输入 provider:model。",
    ),
    "settings.ollama.found": ("Ollama {version} · {n} models", "Ollama {version} · {n} 个模型"),
    "settings.ollama.found.one": ("Ollama {version} · 1 model", "Ollama {version} · 1 个模型"),
    "settings.ollama.missing": (
        "No Ollama at {address}: built-in models do the work.",
        "{address} 没有 Ollama，由内置模型完成。",
    ),
    "settings.ollama.needed": (
        "No Ollama at {address}, and a model chosen here needs it.",
        "{address} 没有 Ollama，而这里选用的模型需要它。",
    ),
    "settings.ollama.refresh": ("Look again", "重新查找"),
    "settings.more": ("More settings", "更多设置"),
    "settings.context": ("Passages for the answer", "回答所用片段"),
    "settings.context.union": ("All rounds", "各轮合并"),
    "settings.context.last_round": ("Last round", "仅最后一轮"),
    "settings.context.help": (
        "Passed passages of all rounds together, or of the last round alone.",
        "使用所有轮次通过的片段，或只用最后一轮的。",
    ),
    "settings.min_confidence": ("P(relevant) at least", "相关概率不低于"),
    "settings.min_confidence.help": (
        "A passage passes when the grader's probability that it is relevant reaches this.",
        "质检员给出的相关概率达到此值，片段才算通过。",
    ),
    "settings.probe_k": ("Candidates looked at", "探查候选数"),
    "settings.probe_k.help": (
        "How deep the search looks. What lies beyond top-k is not graded but stays visible.",
        "检索看多深。超出 top-k 的不质检，但会列出。",
    ),
    "settings.budget_s": ("Time budget, seconds", "时间预算（秒）"),
    "settings.budget_s.help": (
        "After it, no further search: one answer is made from what there is.",
        "超时后不再检索，用已有片段作答一次。",
    ),
    "settings.answer_unverified": ("Answer even if nothing passed", "无片段通过时也作答"),
    "settings.answer_unverified.help": (
        "Uses the best unverified passages; the answer is then marked as unverified.",
        "使用最好的未通过片段，并把回答标为“未经核实”。",
    ),
    "settings.grade_probe": ("Grade all candidates", "质检全部候选"),
    "settings.grade_probe.help": (
        "Also grades what the gates dropped: costs more, shows more.",
        "连被剔除的候选也质检：开销更大，信息更全。",
    ),
    "settings.ignore_cache": ("Ignore stored verdicts", "忽略已存判定"),
    "settings.ignore_cache.help": (
        "Asks a chat model again even where the same verdict is stored.",
        "即使已有相同判定，也重新询问模型。",
    ),
    "settings.before": ("Before you run", "运行之前"),
    "settings.before.builtin": (
        "All roles are built in: no model calls, at most {rounds}.",
        "全部角色均为内置：不调用模型，最多{rounds}。",
    ),
    "settings.before.calls": (
        "Worst case {n} model calls in {rounds}, within {budget} s.",
        "最坏情况：{rounds}共 {n} 次模型调用，限时 {budget} 秒。",
    ),
    "settings.before.calls.one": (
        "Worst case 1 model call in {rounds}, within {budget} s.",
        "最坏情况：{rounds}共 1 次模型调用，限时 {budget} 秒。",
    ),
    "settings.rounds": ("{n} rounds", " {n} 轮"),
    "settings.rounds.one": ("1 round", " 1 轮"),
    "settings.chat": ("Chat models", "对话模型"),
    "settings.num_ctx": ("Context, tokens (num_ctx)", "上下文词元数（num_ctx）"),
    "settings.num_ctx.help": (
        "How much a model of Ollama reads at once. A prompt that does not fit is refused; more needs more memory. "
        "Usual: 8192.",
        "Ollama 模型一次能读多少。放不下的提示会被拒绝；越大越占内存。常用 8192。",
    ),
    "settings.temperature": ("Temperature", "温度"),
    "settings.temperature.help": (
        "0 gives the same reply each time; more varies the wording, and verdicts with it. Usual: 0.",
        "0 表示每次回复相同；越高措辞越多变，判定也随之变化。常用 0。",
    ),
}
