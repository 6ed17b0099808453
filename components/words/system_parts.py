"""Words of the page System for the parts of the workbench and for the self-test of scores."""

from __future__ import annotations

SYSTEM_PARTS: dict[str, tuple[str, str]] = {
    # The verdict above all
    "health.verdict.ok": ("Everything that is set up works.", "已配置的部件全部正常。"),
    "health.verdict.warning": (
        "Everything works; {n} parts deserve a look.",
        "全部可用，有 {n} 个部件值得留意。",
    ),
    "health.verdict.warning.one": ("Everything works; one part deserves a look.", "全部可用，有 1 个部件值得留意。"),
    "health.verdict.down": (
        "{n} parts do not work: {names}. What to do stands beside each.",
        "有 {n} 个部件不可用：{names}。处理办法写在各项旁边。",
    ),
    "health.verdict.down.one": (
        "One part does not work: {names}. What to do stands beside it.",
        "有 1 个部件不可用：{names}。处理办法写在旁边。",
    ),
    "health.state.ok": ("works", "正常"),
    "health.state.warning": ("look at it", "请留意"),
    "health.state.down": ("does not work", "不可用"),
    "health.state.off": ("not set up", "未启用"),
    "health.part.knowledge": ("Knowledge base", "知识库"),
    "health.part.connection": ("Connection {name}", "外部集合 {name}"),
    "health.part.graphs": ("Knowledge graphs", "知识图谱"),
    "health.part.records": ("Records of runs", "运行记录"),
    "health.part.disk": ("Disk", "磁盘"),
    "health.part.embedder": ("Embedding model", "嵌入模型"),
    "health.part.grader": ("Built-in grader", "内置质检员"),
    "health.part.ollama": ("Ollama", "Ollama"),
    "health.part.provider": ("Other providers", "其他提供方"),
    "health.part.provider.named": ("Provider {name}", "提供方 {name}"),
    "health.part.web_search": ("Web search", "网络检索"),
    "health.part.reader": ("Document reader", "文档读取器"),
    "health.part.faults": ("Faults of this session", "本次启动以来的故障"),
    # Facts, each written where its numbers are known
    "health.fact.reader.formats": ("reads {n}", "可读取 {n}"),
    "health.fact.reader.idle": ("{n} readers waiting", "{n} 个读取进程空闲"),
    "health.fact.kind.embedded": ("embedded Milvus Lite {version}", "内嵌 Milvus Lite {version}"),
    "health.fact.kind.server": ("Milvus server {version}", "Milvus 服务器 {version}"),
    "health.fact.kind.embedded.plain": ("embedded Milvus Lite", "内嵌 Milvus Lite"),
    "health.fact.kind.server.plain": ("Milvus server", "Milvus 服务器"),
    "health.fact.kind.graph_file": ("a SQLite file, SQLite {version}", "SQLite 文件，SQLite {version}"),
    "health.fact.kind.neo4j": ("Neo4j server {version}", "Neo4j 服务器 {version}"),
    "health.fact.kind.graph_file.plain": ("a SQLite file", "SQLite 文件"),
    "health.fact.kind.neo4j.plain": ("Neo4j server", "Neo4j 服务器"),
    "health.fact.graphs": ("{n} graphs", "{n} 个图谱"),
    "health.fact.graphs.one": ("1 graph", "1 个图谱"),
    "health.fact.opening": ("being opened", "正在打开"),
    "health.fact.collections": ("{n} collections", "{n} 个集合"),
    "health.fact.collections.one": ("1 collection", "1 个集合"),
    "health.fact.passages": ("{n} passages", "{n} 个片段"),
    "health.fact.passages.one": ("1 passage", "1 个片段"),
    "health.fact.opened": ("opened in {time}", "打开用时 {time}"),
    "health.fact.runs": ("{n} runs", "{n} 次运行"),
    "health.fact.runs.one": ("1 run", "1 次运行"),
    "health.fact.free": ("{free} of {total} free", "剩余 {free} / 共 {total}"),
    "health.fact.dim": ("{n} dimensions", "{n} 维"),
    "health.fact.fallback": ("{model} stands in", "由 {model} 顶替"),
    "health.fact.concurrency": (
        "chat models grade {n} passages at once, as set",
        "对话模型按设置一次质检 {n} 个片段",
    ),
    "health.fact.version": ("version {version}", "版本 {version}"),
    "health.fact.models": ("{n} models", "{n} 个模型"),
    "health.fact.models.one": ("1 model", "1 个模型"),
    "health.fact.chat": ("{n} chat", "{n} 个可对话"),
    "health.fact.embedding": ("{n} embed", "{n} 个可嵌入"),
    "health.fact.needed.embedding_model": (
        "needed: new collections are embedded by it",
        "需要它：新集合由它嵌入",
    ),
    "health.fact.needed.collection": ("needed: a collection was embedded by it", "需要它：有集合由它嵌入"),
    "health.fact.needed.setting": ("needed: WORKBENCH_OLLAMA_URL names it", "需要它：WORKBENCH_OLLAMA_URL 指定了它"),
    "health.fact.needed.role": ("needed: it plays {roles}", "需要它：它担任{roles}"),
    "health.fact.faults.none": ("none since the start", "启动以来没有"),
    "health.fact.faults": ("{n} since the start; the last one:", "启动以来 {n} 次；最近一次："),
    "health.fact.faults.one": ("1 since the start:", "启动以来 1 次："),
    "health.fact.faults.over": ("{n} since the start, all over", "启动以来 {n} 次，均已恢复"),
    "health.fact.faults.over.one": ("1 since the start, over", "启动以来 1 次，已恢复"),
    "health.off.ollama": (
        "Not there, and nothing needs it: the built-in roles do the work. The view Models says how to get it.",
        "没有运行，也没有哪项需要它：内置角色在工作。“模型”一栏写明如何安装。",
    ),
    "health.off.provider": (
        "None is set up, and nothing needs one.",
        "尚未配置，也没有哪项需要。",
    ),
    "health.off.web_search": (
        "Not set: the dual loop marks its web strategy as skipped. To have it, start a SearXNG and name it:",
        "未设置：双循环会把网络检索记为跳过。需要的话，启动 SearXNG 并指明地址：",
    ),
    "health.off.other": ("Not set up, and nothing needs it.", "未启用，也没有哪项需要。"),
    "health.models": ("To the models", "查看模型"),
    # Self-test
    "selftest.intro": (
        "Is what the numbers mean still true on this machine? The embedding model, the store and the grader are asked "
        "questions whose answers are known beforehand. It reads and writes nothing of yours.",
        "在这台机器上，各个数字的含义还成立吗？向嵌入模型、存储和质检员提出答案已知的问题。不改动您的任何数据。",
    ),
    "selftest.collection": ("Collection", "集合"),
    "selftest.grader": ("with the grader {model}", "质检员：{model}"),
    "selftest.go": ("Test the scores", "开始自检"),
    "selftest.stop": ("Stop", "停止"),
    "selftest.running": ("{done} of {total} expectations tested", "已检验 {done} / {total} 项"),
    "selftest.empty": (
        "Not tested yet. It takes some seconds with built-in models.",
        "尚未自检。使用内置模型只需几秒。",
    ),
    "selftest.stopped": ("The self-test was stopped.", "自检已停止。"),
    "selftest.passed": ("All {n} expectations hold.", "{n} 项预期全部成立。"),
    "selftest.broken": (
        "{n} of {all} expectations do not hold: figures of this collection cannot be trusted until they do.",
        "{all} 项预期中有 {n} 项不成立：在解决之前，这个集合的数字不可信。",
    ),
    "selftest.of": ("{collection}, embedded by {model}", "{collection}，由 {model} 嵌入"),
    "selftest.holds": ("holds", "成立"),
    "selftest.fails": ("does not hold", "不成立"),
    "selftest.dimension": (
        "The model makes vectors of the length that the collection holds.",
        "模型产生的向量维数与集合一致。",
    ),
    "selftest.unit_length": (
        "Every vector has length 1, so a product of two is their cosine.",
        "每个向量长度为 1，因此两者的内积就是余弦。",
    ),
    "selftest.deterministic": ("The same text gets the same vector twice.", "同一段文字两次得到同一个向量。"),
    "selftest.prefixes": (
        "The prefixes recorded with the collection are the ones in use.",
        "集合记录的前缀就是正在使用的前缀。",
    ),
    "selftest.order": (
        "The store returns the nearest first, regardless of the sign of its metric.",
        "无论度量的正负号如何，存储都先返回最相近的。",
    ),
    "selftest.cosine": (
        "The cosine that the store reports is the one computed from the vectors.",
        "存储给出的余弦与由向量算出的一致。",
    ),
    "selftest.own_text": (
        "A passage's text, re-embedded, finds that passage first: the model is the one that built the collection.",
        "把片段正文重新嵌入后检索，首先找到它自己：模型就是当初建库的那个。",
    ),
    "selftest.floor": (
        "A passage's own words come out more similar than questions about something else.",
        "用片段自己的话提问，相似度高于问别的事。",
    ),
    "selftest.clear_yes": (
        "The grader passes a passage that plainly holds the answer.",
        "明显含有答案的片段，质检员判为通过。",
    ),
    "selftest.clear_no": (
        "The grader does not pass a passage about something else.",
        "说别的事的片段，质检员不予通过。",
    ),
    "selftest.numbers.dimension": ("{given} made, {stored} stored", "产生 {given} 维，存有 {stored} 维"),
    "selftest.numbers.unit_length": ("off by at most {off}", "最多相差 {off}"),
    "selftest.numbers.deterministic": ("differ by at most {off}", "最多相差 {off}"),
    "selftest.numbers.prefixes": (
        "query “{query}” · passage “{passage}” · cosine of the two {cosine}",
        "查询“{query}” · 片段“{passage}” · 两者余弦 {cosine}",
    ),
    "selftest.numbers.order": ("{hits} hits, {upturned} out of order", "{hits} 个结果，{upturned} 处顺序有误"),
    "selftest.numbers.cosine": ("{hits} hits, off by at most {off}", "{hits} 个结果，最多相差 {off}"),
    "selftest.numbers.own_text": (
        "{found} of {sample} passages, lowest cosine {lowest}",
        "{sample} 个片段中 {found} 个，最低余弦 {lowest}",
    ),
    "selftest.numbers.floor": (
        "own words {right}, something else {unrelated}; the floor is a cosine of {floor}",
        "自己的话 {right}，别的事 {unrelated}；基线为余弦 {floor}",
    ),
    "selftest.numbers.clear_yes": (
        "{right} of {asked}, lowest P(relevant) {low}",
        "{asked} 个中 {right} 个，最低相关概率 {low}",
    ),
    "selftest.numbers.clear_no": (
        "{right} of {asked}, highest P(relevant) {high}",
        "{asked} 个中 {right} 个，最高相关概率 {high}",
    ),
    "selftest.remedy.model": (
        "Re-embed the collection on the page Knowledge with the model that is installed now.",
        "请在“知识库”页用当前安装的模型重新嵌入这个集合。",
    ),
    "selftest.remedy.prefixes": (
        "Set the model's own prefixes for this collection on the page Knowledge.",
        "请在“知识库”页把这个集合的前缀改为模型自己的。",
    ),
    "selftest.remedy.store": (
        "The store gives other scores than it should: look at its version under Health, and report the diagnosis.",
        "存储给出的分数不对：请在“健康状况”查看其版本，并反馈诊断。",
    ),
    "selftest.remedy.grader": (
        "Choose another model for the grader under Models, or the built-in one.",
        "请在“模型”中为质检员换一个模型，或用内置的。",
    ),
}
