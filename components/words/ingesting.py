"""Words of the Knowledge page that put files in: what to add, the preview before it, and the jobs that do it."""

from __future__ import annotations

from collections.abc import Mapping

INGESTING: Mapping[str, tuple[str, str]] = {
    # What to add
    "kb.upload": ("Add files", "添加文件"),
    "kb.from": ("Where the files are", "文件在哪里"),
    "kb.from.files": ("Upload files", "上传文件"),
    "kb.from.folder": ("Folder on this machine", "本机文件夹"),
    "kb.upload.help": ("Up to {mb} MB each: {suffixes}.", "每个不超过 {mb} MB：{suffixes}。"),
    "kb.choose": ("Choose files", "选择文件"),
    "kb.most": ("or drop them here, up to {mb} MB each", "或拖放到这里，每个不超过 {mb} MB"),
    "kb.formats": (
        "PDF, Word, PowerPoint, Excel, HTML, Markdown, text, CSV and JSON. Files are read on this machine, and nothing "
        "is fetched that they link to.",
        "PDF、Word、PowerPoint、Excel、HTML、Markdown、纯文本、CSV 和 JSON。文件只在本机读取，其中的链接一概不访问。",
    ),
    "kb.folder": ("Path of a folder or a file", "文件夹或文件的路径"),
    "kb.folder.help": (
        "Of the machine where the workbench runs, which need not be the one with this browser. Files in folders below "
        "go in too; hidden ones, pictures and the like, and links that lead outside are left out.",
        "指运行本工作台的那台机器上的路径，不一定是打开浏览器的这台。子文件夹里的文件也会入库；"
        "隐藏文件、图片等非文档文件和指向外面的链接除外。",
    ),
    "kb.folder.empty": (
        "No file that can be read was found under this path. Known kinds: {suffixes}.",
        "这个路径下没有可读取的文件。支持的类型：{suffixes}。",
    ),
    "kb.kinds": (
        "A Markdown file names its kind between two lines `---` at its very top: `kind: temporal` for the dated study "
        "log, `kind: graph` for entity notes. Anything else is knowledge base. To change it, add the file again.",
        "Markdown 文件在最开头的两行 `---` 之间写明类别：`kind: temporal` 是按日期记录的学习日志，"
        "`kind: graph` 是实体笔记；不写就是知识库。要改类别，改好文件再添加一次。",
    ),
    "kb.start": ("Import", "导入"),
    "kb.preview": ("Preview", "预览"),
    "kb.preview.help": (
        "Reads and cuts the files, and shows what would go in. Nothing is embedded or written.",
        "读取并切分文件，先看看会放进哪些内容。不做嵌入，也不写入。",
    ),
    "kb.first": (
        "Choose files, then look at the preview: how they are cut, what is new, what cannot be read.",
        "先选择文件，再看预览：怎样切分、哪些是新的、哪些读不了。",
    ),
    # Where to
    "kb.into": ("Into collection", "目标集合"),
    "kb.into.new": ("＋ New collection", "＋ 新集合"),
    "kb.into.rows": ("{name} · {size} passages", "{name} · {size} 个片段"),
    "kb.into.rows.one": ("{name} · 1 passage", "{name} · 1 个片段"),
    "kb.name": ("Name", "名称"),
    "kb.name.help": (
        "Letters, digits and underscores, beginning with a letter: runs and links name it so. Anything else can stand "
        "in the description.",
        "英文字母、数字和下划线，以字母开头：运行和链接都用这个名字。中文名称可以写在说明里。",
    ),
    "kb.name.taken": (
        "A collection {name} is there already; files go into it as it is.",
        "集合 {name} 已经存在，文件会按它原有的设置放进去。",
    ),
    "kb.description": ("Description", "说明"),
    "kb.description.hint": ("What it holds, for those who choose it", "里面是什么，供选择时参考"),
    "kb.model": ("Embedding model", "嵌入模型"),
    "kb.model.help": (
        "Fixed for the collection: its vectors are comparable with those of this model alone. Another model needs a "
        "re-embedding, on the tab Collections.",
        "每个集合固定用一个模型：它的向量只能与同一模型的向量比较。以后要换模型，可在“集合”里重新嵌入。",
    ),
    "kb.model.existing": (
        "Embedded with {model}, {dim} dimensions, as the collection was.",
        "沿用该集合的嵌入模型：{model}，{dim} 维。",
    ),
    "kb.model.builtin": ("Built in · multilingual E5 small", "内置 · multilingual E5 small"),
    "kb.model.hashing": ("Hashing · words only", "哈希 · 只看字面"),
    "kb.model.builtin.fact": (
        "{dim} dimensions · Chinese, English and about 90 more",
        "{dim} 维 · 中文、英文及约 90 种语言",
    ),
    "kb.model.hashing.fact": (
        "{dim} dimensions · any language, but wording and not meaning · for trials",
        "{dim} 维 · 任何语言，但只比对字面、不懂含义 · 适合试用",
    ),
    "kb.model.ollama.fact": (
        "{dim} dimensions · runs in Ollama: its languages are those of the model",
        "{dim} 维 · 由 Ollama 运行：语言取决于模型",
    ),
    "kb.model.pace.measured": (
        "about {rate} passages of {size} tokens a second, measured here",
        "本机实测每秒约 {rate} 个片段（每个 {size} 个词元）",
    ),
    "kb.model.pace.usual": (
        "estimate: about {rate} passages of {size} tokens a second on two common cores",
        "估计在普通双核机器上每秒约 {rate} 个片段（每个 {size} 个词元）",
    ),
    "kb.model.pace.unknown": ("speed not measured here yet", "本机尚未测过速度"),
    "kb.model.ollama.unknown": (
        "runs in Ollama: dimension known at the first use, languages and speed those of the model",
        "由 Ollama 运行：首次使用时得知维数，语言与速度取决于模型",
    ),
    "kb.model.missing": ("not pulled yet", "尚未下载"),
    "kb.model.not_pulled": ("not pulled: `ollama pull {name}`", "尚未下载：`ollama pull {name}`"),
    "kb.prefix.new": ("Prefixes of the embedding model", "嵌入模型的前缀"),
    "kb.prefix.help": (
        "Some models want a few words before each text. Left empty, those known for the model are used.",
        "有些模型要求在文本前加固定的前缀。留空则使用该模型已知的前缀。",
    ),
    "kb.prefix.query": ("Before a query", "查询前缀"),
    "kb.prefix.passage": ("Before a passage", "片段前缀"),
    # How to cut
    "kb.cut": ("How the text is cut", "怎样切分"),
    "kb.cut.intro": (
        "A section that is short enough is one passage; a longer one is cut between sentences, list items or lines. "
        "Tokens are estimated: a Chinese character is one, other text a quarter a character.",
        "足够短的小节就是一个片段；较长的在句子、列表项或行之间切开。词元为估算：一个汉字算一个，其他文字每四个字符算一个。",
    ),
    "kb.cut.target_tokens": ("Cut near, tokens", "切分目标（词元）"),
    "kb.cut.target_tokens.help": (
        "Size that pieces of a long section aim at. Small passages are found more exactly, large ones tell more of "
        "what surrounds them. Usual: 150–300; default {default}.",
        "长小节切成多大。片段小则命中更准，片段大则上下文更全。常用 150–300，默认 {default}。",
    ),
    "kb.cut.most_tokens": ("At most, tokens", "上限（词元）"),
    "kb.cut.most_tokens.help": (
        "No passage is longer; a section up to this size stays whole. Embedding models read about 512 tokens at once. "
        "Default {default}.",
        "任何片段都不超过它；不超过它的小节保持完整。嵌入模型一次约读 512 个词元。默认 {default}。",
    ),
    "kb.cut.overlap_tokens": ("Overlap at most, tokens", "重叠上限（词元）"),
    "kb.cut.overlap_tokens.help": (
        "Pieces of one section share their border sentence if it is no longer than this, so that neither begins in "
        "the dark. 0 shares nothing. Default {default}.",
        "同一小节的相邻片段共用边界上的那一句，只要它不超过这个长度，免得开头没头没尾。0 表示不重叠。默认 {default}。",
    ),
    "kb.cut.reset": ("Back to the defaults", "恢复默认"),
    "kb.cut.order": (
        "“{most}” cannot be under “{target}”: {value} is used for both.",
        "“{most}”不能小于“{target}”：两者都按 {value} 处理。",
    ),
    "kb.cut.overlap_bound": (
        "The overlap is at most half of what is aimed at: {value} is used.",
        "重叠最多是切分目标的一半：按 {value} 处理。",
    ),
    # Preview
    "kb.preview.title": ("What would go in", "将会放入的内容"),
    "kb.preview.busy": ("{done} of {n} files read and cut", "已读取并切分 {done} / {n} 个文件"),
    "kb.preview.scanning": ("Looking for files …", "正在查找文件……"),
    "kb.preview.cancel": ("Cancel", "取消"),
    "kb.preview.none": (
        "Nothing of this would go in: all is there already or cannot be used.",
        "没有新内容可放入：要么已经在集合里，要么无法使用。",
    ),
    "kb.total.files": ("Files", "文件"),
    "kb.total.files.note": ("{n} will go in", "{n} 个会放入"),
    "kb.total.passages": ("Passages", "片段"),
    "kb.total.passages.note": ("to be embedded", "待嵌入"),
    "kb.total.tokens": ("Tokens", "词元"),
    "kb.total.tokens.note": ("estimated · {mean} a passage", "估算 · 每片段 {mean}"),
    "kb.total.time": ("Time", "用时"),
    "kb.total.time.note": ("to embed on this machine", "在本机嵌入"),
    "kb.total.time.about": ("about {span}", "约 {span}"),
    "kb.total.time.about.note": ("on a common machine, not timed here yet", "按一般机器估算，本机尚未测速"),
    "kb.total.time.unknown": ("unknown", "未知"),
    "kb.total.time.unknown.note": ("this model was not timed here yet", "此模型还没有在本机测过速度"),
    "kb.total.failed": ("Cannot be used", "无法使用"),
    "kb.total.failed.note": ("with reason and remedy below", "原因与办法见下"),
    "kb.state.all": ("All {n}", "全部 {n}"),
    "kb.state.new": ("New {n}", "新的 {n}"),
    "kb.state.replaces": ("Replaces {n}", "替换 {n}"),
    "kb.state.same": ("Already there {n}", "已有 {n}"),
    "kb.state.failed": ("Cannot be used {n}", "无法使用 {n}"),
    "kb.is.new": ("new", "新"),
    "kb.is.replaces": ("replaces the earlier one", "替换旧版"),
    "kb.is.same": ("same as {same}, skipped", "与 {same} 相同，跳过"),
    "kb.is.failed": ("cannot be used", "无法使用"),
    "kb.file.state": ("State", "状态"),
    "kb.file.show": ("Show how it is cut", "查看切分结果"),
    # Chunks
    "kb.chunks": ("How {name} is cut", "{name} 的切分结果"),
    "kb.chunks.count": ("{n} passages · {tokens} tokens", "{n} 个片段 · {tokens} 个词元"),
    "kb.chunks.count.one": ("1 passage · {tokens} tokens", "1 个片段 · {tokens} 个词元"),
    "kb.chunks.overlaps": ("{n} begin with a sentence of the one before", "{n} 个以前一片段的末句开头"),
    "kb.chunks.none": ("This file gives no passages.", "这个文件没有产生片段。"),
    "kb.chunk.tokens": (
        "{tokens} tokens · near {target}, at most {most}",
        "{tokens} 个词元 · 目标 {target}，上限 {most}",
    ),
    "kb.chunk.size": ("{tokens} tokens", "{tokens} 个词元"),
    "kb.chunk.overlap": ("also ends passage {n}", "与片段 {n} 的结尾相同"),
    # Jobs
    "kb.jobs": ("Jobs", "任务"),
    "kb.jobs.elsewhere": ("{n} jobs are going on", "有 {n} 个任务正在进行"),
    "kb.jobs.elsewhere.one": ("1 job is going on", "有 1 个任务正在进行"),
    "kb.jobs.resumable": ("{n} jobs can be resumed", "有 {n} 个任务可以继续"),
    "kb.jobs.resumable.one": ("1 job can be resumed", "有 1 个任务可以继续"),
    "kb.jobs.earlier": ("Earlier jobs ({n})", "更早的任务（{n}）"),
    "kb.top.going": ("{name} · {done}/{total} passages · {left} left", "{name} · {done}/{total} 个片段 · 还需 {left}"),
    "kb.top.begun": ("{name} · {state}", "{name} · {state}"),
    "kb.top.more": (" · {n} more jobs", " · 另有 {n} 个任务"),
    "kb.top.more.one": (" · 1 more job", " · 另有 1 个任务"),
    "kb.top.help": ("Jobs on the page Knowledge", "任务详情见“知识库”页"),
    "kb.jobs.open": ("Show", "查看"),
    "kb.job.ingest": ("Files into {name}", "文件放入 {name}"),
    "kb.job.reembed": ("Re-embedding into {name}", "重新嵌入为 {name}"),
    "kb.job.add_full_text": ("Full text for {name}", "为 {name} 添加全文检索"),
    "kb.job.waiting": ("waiting", "排队中"),
    "kb.job.reading": ("reading", "读取中"),
    "kb.job.embedding": ("embedding", "嵌入中"),
    "kb.job.writing": ("writing", "写入中"),
    "kb.job.done": ("done", "已完成"),
    "kb.job.stopped": ("stopped", "已停止"),
    "kb.job.failed": ("failed", "失败"),
    "kb.job.interrupted": ("interrupted", "被中断"),
    "kb.job.waiting.note": ("Another job into this collection goes first.", "同一集合的另一个任务先行。"),
    "kb.job.stopped.note": (
        "Sources that were complete are in; no half source is. What was embedded is kept: it resumes from here.",
        "已停止：完整的来源已入库，没有半个来源。已经算好的向量会保留，继续时从这里接着做。",
    ),
    "kb.job.interrupted.note": (
        "The workbench ended while this went on. What was embedded is kept: resuming continues from here, with no "
        "duplicates.",
        "任务进行中工作台退出了。已经算好的向量会保留，继续时从这里接着做，不会重复入库。",
    ),
    "kb.job.graph.note": (
        "What was read is in the graph: resuming continues from here and reads nothing twice.",
        "已读的片段都已写入图谱，继续时从这里接着做，不会重复读取。",
    ),
    "kb.graph.looking": ("Looking for what was read already …", "正在查看哪些片段已经读过……"),
    "kb.graph.left": ("Not finished.", "尚未完成。"),
    "kb.graph.summarised": ("{done} of {n} communities summed up", "已归纳 {done} / {n} 个社区"),
    "kb.stop": ("Stop", "停止"),
    "kb.resume": ("Resume", "继续"),
    "kb.discard": ("Discard", "放弃"),
    "kb.clear": ("Clear", "清除"),
    "kb.reading": ("Reading the files …", "正在读取文件……"),
    "kb.reading.some": ("{done} of {n} files read", "已读取 {done} / {n} 个文件"),
    "kb.progress": (
        "{done} of {total} passages · {rate} per second · {left} left",
        "{done} / {total} 个片段 · 每秒 {rate} 个 · 剩余 {left}",
    ),
    "kb.progress.over": ("{done} of {total} passages", "{done} / {total} 个片段"),
    "kb.files": ("{n} files that were dealt with", "已处理的 {n} 个文件"),
    "kb.files.one": ("1 file that was dealt with", "已处理的 1 个文件"),
    "kb.files_done": ("{done} of {n} files", "{done} / {n} 个文件"),
    "kb.done": ("{n} sources with {passages} went in", "{n} 个来源已入库，共 {passages}"),
    "kb.done.one": ("1 source with {passages} went in", "1 个来源已入库，共 {passages}"),
    "kb.passages": ("{n} passages", "{n} 个片段"),
    "kb.passages.one": ("1 passage", "1 个片段"),
    "kb.done.reembed": ("re-embedded: {passages}", "已重新嵌入 {passages}"),
    "kb.done.add_full_text": (
        "{passages} can be searched by words now",
        "{passages}现在可以按词检索",
    ),
    "kb.done.in": ("{what} in {time}", "{what}，用时 {time}"),
    "kb.nothing_new": ("Nothing new went in.", "没有新内容入库。"),
    "kb.count.added": ("{n} added", "新增 {n}"),
    "kb.count.replaced": ("{n} replaced", "替换 {n}"),
    "kb.count.skipped": ("{n} skipped", "跳过 {n}"),
    "kb.count.failed": ("{n} could not be used", "{n} 个无法使用"),
    "kb.add.graph": ("Knowledge graph", "知识图谱"),
    "kb.add.graph.none": ("None", "不构建"),
    "kb.add.graph.help": (
        "Entities and relationships are read from the passages once these are in, as a second job. It can be done "
        "later too, in the view Graph.",
        "片段入库之后，由第二个任务从中读出实体和关系。也可以之后在“图谱”视图里构建。",
    ),
    "kb.add.graph.has": (
        "This collection has a graph: only what is new is read into it.",
        "该集合已有图谱：只把新内容读进去。",
    ),
    "kb.add.graph.stale": (
        "This collection has a graph; it will not know the new passages until it is brought up to date.",
        "该集合已有图谱；更新之前，它不包含新的片段。",
    ),
    "kb.add.graph.replaces": (
        "The graph that this collection has, read by another extractor, will be replaced.",
        "该集合由其他抽取器读出的图谱将被替换。",
    ),
    "kb.added": ("{name}", "{name}"),
    "kb.skipped": ("{name}: already in this collection as {same}, skipped", "{name}：集合中已有（{same}），已跳过"),
    "kb.replaced": ("{name}: content had changed, replaced", "{name}：内容有变化，已替换"),
    "kb.failed": ("{name} was left out:", "{name} 未入库："),
    "kb.more": ("… and {n} more", "……还有 {n} 个"),
    "kb.failed.csv": ("Left-out files as CSV", "未入库的文件（CSV）"),
    "kb.csv.name": ("file", "文件"),
    "kb.csv.code": ("code", "代码"),
    "kb.csv.fact": ("reason", "原因"),
    "kb.csv.remedy": ("remedy", "办法"),
    "kb.ask": ("Ask it", "去提问"),
    "kb.look": ("Look at it", "查看集合"),
    "kb.look.graph": ("Look at it", "查看图谱"),
    # What a loader noticed
    "kb.note.encoding": ("read as {encoding}, which is a guess", "按 {encoding} 编码读取（推测）"),
    "kb.note.lines_unreadable": (
        "{count} lines are no JSON and were left out: {lines}",
        "有 {count} 行不是 JSON，已略去：{lines}",
    ),
    "kb.note.rows_cut": ("only the first {kept} rows are used", "只用前 {kept} 行"),
    "kb.note.slides_without_text": ("{count} slides hold no text: {slides}", "有 {count} 张幻灯片没有文字：{slides}"),
    "kb.note.sheets_empty": ("{count} sheets are empty: {sheets}", "有 {count} 个工作表为空：{sheets}"),
    "kb.note.sheets_hidden": (
        "{count} hidden sheets were left out: {sheets}",
        "有 {count} 个隐藏工作表已略去：{sheets}",
    ),
    "kb.note.pages_without_text": ("{count} pages hold no text: {pages}", "有 {count} 页没有文字：{pages}"),
    "kb.note.pages_unreadable": (
        "{count} pages cannot be read and were left out: {pages}",
        "有 {count} 页无法读取，已略去：{pages}",
    ),
}
