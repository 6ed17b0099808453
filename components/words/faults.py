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
    "WB215": (("没有编号为 {memory} 的记忆。", "它可能已被删除，请打开“记忆”页查看现有的记忆。"),),
    "WB216": (
        ("长期记忆在 {seconds} 秒内没有应答，本次运行不再等它。", "请检查 WORKBENCH_MILVUS_URI 的存储，或关闭记忆。"),
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
    "WB420": (
        (
            "{model} 评估的是它自己写的回答。",
            "请为评估者或生成者换一个模型：模型很少能发现自己的错误。",
        ),
    ),
    "WB421": (
        (
            "已达到 {answers} 次回答的上限，最后一次回答仍有 {suggestions} 条修改建议。",
            "请对照回答旁的建议阅读，或调高 gener_epoch。",
        ),
    ),
    "WB512": (
        (
            "无法向 {path} 追加观测数据：{why}",
            "请腾出磁盘空间，或让 WORKBENCH_DATA_DIR 所在的文件夹可写；运行本身已保存。",
        ),
        ("这次运行的观测数据没能在 {seconds} 秒内写入。", "请检查 WORKBENCH_DATA_DIR 所在的磁盘；运行本身已保存。"),
    ),
    "WB501": (("没有编号为 {run} 的运行。", "它可能已被删除，请从运行列表里打开另一个。"),),
    "WB502": (("运行 {run} 还在进行。", "请先取消，再删除。"),),
    "WB503": (("已有 {limit} 个运行在进行。", "请等一个结束或停止一个，或调高 WORKBENCH_MAX_CONCURRENT_RUNS。"),),
    "WB505": (
        ("位于 {address} 的工作台打开着知识库，却没有给出可用的回答。", "请重新启动它，或关闭它，然后再运行一次。"),
    ),
    "WB507": (
        ("标签有 {length} 个字符，上限是 {limit} 个。", "请缩短标签。"),
        ("标签含有控制字符（{found}）。", "请改用一行普通文字。"),
        ("标签是空的。", "请输入文字后再添加。"),
    ),
    "WB508": (("运行 {run} 随工作台附带，不能改动。", "请自己运行这个问题，你自己的运行可以加标签和删除。"),),
    "WB509": (
        ("这次运行没有第 {round} 轮，最后一轮是第 {last} 轮。", "请选择 0 到 {last} 之间的轮次。"),
        ("查询有 {length} 个字符，上限是 {limit} 个。", "请缩短查询。"),
        ("工作流 {workflow} 的运行不能分叉，只有四节点循环能沿用已有的轮次。", "请改用别的设置重新运行这个问题。"),
        ("这次运行没有见过片段 {passage}，不能为它设置判定。", "请只为这次运行找到过的片段设置判定。"),
        ("分叉不能改变 {setting}：换了之后，已有的记录都不再适用。", "请改用这些设置重新运行这个问题。"),
        ("这次运行没有检索过，没有可以分叉的地方。", "请重新提问。"),
    ),
    "WB510": (
        (
            "运行 {run} 之后，知识库 {collection} 的内容有了变化。",
            "沿用的部分仍是当时的内容，新的检索看到的是现在的内容；想全部按现在的内容来，请重新提问。",
        ),
    ),
    "WB511": (("运行 {run} 还没有结束。", "请等它结束或先停止它，再分叉。"),),
    "WB504": (("引擎已经关闭。", "请用 Engine.open() 打开一个新的。"),),
    "WB214": (("知识库在 {seconds} 秒的预算内没有给出结果。", "请调高本次运行的时间预算，或等知识库打开后再试。"),),
    "WB410": (
        (
            "{model} 所在的服务器返回了不合协议的内容。",
            "请检查 WORKBENCH_OLLAMA_URL 是否就是 Ollama 的地址，然后重试。",
        ),
    ),
    "WB411": (("{model} 的回复无法读取。", "请在“模型调用”里查看原始回复，或为这个角色换一个模型。"),),
    "WB412": (
        (
            "一段约 {tokens} 个词元的文本超出了嵌入模型 {model} 的长度。",
            "请缩短文本、用更小的片段入库，或选择上下文更长的嵌入模型。",
        ),
    ),
    "WB413": (("预算的 {seconds} 秒用完时，{model} 还没有完成。", "请调高本次运行的时间预算，或换一个小一些的模型。"),),
    "WB414": (
        ("{model} 的回答在 {tokens} 个词元处达到上限而中断。", "请调高生成者的 num_ctx，或把问题问得更窄一些。"),
    ),
    "WB800": (
        (
            "评测文件 {path} 的格式是 {found}，本版本最高认识格式 {known}。",
            "请更新工作台，或让 WORKBENCH_DATA_DIR 指向另一个文件夹。",
        ),
        ("评测文件 {path} 不能使用：{cause}。", "请从备份恢复它，或检查磁盘和文件夹的权限后重试。"),
    ),
    "WB801": (("没有名为 {name} 的问题集。", "请从列表中选择一个，或导入它。"),),
    "WB802": (
        ("{name} 不能用作名称。", "请使用 1 到 {longest} 个可见字符。"),
        ("问题集 {name} 里编号 {case} 出现了两次。", "请给每个问题一个不同的编号。"),
        ("问题集 {name} 不能这样使用：它是自带的，或其中没有可以运行的问题。", "请换一个名称另存，或换一个问题集。"),
    ),
    "WB803": (("没有编号为 {batch} 的批次。", "它可能已被删除，请从列表中选择另一个。"),),
    "WB804": (("批次 {batch} 还在进行。", "请等它结束，或停止它。"),),
    "WB805": (
        (
            "{name} 不能作为问题集读取：{cause}。",
            "请使用 SQuAD JSON、BEIR 文件夹或 zip，或带有 question 和 expected 列的 CSV 或 JSONL。",
        ),
    ),
    "WB806": (("{name} 太大，超过了上限 {limit}（{what}）。", "请只取其中一部分，例如限制问题的数量。"),),
    "WB807": (("没有名为 {measure} 的指标。", "可用的指标：{known}。"),),
    "WB601": (
        (
            "回答所依据的片段质量偏低：得分 {score}，低于 {bar}。",
            "请把问题问得更具体，补充相关来源，或自行核对这个回答。",
        ),
    ),
    "WB600": (("工作流超过了 {steps} 步的上限。", "请附上运行记录反馈此问题；调低 max_rewrites 可以避开它。"),),
    "WB901": (
        (
            "{address} 没有搜索引擎应答。",
            "请启动 SearXNG，或改正 WORKBENCH_SEARXNG_URL；留空则不搜索网络。",
        ),
    ),
    "WB902": (
        (
            "{address} 的搜索引擎在 {seconds} 秒内没有给出完整的应答。",
            "请在 SearXNG 的 settings.yml 中调低 `outgoing.request_timeout`，或换一个实例。",
        ),
        ("网络搜索在本次运行可等待的 {seconds} 秒内没有结果。", "请调高本次运行的时间预算，或换一个更快的搜索引擎。"),
    ),
    "WB903": (
        (
            "{address} 的搜索引擎拒绝以 JSON 应答（{status}）。",
            "请在 SearXNG 的 settings.yml 的 `search: formats:` 下加入 `json`，然后重启它。",
        ),
        (
            "{address} 的搜索引擎把搜索转到了别处（{moved}），这里不会跟随。",
            "请把 WORKBENCH_SEARXNG_URL 设为 SearXNG 自身应答的地址。",
        ),
        (
            "{address} 的搜索引擎返回了状态 {refused}。",
            "请查看 SearXNG 的日志，或让 WORKBENCH_SEARXNG_URL 指向另一个实例。",
        ),
    ),
    "WB904": (
        (
            "{address} 的搜索引擎的应答超过 {limit_mb} MB，没有读取。",
            "请确认 WORKBENCH_SEARXNG_URL 是一个 SearXNG 的地址。",
        ),
        (
            "{address} 的应答不是 JSON 格式的搜索结果。",
            "请确认 WORKBENCH_SEARXNG_URL 是一个 SearXNG 的地址，并且它的输出格式中有 `json`。",
        ),
    ),
}
