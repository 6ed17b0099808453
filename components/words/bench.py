"""Words of the grader bench on the page Tune."""

from __future__ import annotations

from collections.abc import Mapping

BENCH: Mapping[str, tuple[str, str]] = {
    "bench.intro": (
        "How good is the grader ({grader})? Its verdicts against the labels of the set, and against your own.",
        "质检员（{grader}）判得准不准？把它的判定与问题集的标注以及您自己的判断对照。",
    ),
    "bench.population": (
        "Every passage that the grader judged in these runs, kept or dropped, at the cut below. The precision of the "
        "table *Measures* counts only those that the settings under test keep.",
        "统计这些运行中质检员判定过的全部片段，不论保留与否，按下方分界计。“指标”表中的精确率只统计待测设置所保留的片段。",
    ),
    "bench.only_labelled": ("Only what somebody labelled", "仅限已标注的片段"),
    "bench.only_labelled.help": (
        "Data sets seldom name every right passage. Off: what is not named counts as not relevant.",
        "数据集很少列全所有正确片段。关闭时，未列出的按不相关计。",
    ),
    "bench.cut": ("Passes from P(relevant)", "通过所需的 P(相关)"),
    "bench.cut.help": ("The setting minimum confidence of a run.", "即运行设置中的最低置信度。"),
    "bench.pairs": ("Judged and labelled", "已判且已标注"),
    "bench.relevant": ("{n} relevant", "{n} 个相关"),
    "bench.precision": ("Precision", "精确率"),
    "bench.precision.help": ("Of what passed, how much is relevant.", "通过的片段中有多少相关。"),
    "bench.recall": ("Recall", "召回率"),
    "bench.recall.help": ("Of what is relevant, how much passed.", "相关的片段中有多少通过。"),
    "bench.f1": ("F1", "F1"),
    "bench.f1.help": ("Harmonic mean of precision and recall.", "精确率与召回率的调和平均。"),
    "bench.kappa": ("Agreement κ", "一致性 κ"),
    "bench.kappa.help": ("Cohen's kappa: agreement with the labels beyond chance.", "Cohen κ：扣除偶然后的一致程度。"),
    "bench.auc": ("AUC", "AUC"),
    "bench.auc.help": (
        "Chance that a relevant passage is given a higher P(relevant) than an irrelevant one.",
        "相关片段的 P(相关) 高于不相关片段的概率。",
    ),
    "bench.ece": ("Calibration error", "校准误差"),
    "bench.ece.help": (
        "ECE: how far P(relevant) lies from how often it is true.",
        "ECE：P(相关) 与实际频率的平均差距。",
    ),
    "bench.missing.no_pairs": ("nothing labelled", "没有标注"),
    "bench.missing.one_class": ("one kind of label only", "只有一类标注"),
    "bench.missing.nothing_passes": ("nothing passes", "无一通过"),
    "bench.missing.nothing_relevant": ("nothing is relevant", "无一相关"),
    "bench.is_yes": ("labelled relevant", "标注为相关"),
    "bench.is_no": ("labelled not relevant", "标注为不相关"),
    "bench.passed": ("passed", "通过"),
    "bench.dropped": ("dropped", "未通过"),
    "bench.no_curve": ("Too few labels for a curve.", "标注太少，无法绘制曲线。"),
    "bench.curve": ("Precision and recall as the cut moves", "精确率与召回率随阈值变化"),
    "bench.said": ("what the grader says", "质检员给出的概率"),
    "bench.true": ("share that is relevant", "实际相关的比例"),
    "bench.reliability": ("Reliability (calibration error {ece})", "可靠性（校准误差 {ece}）"),
    "bench.assumed": (
        "{n} of these labels are assumed: the passage meets none of the expectations.",
        "其中 {n} 个标注为推定：该片段不满足任何预期。",
    ),
    "bench.wanted": ("Wanted precision", "期望精确率"),
    "bench.wanted.at": (
        "From P(relevant) ≥ **{cut}** on, precision is {precision} with recall {recall} ({n} pass).",
        "取 P(相关) ≥ **{cut}** 时，精确率为 {precision}，召回率为 {recall}（{n} 个通过）。",
    ),
    "bench.wanted.never": ("No cut reaches {wanted} on these pairs.", "在这些样本上没有阈值能达到 {wanted}。"),
    "bench.two": ("Two graders on the same pairs", "两个质检员判同一批片段"),
    "bench.two.none": (
        "Gather this set again with another grader (panel at the left) to compare the two.",
        "用另一个质检员（左侧面板）重新收集此问题集，即可对比两者。",
    ),
    "bench.both": (
        "Both judged {n} pairs: agreement {agreement}, κ {kappa}.",
        "两者共同判定 {n} 对：一致率 {agreement}，κ {kappa}。",
    ),
    "bench.right": (
        "Of {n} labelled ones the first is right on {first}, the second on {second} (p = {p}).",
        "在 {n} 个有标注的样本中，前者判对 {first} 个，后者判对 {second} 个（p = {p}）。",
    ),
    "bench.question": ("Question", "问题"),
    "bench.passage": ("Passage", "片段"),
    "bench.first": ("First", "前者"),
    "bench.second": ("Second", "后者"),
    "bench.noise": ("Noise: the same passages judged again", "噪声：对同样的片段重新判定"),
    "bench.noise.help": (
        "A verdict within the noise band of the cut is a coin flip: made again, it may fall on the other side.",
        "落在阈值噪声带内的判定如同掷硬币：重判一次，可能落到另一侧。",
    ),
    "bench.noise.questions": ("Questions", "问题数"),
    "bench.noise.times": ("Times", "次数"),
    "bench.noise.do": ("Judge again ({n} judgements)", "重新判定（共 {n} 次判定）"),
    "bench.noise.none": ("No scatter: every repeated verdict was the same.", "没有波动：重复判定的结果全部相同。"),
    "bench.noise.band": (
        "Noise band ±{band}; {n} of {total} passages changed sides.",
        "噪声带 ±{band}；{total} 个片段中有 {n} 个换了边。",
    ),
    "bench.noise.stopped": ("Stopped.", "已停止。"),
    "bench.mean": ("Mean P", "平均 P"),
    "bench.sd": ("Spread", "波动"),
    "bench.flip_rate": ("Flip rate", "翻转率"),
    "bench.coin": ("coin flip", "掷硬币"),
    "bench.coin.help": (
        "The cut lies within the noise of this verdict.",
        "阈值落在该判定的噪声范围内。",
    ),
}
