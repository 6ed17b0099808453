"""Words of images and tables that come with a question."""

from __future__ import annotations

ATTACHMENTS: dict[str, tuple[str, str]] = {
    "attach.button": ("Attach an image or a table", "附上图片或表格"),
    "attach.button.count": ("Attached: {n}", "已附 {n} 个"),
    "attach.look": ("What was read in {n} attachments", "{n} 个附件中读出的内容"),
    "attach.look.one": ("What was read in 1 attachment", "1 个附件中读出的内容"),
    "attach.intro": (
        "What is read in an image is searched together with the question; the cells of a table can be quoted in the "
        "answer. You see what was read before anything is searched, and can correct it.",
        "图片里读到的文字会与问题一起检索；表格的单元格可以在答案中引用。检索之前您会先看到读出的内容，并可以改正。",
    ),
    "attach.kinds": (
        "PNG, JPEG, WebP; CSV, Excel, Markdown, HTML. At most {mb} MB and {pixels} pixels each, {n} in all.",
        "PNG、JPEG、WebP；CSV、Excel、Markdown、HTML。每个最多 {mb} MB、{pixels}像素，总共 {n} 个。",
    ),
    "attach.pixels": ("{n} million", "{n} 万"),
    "attach.choose": ("Choose files", "选择文件"),
    "attach.drop": ("or drop them here", "或拖到这里"),
    "attach.reader": ("Images are read by", "图片由谁来读"),
    "attach.reader.ocr": ("Built-in text recognition", "内置文字识别"),
    "attach.reader.help": (
        "Text recognition reads what is written, in Chinese and English, on this machine. A vision model also says "
        "what is pictured: choose one of Ollama's, or write `provider:model`.",
        "文字识别在本机读出图中的中英文字。视觉模型还能说出画面内容：可选 Ollama 的模型，或写 `provider:model`。",
    ),
    "attach.reading": ("Reading {name} …", "正在读取 {name} ……"),
    "attach.stop": ("Stop", "停止"),
    "attach.remove": ("Remove {name}", "移除 {name}"),
    "attach.remove.short": ("Remove", "移除"),
    "attach.again": ("Read it again", "重新读取"),
    "attach.image": ("Image", "图片"),
    "attach.table": ("Table T{n}", "表格 T{n}"),
    "attach.by.ocr": ("text recognition", "文字识别"),
    "attach.by.typed": ("typed", "手工输入"),
    "attach.signs": ("{n} characters", "{n} 个字符"),
    "attach.signs.one": ("1 character", "1 个字符"),
    "attach.size": ("{rows} rows × {columns} columns", "{rows} 行 × {columns} 列"),
    "attach.edited": ("corrected by hand", "经手工改正"),
    "attach.cut.rows": ("Only the first {n} rows are taken.", "只取前 {n} 行。"),
    "attach.cut.columns": ("Only the first {n} columns are taken.", "只取前 {n} 列。"),
    "attach.cut.size": (
        "Only the first {rows} rows and {columns} columns are taken.",
        "只取前 {rows} 行、前 {columns} 列。",
    ),
    "attach.cut.text": ("What was too long is cut off.", "过长的内容已截去。"),
    "attach.cut.tables": (
        "The file has further tables or sheets, which are left out.",
        "文件里还有别的表格或工作表，没有取用。",
    ),
    "attach.text": ("What was read; correct it before you run", "读出的内容；运行前可以改正"),
    "attach.text.none": (
        "No text was found in this image. Say in a few words what it shows, or remove it.",
        "图中没有找到文字。请用几句话说明画面内容，或移除它。",
    ),
    "attach.header": ("The first row names the columns", "首行是列名"),
    "attach.grid": ("Cells are quoted as [T{n}:B2]", "单元格的引用写法：[T{n}:B2]"),
    "attach.wait": (
        "An attachment is still being read. Look at what was read, then run.",
        "还有附件正在读取。请先看看读出的内容再运行。",
    ),
    "attach.unusable": (
        "An attachment could not be used: correct or remove it, then run.",
        "有附件不能使用：请改正或移除后再运行。",
    ),
    "attach.title": ("Attached to the question", "随问题附上"),
    "attach.cited": ("Quoted in the answer", "答案中引用"),
    "attach.cited.count": ("{n} cells quoted", "引用了 {n} 个单元格"),
    "attach.cited.count.one": ("1 cell quoted", "引用了 1 个单元格"),
}
