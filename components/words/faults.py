"""Chinese sentences of faults by error code; English ones come from the engine with the fault itself.

Several per code where one class states several facts: the first whose parameters the fault has is used.
"""

from __future__ import annotations

FAULTS_ZH: dict[str, tuple[tuple[str, str], ...]] = {
    "WB000": (("运行因意外的 {kind} 而中止。", "请查看工作台日志中的回溯信息，并反馈给我们。"),),
    "WB100": (
        ("{field} 必须在 {low} 到 {high} 之间。", "请把 {field} 改到这个范围内。"),
        ("{field} 只能取以下值之一：{allowed}。", "请把 {field} 改为其中之一。"),
        ("知识库 {collection} 的 {field} 不能这样设置。", "请检查 {field}，或把来源导入一个新知识库。"),
        ("模型 {model} 没有写全提供方和名称。", "请写成 `builtin`、`ollama:模型名` 或 `provider:模型名`。"),
        ("{field} 的值不能使用。", "请检查 {field} 的取值。"),
    ),
    "WB101": (
        ("问题有 {length} 个字符，上限是 {limit} 个。", "请缩短问题，或调高 WORKBENCH_MAX_QUESTION_CHARS。"),
        ("问题是空的。", "请输入问题后再运行。"),
    ),
    "WB102": (
        ("没有名为 {name} 的设置项。", "请把它改为 {nearest}，或删去它。"),
        ("设置项 {name} 不能使用。", "请改正或删去 {name}。"),
    ),
    "WB201": (
        ("知识库 {path} 正被另一个进程打开。", "请关闭另一个工作台，或让 WORKBENCH_MILVUS_URI 指向一台服务器。"),
    ),
    "WB202": (("{address} 的 Milvus 服务器没有响应。", "请启动它，或改正 WORKBENCH_MILVUS_URI。"),),
    "WB203": (
        (
            "没有名为 {name} 的知识库。",
            "请选择已有的知识库，或用 `python -m engine ingest PATH --collection NAME` 新建一个。",
        ),
    ),
    "WB204": (
        (
            "知识库 {collection} 是用 {built_with} 建的，现在给出的向量却来自 {offered}。",
            "请对这个知识库使用 {built_with}，或把它的来源重新导入一个新知识库。",
        ),
    ),
    "WB213": (
        (
            "知识库 {name} 是别的程序建的，没有记下所用的嵌入模型。",
            "请把它的来源导入一个新知识库，或选择另一个知识库。",
        ),
    ),
    "WB206": (("{name} 不能用作知识库的名字。", "请用 1 到 60 个字母、数字和下划线，以字母开头。"),),
    "WB401": (
        (
            "{address} 的 {provider} 没有响应。",
            "请启动 {provider}，或改正 WORKBENCH_OLLAMA_URL；内置模型不需要服务器。",
        ),
    ),
    "WB402": (("Ollama 里没有名为 {model} 的模型。", "请运行 `{command}`，然后重试。"),),
    "WB403": (
        ("{model} 在 {seconds} 秒内没有给出完整的回复。", "请换一个小一些的模型，或调高 WORKBENCH_CALL_TIMEOUT_S。"),
    ),
    "WB404": (("{model} 的回复中途断了。", "请查看模型服务器的日志，然后重试；已收到的部分保存在记录里。"),),
    "WB405": (("{model} 被它的服务器拒绝（{status}）：{message}", "请查看模型服务器的日志，或为这个角色换一个模型。"),),
    "WB406": (("模型 {model} 在这里无法加载。", "请安装软件包 {package}，或选择 `builtin` 或 `ollama:模型名`。"),),
    "WB407": (
        (
            "给 {model} 的提示约有 {tokens} 个词元，而它的上下文只容得下 {num_ctx} 个。",
            "请调高这个角色的 num_ctx，或调低 top_k。",
        ),
    ),
    "WB408": (("{model} 返回了空的回答。", "请重试，或为生成者换一个模型。"),),
    "WB409": (
        (
            "{model} 的 {passages} 条判定没有一条读得懂。",
            "请在「模型调用」里查看原始回复，并为质检员换一个模型。",
        ),
    ),
    "WB501": (("没有编号为 {run} 的运行。", "它可能已被删除，请从运行列表里打开另一个。"),),
    "WB502": (("运行 {run} 还在进行。", "请先取消，再删除。"),),
    "WB503": (("已有 {limit} 个运行在进行。", "请等一个结束或停止一个，或调高 WORKBENCH_MAX_CONCURRENT_RUNS。"),),
    "WB505": (
        ("位于 {address} 的工作台打开着知识库，却没有给出可用的回答。", "请重新启动它，或关闭它，然后再运行一次。"),
    ),
    "WB504": (("引擎已经关闭。", "请用 Engine.open() 打开一个新的。"),),
    "WB214": (("知识库在 {seconds} 秒的预算内没有给出结果。", "请调高本次运行的时间预算，或等知识库打开后再试。"),),
    "WB413": (("预算的 {seconds} 秒用完时，{model} 还没有完成。", "请调高本次运行的时间预算，或换一个小一些的模型。"),),
    "WB414": (
        ("{model} 的回答在 {tokens} 个词元处达到上限而中断。", "请调高生成者的 num_ctx，或把问题问得更窄一些。"),
    ),
    "WB600": (("工作流超过了 {steps} 步的上限。", "请附上运行记录反馈此问题；调低 max_rewrites 可以避开它。"),),
}
