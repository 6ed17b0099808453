"""Words of the Connect view: collections that other programs made."""

from __future__ import annotations

from collections.abc import Mapping

CONNECT: Mapping[str, tuple[str, str]] = {
    "connect.intro": (
        "Ask questions of a Milvus collection that another program made. It is only read: nothing is written there, "
        "and a collection that is not loaded is loaded, never released.",
        "对别的程序建立的 Milvus 集合提问。这里只读取：不会向那边写入任何内容；未加载的集合会被加载，但绝不会被释放。",
    ),
    # Connections that are there
    "connect.kept": ("Connections", "已有连接"),
    "connect.none": (
        "No collection is connected yet. Begin below with the address.",
        "还没有连接任何集合。请从下面填写地址开始。",
    ),
    "connect.state.ok": ("answers", "可用"),
    "connect.state.down": ("does not answer", "不可用"),
    "connect.state.unknown": ("being looked at", "正在查看"),
    "connect.facts": (
        "{collection} at {address} · {passages} passages · {dim} dimensions · {metric} · {model}",
        "{address} 的 {collection} · {passages} 个片段 · {dim} 维 · {metric} · {model}",
    ),
    "connect.here": ("this workbench's own store", "本工作台自己的存储"),
    "connect.ask": ("Ask it", "向它提问"),
    "connect.disconnect": ("Disconnect", "断开"),
    "connect.disconnect.confirm": (
        "Disconnect {name}? The collection itself stays as it is; records of runs keep what they saw.",
        "断开 {name}？集合本身不会变动，运行记录中的内容会保留。",
    ),
    "connect.keep": ("Keep", "保留"),
    "connect.done": (
        "{name} is connected: {passages} passages, read only.",
        "{name} 已连接：{passages} 个片段，只读。",
    ),
    "connect.gone": ("{name} is disconnected.", "{name} 已断开。"),
    # 1 Place
    "connect.step.place": ("1 · Where it is", "1 · 位置"),
    "connect.address": ("Address", "地址"),
    "connect.address.help": (
        "A server, such as http://127.0.0.1:19530, or the path of a Milvus Lite folder that ends in .db. Left empty: "
        "collections in this workbench's own store that other programs made.",
        "服务器地址，如 http://127.0.0.1:19530；或以 .db 结尾的 Milvus Lite 文件夹路径。"
        "留空：本工作台自己的存储中由别的程序建立的集合。",
    ),
    "connect.token": ("Token", "令牌"),
    "connect.token.help": (
        "`user:password` or an API key, where the server wants one. It is kept on this machine, in a file that only "
        "you can read, and shown nowhere.",
        "服务器需要时填写 `用户:密码` 或 API 密钥。它只保存在本机仅你可读的文件里，不会在任何地方显示。",
    ),
    "connect.database": ("Database", "数据库"),
    "connect.database.help": ("Left empty: the server's default database.", "留空：服务器的默认数据库。"),
    "connect.look": ("Show collections", "显示集合"),
    "connect.looking": ("Looking at the store …", "正在查看存储……"),
    "connect.reading": ("Reading the collection …", "正在读取集合……"),
    "connect.checking": ("Re-embedding stored passages and comparing …", "正在重新嵌入已存片段并比较……"),
    "connect.asking": ("Asking the test questions …", "正在检索测试问题……"),
    "connect.connecting": ("Connecting …", "正在连接……"),
    "connect.stop": ("Stop waiting", "不再等待"),
    # 2 Collection
    "connect.step.collection": ("2 · Which collection", "2 · 选择集合"),
    "connect.nothing": (
        "There is no collection that could be connected. Check the database, or another address.",
        "没有可以连接的集合。请检查数据库，或换一个地址。",
    ),
    "connect.collection": ("Collection", "集合"),
    "connect.rows": ("Rows", "行数"),
    "connect.vectors": ("Vectors", "向量"),
    "connect.fits": ("Can be asked", "能否提问"),
    "connect.fits.yes": ("yes", "可以"),
    "connect.fits.own": ("yes · made by this program", "可以 · 由本程序建立"),
    "connect.fits.unloaded": ("yes · will be loaded", "可以 · 将被加载"),
    # 3 Fields
    "connect.step.fields": ("3 · What its fields hold", "3 · 各字段的内容"),
    "connect.field": ("Field", "字段"),
    "connect.type": ("Type", "类型"),
    "connect.sample": ("Sample", "样例"),
    "connect.key": ("key", "主键"),
    "connect.text": ("Text of the passage", "片段文字"),
    "connect.vector": ("Its vector", "片段向量"),
    "connect.source": ("Source", "来源"),
    "connect.title": ("Title", "标题"),
    "connect.section": ("Section", "小节"),
    "connect.no_field": ("– none –", "–无–"),
    "connect.dim": ("{dim} dimensions, compared by {metric}", "{dim} 维，按 {metric} 比较"),
    "connect.metric.note": (
        "Similarities are computed here from the vectors themselves, regardless of the metric.",
        "无论用哪种度量，相似度都在这里由向量本身算出。",
    ),
    # 4 Model
    "connect.step.model": ("4 · Which model made its vectors", "4 · 向量出自哪个模型"),
    "connect.model": ("Embedding model", "嵌入模型"),
    "connect.model.help": (
        "Questions must be embedded by the model that embedded the passages. Another model of Ollama can be typed in "
        "as ollama:NAME.",
        "问题必须用嵌入片段的同一个模型来嵌入。也可以输入 ollama:名称 使用 Ollama 的其他模型。",
    ),
    "connect.why.dimension": (
        "Its vectors have {dim} numbers, like these. Whether it is the one, the check tells.",
        "它的向量同样是 {dim} 维。是否就是它，检查一下便知。",
    ),
    "connect.why.installed": (
        "Ollama has it, and its vectors have {dim} numbers, like these.",
        "Ollama 里已有它，它的向量同样是 {dim} 维。",
    ),
    "connect.why.not_pulled": (
        "Its vectors have {dim} numbers, like these, but Ollama does not have it yet.",
        "它的向量同样是 {dim} 维，但 Ollama 里还没有它。",
    ),
    "connect.why.recorded": (
        "The catalogue of this program there says that it was used.",
        "那边由本程序写下的目录记着用的就是它。",
    ),
    "connect.why.typed": ("Typed in; the check tells whether it fits.", "手动输入；是否合适，检查一下便知。"),
    "connect.no_model": (
        "No model that can run here makes vectors of {dim} numbers. Type one of Ollama's as ollama:NAME, or ingest the "
        "sources again into a collection of your own.",
        "这里没有能产生 {dim} 维向量的模型。请输入 Ollama 的模型（ollama:名称），或把来源重新导入自己的集合。",
    ),
    "connect.prefix.query": ("Before a query", "查询前缀"),
    "connect.prefix.passage": ("Before a passage", "片段前缀"),
    "connect.prefix.help": (
        "Words that the other program put before each text it embedded. Those preset are the ones known for the model.",
        "另一个程序在嵌入前给每段文字加的前缀。预填的是该模型已知的前缀。",
    ),
    "connect.prefix.own": ("Set the prefixes", "自定义前缀"),
    "connect.prefix.fixed": ("Prefixes are the model's own.", "前缀由模型自带。"),
    # 5 Check
    "connect.step.check": ("5 · Check it", "5 · 检查"),
    "connect.check": ("Check the model", "检查模型"),
    "connect.check.help": (
        "Re-embeds up to twenty stored passages and compares with their stored vectors; it takes some seconds.",
        "重新嵌入至多二十个已存片段，与存储的向量比较，需要若干秒。",
    ),
    "connect.verdict.same": (
        "This is the model: stored vectors and its own agree.",
        "就是这个模型：存储的向量与它算出的一致。",
    ),
    "connect.verdict.related": (
        "Nearly this model: another version of it, other prefixes, or texts that were cut. Questions find passages, "
        "but similarities come out lower.",
        "接近这个模型：可能是另一个版本、用了别的前缀，或文字被截断过。能找到片段，但相似度会偏低。",
    ),
    "connect.verdict.other": (
        "Another model made these vectors, though the number of dimensions is the same. Choose another one.",
        "这些向量出自别的模型，只是维数恰好相同。请换一个模型。",
    ),
    "connect.verdict.text": (
        "The model may be right, but these vectors were not made of this text. Choose the field that holds what was "
        "embedded.",
        "模型可能没有问题，但这些向量不是由这个字段的文字得到的。请选择当时被嵌入的字段。",
    ),
    "connect.verdict.figures": (
        "Mean cosine {cosine} over {asked} passages · {first} of {asked} find themselves first",
        "{asked} 个片段的平均余弦 {cosine} · 其中 {first} 个用自己的文字能首先找到自己",
    ),
    "connect.verdict.empty": (
        "There is no passage with text to compare.",
        "没有带文字的片段可供比较。",
    ),
    "connect.verdict.uneven": (
        "The model is right, but by {metric} long vectors come first, so the store may leave out near passages.",
        "模型没有问题，但按 {metric} 比较时较长的向量会排在前面，存储可能漏掉相近的片段。",
    ),
    "connect.better": (
        "With the prefixes “{query}” and “{passage}” the mean cosine is {cosine}.",
        "使用前缀“{query}”和“{passage}”时，平均余弦为 {cosine}。",
    ),
    "connect.better.take": ("Take these prefixes", "采用这些前缀"),
    "connect.questions": ("Test questions, one a line", "测试问题，每行一个"),
    "connect.questions.help": (
        "Questions that the collection should answer, and perhaps one that it should not.",
        "集合应能回答的问题，也可以放一个它答不了的。",
    ),
    "connect.probe": ("Ask", "检索"),
    "connect.sensible": ("finds something near", "找到相近内容"),
    "connect.not_sensible": ("finds nothing near", "没有相近内容"),
    "connect.found_nothing": ("The collection gave no passage.", "集合没有给出片段。"),
    # 6 Name
    "connect.step.name": ("6 · Its name here", "6 · 在这里的名称"),
    "connect.name": ("Name", "名称"),
    "connect.name.help": (
        "Letters, digits and underscores, beginning with a letter. Runs, the API and the command line use it.",
        "字母、数字和下划线，以字母开头。运行、API 和命令行都用这个名称。",
    ),
    "connect.connect": ("Connect", "连接"),
    "connect.unchecked": (
        "Check the model first: with the wrong one every search would find noise.",
        "请先检查模型：模型不对，检索到的都是杂乱内容。",
    ),
}
