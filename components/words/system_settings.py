"""What each setting of this machine says, in Chinese; the English is the setting's own description."""

from __future__ import annotations

SETTINGS_ABOUT_ZH: dict[str, str] = {
    "data_dir": "程序写入的所有内容都放在这个文件夹。",
    "milvus_uri": "Milvus 服务器地址；留空则使用内嵌的 Milvus Lite。",
    "milvus_token": "Milvus 服务器的令牌（`用户:密码`）。",
    "milvus_addresses": "API 请求还可以指定的其他 Milvus 地址。",
    "neo4j_uri": "存放知识图谱的 Neo4j 服务器地址（`bolt://` 或 `neo4j://`）；留空则存入数据文件夹中的文件。"
    "几个工作台共用一台服务器时，各自需要单独的数据库。",
    "neo4j_user": "Neo4j 服务器的用户名。",
    "neo4j_password": "Neo4j 服务器的密码；留空表示服务器不要求登录。",
    "neo4j_database": "Neo4j 服务器中的数据库；留空则用服务器的默认数据库。",
    "ollama_url": "Ollama 的地址。",
    "ollama_keep_alive": "一次调用之后，Ollama 让模型保持加载多久。",
    "openai_url": "兼容 OpenAI 协议的服务器（LM Studio、vLLM、llama.cpp）地址，用于 `openai:模型名`；"
    "留空则为 OpenAI 本身。",
    "openai_api_key": "`openai:模型名` 的密钥；留空时，OpenAI 本身用 `OPENAI_API_KEY`，其他则不用。",
    "embedding_model": "新集合的嵌入模型：`builtin`、`hashing` 或 `ollama:模型名`。",
    "grader_model": "运行没有指定质检员时用的模型：`builtin`、`ollama:模型名` 或 `provider:模型名`；留空为内置。",
    "rewriter_model": "运行没有指定重写员时用的模型，写法同上。",
    "generator_model": "运行没有指定生成者时用的模型，写法同上。",
    "evaluator_model": "运行没有指定评估者时用的模型，写法同上。",
    "router_model": "运行没有指定路由者时用的模型，写法同上。",
    "reranker_model": "运行没有指定重排员时用的模型，写法同上，也可用 `cross_encoder:模型名`。",
    "extractor_model": "没有指定时用来抽取知识图谱的模型。",
    "vision_model": "没有指定时用来读图的模型；留空则用文字识别。",
    "searxng_url": "双循环用来检索网络的 SearXNG 地址；留空则不检索网络。",
    "call_timeout_s": "一次模型调用最多等多久，单位秒；不设置则至少等这么久，较慢的模型可等其最长一次调用的三倍。",
    "generation_allowance_s": "运行超时之后，最后一次生成还可用多久，单位秒。",
    "grader_concurrency": "对话模型同时质检的片段数；不设置则采用“系统”页测得的值；"
    "没有测量则以此为上限，本机服务器在能加快时才逐步增加。",
    "embedding_threads": "内置嵌入模型的线程数；0 表示留出一个核心，其余全用。",
    "max_concurrent_runs": "可以同时进行的运行数。",
    "max_question_chars": "问题最长多少个字符。",
    "max_upload_mb": "可导入的最大文件，单位 MB。",
    "host": "程序监听的地址。",
    "port": "程序监听的端口。",
    "allowed_hosts": "允许用哪些主机名访问页面、API 和事件流。",
    "allowed_origins": "页面、API 和事件流还接受来自哪些来源（例如 `https://rag.example`）的请求，例如前置代理的来源；自身来源始终接受。",
}
