"""Chinese sentences of faults of the store of knowledge graphs, in the form of :mod:`components.words.faults`."""

from __future__ import annotations

GRAPH_STORE_FAULTS_ZH: dict[str, tuple[tuple[str, str], ...]] = {
    "WB230": (
        (
            "{address} 的 Neo4j 服务器未能完成请求：{why}",
            "请查看 Neo4j 的日志；如果其中提到工作台自己的节点，请重新构建知识图谱。",
        ),
    ),
    "WB231": (
        (
            "{address} 的 Neo4j 服务器没有响应。",
            "请启动它，或改正 WORKBENCH_NEO4J_URI；留空则把知识图谱存入数据文件夹。",
        ),
    ),
    "WB232": (
        (
            "{address} 的 Neo4j 服务器拒绝了用户名、密码，或该用户的操作。",
            "请改正 WORKBENCH_NEO4J_USER 和 WORKBENCH_NEO4J_PASSWORD，或允许该用户写入数据库。",
        ),
    ),
    "WB233": (
        (
            "{address} 的 Neo4j 服务器没有名为 {database} 的数据库。",
            "请改正 WORKBENCH_NEO4J_DATABASE；留空则用服务器的默认数据库。",
        ),
    ),
    "WB234": (
        (
            "设置了 WORKBENCH_NEO4J_URI，但没有安装 Neo4j 驱动。",
            "请安装附加组件 `neo4j`，或把 WORKBENCH_NEO4J_URI 留空。",
        ),
    ),
    "WB235": (("知识图谱文件 {path} 已损坏。", "请关闭工作台，恢复备份或删除该文件，再重新构建缺少的知识图谱。"),),
    "WB236": (
        (
            "知识图谱文件 {path} 无法使用：{found}。",
            "请腾出空间或解除对该文件的占用，或让 WORKBENCH_DATA_DIR 指向可写的文件夹。",
        ),
    ),
    "WB237": (
        (
            "知识图谱文件 {path} 的格式是 {found}，当前版本只认识 {known} 及以下的格式。",
            "请升级工作台，或让 WORKBENCH_DATA_DIR 指向另一个文件夹。",
        ),
    ),
    "WB238": (
        (
            "集合 {collection} 没有知识图谱。",
            "请在“知识库”页构建，或用 `python -m engine graph build 集合名`。",
        ),
    ),
}
