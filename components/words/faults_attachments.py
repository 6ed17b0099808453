"""Chinese sentences of faults of attachments, in the form of :mod:`components.words.faults`."""

from __future__ import annotations

ATTACHMENT_FAULTS_ZH: dict[str, tuple[tuple[str, str], ...]] = {
    "WB351": (("“{name}”无法读取：{why}", "请改正路径，或检查该文件是否可读。"),),
    "WB352": (("“{name}”有 {size_mb} MB，附件上限是 {limit_mb} MB。", "请缩小图片，或只附上与问题有关的那部分表格。"),),
    "WB353": (("“{name}”既不是能读取的图片，也不是能读取的表格。", "可以附上：{kinds}。"),),
    "WB354": (
        ("“{name}”有 {width} × {height} 像素，上限是 {limit_wan} 万像素。", "请裁出有用的部分，或缩小后再保存。"),
    ),
    "WB355": (("“{name}”已损坏或不完整。", "请重新获取，或用原来的程序打开后另存一份。"),),
    "WB356": (
        ("“{table}”里没有找到表格。", "请附上有行有列的文件。"),
        ("“{name}”里什么也没有读到。", "请换一个文件，或在问题里说明它的内容。"),
    ),
    "WB357": (("这个问题有 {count} 个附件，上限是 {most} 个。", "请移除用不着的附件。"),),
    "WB358": (
        ("工作流 {workflow} 不看图片和表格。", "请改用工作流 graph_hybrid，或不带附件提问。"),
        ("{mode} 模式什么也不检索，因此没有看图片和表格。", "请换一种模式，例如 mix。"),
    ),
    "WB359": (("没有安装识别图片文字的程序包。", "请用 `{command}` 安装，或选择视觉模型。"),),
    "WB360": (("读取这个附件超过 {seconds} 秒，已放弃。", "请裁出有用的部分，或为图片选择视觉模型。"),),
    "WB361": (("读取这个附件时程序崩溃。", "请另存为别的格式（如 PNG 或 CSV）后再附上。"),),
    "WB362": (
        ("“{encoded}”的数据不是 base64。", "请把文件的字节编码为 base64。"),
        ("附件“{name}”必须有 data、text、rows 三者之一，且只能有一个。", "文件用 data，图片说明用 text，表格用 rows。"),
    ),
    "WB363": (("模型 {model} 不接受图片。", "请选择视觉模型，如 `ollama:gemma3:4b`，或用内置的文字识别。"),),
}
