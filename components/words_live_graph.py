"""Words of the workflow picture for graph + vector retrieval: (English, Chinese); as in ``words_live_loops``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GRAPH: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "node_analyze_query": ("Analyse", "分析"),
        "node_refine_query": ("Refine", "优化查询"),
        "route_generate_answer_from_grade_documents": ("generate", "生成"),
        "route_generate_answer_from_route_query": ("generate", "生成"),
        "route_refine_query": ("refine", "优化查询"),
        "reason_bypass": ("no search in this mode", "此模式不检索"),
        "reason_simple": ("simple: no search", "简单，无需检索"),
        "reason_tables_only": ("attached tables alone", "只用附表"),
        "reason_table_answers": ("a table answers", "附表可答"),
        "quantity_table_coverage": ("covered by a table", "附表覆盖"),
        "short_table_coverage": ("table", "附表"),
        "reason_needs_search": ("needs a search", "需要检索"),
        "role_analyze_query": ("The analyst", "分析者"),
        "role_refine_query": ("The rewriter", "重写员"),
        "rest_analyze_query": ("entities and intent", "认出实体与意图"),
        "rest_refine_query": ("rephrases it", "换一种问法"),
        "doing_analyze_query": ("The query is being analysed", "正在分析问题"),
        "doing_refine_query": ("The rewriter is rephrasing the question", "重写员正在换一种问法"),
        "outcome_unsearched": ("Nothing was searched, and the answer says so", "没有检索，已如实说明"),
        # Facts
        "complexity_simple": ("simple", "简单"),
        "complexity_single": ("one step", "单步"),
        "complexity_multi_hop": ("several steps", "多步"),
        "complexity_overview": ("overview", "概览"),
        "entities_n": ("{n} entities", "{n} 个实体"),
        "entities_n_one": ("1 entity", "1 个实体"),
        "entities_none": ("no entity named", "未点名实体"),
        "to_mode": ("mode {mode}", "模式：{mode}"),
        "mode_naive": ("naive", "朴素"),
        "mode_local": ("local", "局部"),
        "mode_global": ("global", "全局"),
        "mode_hybrid": ("hybrid", "混合"),
        "mode_mix": ("mix", "融合"),
        "mode_bypass": ("bypass", "直答"),
        "fell_back": ("! vectors instead", "！改用向量"),
        "from_graph": ("{n} from the graph", "图谱 {n} 个"),
        "skipped_search": ("no passages used", "未用片段"),
        "context_of": ("{n} of {most} tokens", "{n}/{most} 词元"),
    }
)
