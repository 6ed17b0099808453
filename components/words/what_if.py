"""Words of what-if, decision map, rewrite scorecard, remedies and pinned runs."""

from __future__ import annotations

from collections.abc import Mapping

WHAT_IF: Mapping[str, tuple[str, str]] = {
    # The card
    "whatif.title": ("What if", "换个设置会怎样"),
    "whatif.waiting": (
        "When the run has ended, a slider moved at the left shows here what it would have changed. Nothing is called.",
        "运行结束后，移动左侧滑块，这里就会显示结果会怎样不同，无需任何调用。",
    ),
    "whatif.own": (
        "These are the run's own settings: move a slider, and the decision is recomputed here without a call.",
        "当前就是本次运行的设置：移动滑块，这里会重新推算决策，无需调用。",
    ),
    "whatif.badge.known": ("✓ known · 0 calls", "✓ 已知 · 0 次调用"),
    "whatif.badge.path": ("✓ path known · 0 calls", "✓ 路径已知 · 0 次调用"),
    "whatif.badge.generation": ("answer: one generation away", "回答：只差一次生成"),
    "whatif.badge.needs": ("? {needs}", "? {needs}"),
    "whatif.needs": ("needs {calls}", "还需 {calls}"),
    "whatif.needs_between": ("needs {low}–{calls}", "还需 {low}–{calls}"),
    "whatif.needs_up_to": ("needs up to {calls}", "最多还需 {calls}"),
    "whatif.and": ("{first} and {last}", "{first}、{last}"),
    "whatif.joint": (", ", "，"),
    "whatif.stop": (".", "。"),
    "whatif.with": ("With {changes} ", "若{changes}，"),
    "whatif.with_many": ("With these {n} other settings ", "若改用这 {n} 项设置，"),
    "whatif.as_run": ("With the run's own settings ", "按本次运行的设置，"),
    "whatif.change": ("{name} **{value}** (run: {run})", "{name} **{value}**（运行时 {run}）"),
    "whatif.saving": (": {saving}.", "：{saving}。"),
    "whatif.less": ("{parts} fewer", "少 {parts}"),
    "whatif.more": ("{parts} more", "多 {parts}"),
    "whatif.built_in_calls": ("{n} built-in calls", "{n} 次内置调用"),
    "whatif.built_in_calls.one": ("{n} built-in call", "{n} 次内置调用"),
    "whatif.no_calls": ("no calls", "无需调用"),
    "whatif.unmeasured": (" (time not measured)", "（未测得用时）"),
    # Consequences
    "whatif.same": (
        "**nothing would change**: the same decisions and the same answer.",
        "**什么都不会变**：决策相同，回答也相同。",
    ),
    "whatif.same_path": (
        "the **decisions would be the same**, and the answer written from {n} passages instead of {given}.",
        "**决策不变**，但回答依据的片段由 {given} 个变为 {n} 个。",
    ),
    "whatif.same_path.one": (
        "the **decisions would be the same**, and the answer written from 1 passage instead of {given}.",
        "**决策不变**，但回答依据的片段由 {given} 个变为 1 个。",
    ),
    "whatif.same_path_other": (
        "the **decisions would be the same**, but the generator would be given something else.",
        "**决策不变**，但交给生成者的内容会不同。",
    ),
    "whatif.end.answered": ("it would have **answered at round {round}**", "会在**第 {round} 轮作答**"),
    "whatif.end.answered.from": (
        "it would have **answered at round {round}** from {n} passages",
        "会在**第 {round} 轮**依据 {n} 个片段**作答**",
    ),
    "whatif.end.answered.from.one": (
        "it would have **answered at round {round}** from 1 passage",
        "会在**第 {round} 轮**依据 1 个片段**作答**",
    ),
    "whatif.end.answered_forced": (
        "it would have **answered below the bar after round {round}** ({reason})",
        "会在**第 {round} 轮后未达标也作答**（{reason}）",
    ),
    "whatif.end.answered_forced.from": (
        "it would have **answered below the bar after round {round}** from {n} passages ({reason})",
        "会在**第 {round} 轮后**依据 {n} 个片段**未达标也作答**（{reason}）",
    ),
    "whatif.end.answered_forced.from.one": (
        "it would have **answered below the bar after round {round}** from 1 passage ({reason})",
        "会在**第 {round} 轮后**依据 1 个片段**未达标也作答**（{reason}）",
    ),
    "whatif.end.answered_unverified": (
        "it would have answered after round {round} from **unverified** passages",
        "会在第 {round} 轮后依据**未核实**的片段作答",
    ),
    "whatif.end.answered_unverified.from": (
        "it would have answered after round {round} from {n} **unverified** passages",
        "会在第 {round} 轮后依据 {n} 个**未核实**的片段作答",
    ),
    "whatif.end.answered_unverified.from.one": (
        "it would have answered after round {round} from 1 **unverified** passage",
        "会在第 {round} 轮后依据 1 个**未核实**的片段作答",
    ),
    "whatif.end.abstained": (
        "it would have **abstained after round {round}**: no passage passes",
        "会在**第 {round} 轮后如实不答**：没有片段通过",
    ),
    "whatif.end.failed": ("it would have **ended at round {round}**: {reason}", "会**止于第 {round} 轮**：{reason}"),
    "whatif.end.open": (
        "it would **generate after round {round}**; whether anything passes, no verdict says yet",
        "会在**第 {round} 轮后生成**，但是否有片段通过尚无判定可依",
    ),
    # What is missing
    "whatif.gap.empty": (
        "the run ended before its first search: there is nothing to decide from.",
        "本次运行在第一次检索前就结束了，没有可供推算的内容。",
    ),
    "whatif.gap.retrieval": (
        "**another collection or workflow** would run: nothing recorded says what it would find.",
        "用的是**另一个集合或工作流**：记录里没有它会检索到什么。",
    ),
    "whatif.gap.candidates": (
        "**round {round} is open**: up to {n} passages below the {depth} recorded ones might be kept, "
        "and no one has seen them.",
        "**第 {round} 轮无法确定**：记录的 {depth} 个候选之后，可能还有至多 {n} 个片段会保留，但没有人看过。",
    ),
    "whatif.gap.candidates.one": (
        "**round {round} is open**: one passage below the {depth} recorded ones might be kept, and no one has seen it.",
        "**第 {round} 轮无法确定**：记录的 {depth} 个候选之后，可能还有 1 个片段会保留，但没有人看过。",
    ),
    "whatif.gap.grader": (
        "**round {round} is open**: another grader would judge, and it has judged none of these passages.",
        "**第 {round} 轮无法确定**：换了质检员，而它还没有判定过这些片段。",
    ),
    "whatif.gap.verdicts": (
        "**round {round} is open**: {n} kept passages have no verdict, so {least} to {most} of {kept} pass, "
        "and {bar} lies between.",
        "**第 {round} 轮无法确定**：有 {n} 个保留的片段没有判定，{kept} 个中通过 {least} 到 {most} 个，{bar}正在其间。",
    ),
    "whatif.gap.verdicts.one": (
        "**round {round} is open**: one kept passage has no verdict, so {least} or {most} of {kept} pass, "
        "and {bar} lies between.",
        "**第 {round} 轮无法确定**：有 1 个保留的片段没有判定，{kept} 个中通过 {least} 或 {most} 个，{bar}正在其间。",
    ),
    "whatif.gap.verdicts_rewriter": (
        "it would **rewrite after round {round}**; the rewriter would also be told of {n} passages that "
        "have no verdict, so its query is not known.",
        "会在**第 {round} 轮后重写**；重写员还会看到 {n} 个没有判定的片段，所以新查询未知。",
    ),
    "whatif.gap.verdicts_rewriter.one": (
        "it would **rewrite after round {round}**; the rewriter would also be told of a passage that "
        "has no verdict, so its query is not known.",
        "会在**第 {round} 轮后重写**；重写员还会看到 1 个没有判定的片段，所以新查询未知。",
    ),
    "whatif.gap.rewrite": (
        "it would **rewrite after round {round}**, but the rewriter would see other verdicts or passages: "
        "its query would not be the recorded one.",
        "会在**第 {round} 轮后重写**，但重写员看到的判定或片段不同，写出的查询不会是记录里的那条。",
    ),
    "whatif.gap.rewriter": (
        "it would **rewrite after round {round}**, and another rewriter writes a query of its own.",
        "会在**第 {round} 轮后重写**，而换了重写员，查询也会不同。",
    ),
    "whatif.gap.unrecorded": (
        "it would **rewrite after round {round}**, where the run did not go on.",
        "会在**第 {round} 轮后重写**，而本次运行到此为止，没有后续记录。",
    ),
    "whatif.gap.time": (
        "**round {round} is open**: the time limit of {budget} s would fall elsewhere, "
        "and no record can turn back the clock.",
        "**第 {round} 轮无法确定**：{budget} 秒的时限会落在别处，而记录无法让时间重来。",
    ),
    "whatif.bar_rate": ("the bar of {value}", "阈值 {value} "),
    "whatif.bar_count": ("the bar of {n} passages", "“{n} 个片段”这一条件"),
    "whatif.generated_from": (
        "Known: every decision. Not known: the answer itself, because {why}.",
        "已知：每一步决策。未知：回答本身，因为{why}。",
    ),
    "whatif.why.answer": ("the generator would be given something else", "交给生成者的内容不同"),
    "whatif.why.unwritten": ("the run did not write it to its end", "本次运行没有把它写完"),
    "whatif.why.verdicts": ("{n} passages it might be given have no verdict", "有 {n} 个可能交给它的片段没有判定"),
    "whatif.why.verdicts.one": ("one passage it might be given has no verdict", "有 1 个可能交给它的片段没有判定"),
    "whatif.price": ("Next step: {next}. At worst: {worst}.", "下一步：{next}。最坏情况：{worst}。"),
    "whatif.price_one": ("Costs {next}.", "需要 {next}。"),
    "whatif.ungraded": ("No verdict:", "没有判定："),
    "whatif.ungraded_more": ("and {n} more", "另有 {n} 个"),
    "whatif.hint.verdicts": (
        "A run with “Grade all candidates” (More settings) records these verdicts too.",
        "打开“质检全部候选”（更多设置）再运行，这些判定也会记录下来。",
    ),
    "whatif.hint.candidates": (
        "A run with more “Candidates looked at” (More settings) records them too.",
        "把“探查候选数”（更多设置）调大再运行，它们也会记录下来。",
    ),
    "whatif.do.generate": ("Generate it", "生成回答"),
    "whatif.do.grade": ("Grade the missing ones", "补齐判定"),
    "whatif.do.go_on": ("Go on from there", "从那里继续"),
    "whatif.do.run": ("Run with these settings", "用这些设置运行"),
    "whatif.do.back": ("Back to the run's settings", "恢复本次运行的设置"),
    # What would happen to single passages
    "would.below_threshold": ("dropped in r{round}: {value} < {bound}", "r{round} 会淘汰：{value} < {bound}"),
    "would.beyond_top_k": ("dropped in r{round}: rank {rank} > {top_k}", "r{round} 会淘汰：排名 {rank} > {top_k}"),
    "would.kept": ("kept", "会保留"),
    "would.graded": ("kept, without a verdict so far", "会保留，但尚无判定"),
    "would.passed": ("passes: {why}", "会通过：{why}"),
    "would.failed": ("does not pass: {why}", "不会通过：{why}"),
    "would.given": ("goes to the generator", "会交给生成者"),
    "would.not_given": ("does not go to the generator", "不会交给生成者"),
    "would.not_seen": ("its round does not happen", "它所在的轮次不会发生"),
    # Ticks on the sliders
    "tick.run": ("Run: {value}", "运行时 {value}"),
    "tick.alike": ("same result from {low} to {high}", "{low} 到 {high} 结果相同"),
    "tick.only": ("same result only at {low}", "仅 {low} 结果相同"),
    "tick.joint": (" · ", " · "),
    # The budget before a run
    "budget.time": (
        "With every round used, about {time} of {budget} s, at the pace of recent runs.",
        "用满全部轮次时，按最近运行的速度约需 {time}，时限 {budget} 秒。",
    ),
    "budget.unmeasured": (
        "How long that takes is not known yet: no recent run went through every step with these models.",
        "用时还不知道：最近没有哪次运行用这些模型走完每一步。",
    ),
    "budget.over": (
        "More than the time budget: such a run stops searching when it is spent, and answers from what it has.",
        "超出时间预算：届时会停止检索，用已有片段作答。",
    ),
    # The decision map
    "map.title": ("Decision map", "决策图"),
    "map.axes": ("Settings on the axes", "坐标轴上的设置"),
    "map.pair": ("{across} × {up}", "{across} × {up}"),
    "map.hint": ("A press on a cell moves the sliders there.", "点一格，滑块就移到那里。"),
    "map.none": (
        "The run recorded no search that could be decided otherwise.",
        "本次运行没有留下可以另作决策的检索记录。",
    ),
    "map.cell": ("{across} {x}, {up} {y}: {end}", "{across} {x}，{up} {y}：{end}"),
    "map.range": ("{low}–{high}", "{low}–{high}"),
    "map.unknown": ("not known without calls", "不调用就无法得知"),
    "map.generate": ("the answer to be generated", "回答需重新生成"),
    "map.here": ("the sliders", "当前滑块"),
    "map.run": ("the run", "本次运行"),
    "map.legend.answered": ("answers at once", "一次作答"),
    "map.legend.late": ("answers after rewrites", "重写后作答"),
    "map.legend.forced": ("below the bar or unverified", "未达标或未核实"),
    "map.legend.abstained": ("abstains", "如实不答"),
    "map.legend.failed": ("fails", "失败"),
    "map.legend.unknown": ("needs calls", "需要调用"),
    "map.save": ("Save the map as SVG", "把决策图存为 SVG"),
    "map.draw": ("Draw the decision map", "绘制决策图"),
    "map.slow": (
        "This run is replayed cell by cell; that takes a few seconds.",
        "这次运行要逐格推演，需要几秒钟。",
    ),
    "map.coupling": (
        "Stricter can pass: at similarity {low} → {high} weak passages fall away in round {round}, and the pass rate "
        "rises from {from_rate} to {to_rate}, over the bar of {bar}.",
        "更严反而能过：相似度阈值从 {low} 提到 {high} 时，第 {round} 轮较弱的片段被剔除，"
        "通过率由 {from_rate} 升到 {to_rate}，越过阈值 {bar}。",
    ),
    "flip.title": ("Smallest change:", "最小改动："),
    "flip.none": (
        "As far as is known, no single slider changes the end.",
        "就已知范围而言，单独移动任何一个滑块都不会改变结局。",
    ),
    "flip.change": ("{name} {old} → {new}: {end}", "{name} {old} → {new}：{end}"),
    "flip.name.similarity_threshold": ("similarity", "相似度"),
    "flip.name.grade_pass_threshold": ("pass rate", "通过率"),
    "flip.name.top_k": ("top-k", "Top-k"),
    "flip.name.max_rewrites": ("rewrites", "重写次数"),
    "flip.name.min_confidence": ("P(relevant)", "相关概率"),
    "flip.name.min_relevant": ("passages", "片段数"),
    "flip.name.gate": ("gate", "放行条件"),
    "flip.end.answered": ("answered at round {round}", "第 {round} 轮作答"),
    "flip.end.answered_forced": ("answered below the bar after round {round}", "第 {round} 轮后未达标也作答"),
    "flip.end.answered_unverified": ("unverified answer after round {round}", "第 {round} 轮后未核实作答"),
    "flip.end.abstained": ("abstained after round {round}", "第 {round} 轮后如实不答"),
    "flip.end.fallback": ("no answer after round {round}", "第 {round} 轮后没有答案"),
    "flip.end.failed": ("failed at round {round}", "第 {round} 轮失败"),
    "flip.rejected": (
        "{n} of the {given} passages given were judged not relevant",
        "交给生成者的 {given} 个片段中有 {n} 个判为不相关",
    ),
    "flip.rejected.one": (
        "{n} of the {given} passages given was judged not relevant",
        "交给生成者的 {given} 个片段中有 {n} 个判为不相关",
    ),
    # What went wrong, and the smallest change that mends it
    "remedy.by_labels": ("by labels", "依据标注"),
    "remedy.by_looks": ("by what the run shows", "依据运行本身"),
    "failure.nothing_retrieved": ("Nothing right was retrieved", "没有检索到正确内容"),
    "failure.nothing_retrieved.why": (
        "None of {rounds} searches found a passage that could answer.",
        "{rounds} 次检索都没有找到能回答的片段。",
    ),
    "failure.nothing_retrieved.why.one": (
        "The one search found no passage that could answer.",
        "仅有的 1 次检索没有找到能回答的片段。",
    ),
    "failure.dropped_by_similarity": ("The right passage was dropped before grading", "正确片段在质检前被剔除"),
    "failure.dropped_by_similarity.looks": (
        "Perhaps a right passage was dropped before grading",
        "可能有正确片段在质检前被剔除",
    ),
    "failure.dropped_by_similarity.why": (
        "The closest has similarity {similarity} at rank {rank}; kept is from {threshold} on, among the first {top_k}.",
        "最接近的片段相似度 {similarity}，排第 {rank}；保留条件是相似度不低于 {threshold} 且在前 {top_k} 名之内。",
    ),
    "failure.grader_too_strict": ("The grader refused the right passage", "质检员判掉了正确片段"),
    "failure.grader_too_strict.looks": ("Perhaps the grader was too strict", "质检员可能过严"),
    "failure.grader_too_strict.why": (
        "Its P(relevant) is {p}; passing takes {bar}.",
        "它的相关概率为 {p}，通过需要 {bar}。",
    ),
    "failure.grader_too_strict.why.no": (
        "Its P(relevant) is {p}, but the grader said no, and from a minimum of {bar} a no never passes.",
        "它的相关概率为 {p}，但质检员判为不相关；最低置信度为 {bar} 时，不相关的片段不会通过。",
    ),
    "failure.grader_too_lenient": ("The grader let other passages through", "质检员放过了不该放的片段"),
    "failure.grader_too_lenient.why": (
        "Passages given to the generator: {passed}, none of them expected; expected ones kept: {expected}.",
        "交给生成者的片段 {passed} 个，没有一个是期望的；期望的片段保留了 {expected} 个。",
    ),
    "failure.rewrite_drifted": ("The rewrites drifted", "重写偏离了原意"),
    "failure.rewrite_drifted.why": (
        "From the first round to the last the pass rate went {rate_first} → {rate_last} "
        "and the best similarity {best_first} → {best_last}.",
        "从第一轮到最后一轮，通过率 {rate_first} → {rate_last}，最高相似度 {best_first} → {best_last}。",
    ),
    "failure.budget_spent": ("The budget was spent", "预算用尽"),
    "failure.budget_spent.why": (
        "Passages that passed: {passed}. The best pass rate was {rate} against a bar of {bar}, "
        "and rewriting ({rewrites} ×) did not change that.",
        "有 {passed} 个片段通过，但最高通过率为 {rate}，低于阈值 {bar}；重写了 {rewrites} 次也没能改变。",
    ),
    "failure.budget_spent.why.count": (
        "Passages that passed: {passed}. The gate asks for {wanted} in the rounds that count, and rewriting "
        "({rewrites} ×) did not change that.",
        "有 {passed} 个片段通过，而所计轮次内的放行条件是 {wanted} 个；重写了 {rewrites} 次也没能改变。",
    ),
    "failure.budget_spent.why.time": (
        "The run took {seconds} s of the {budget} s that it was given.",
        "运行用了 {seconds} 秒，时限 {budget} 秒。",
    ),
    "failure.no_such_knowledge": ("No such knowledge in the collection", "库中没有这方面的知识"),
    "failure.no_such_knowledge.looks": (
        "It looks as if the collection does not hold the answer",
        "看起来库中没有这个问题的答案",
    ),
    "failure.no_such_knowledge.why": (
        "The most similar passage reaches {best}, and none of {judged} judged ones answers the question.",
        "最相似的片段为 {best}，判定过的 {judged} 个片段都没有回答这个问题。",
    ),
    "failure.unsupported_answer": ("The answer is not supported", "回答缺乏依据"),
    "failure.unsupported_answer.why": (
        "Citations: {citations}; markers that pointed nowhere: {removed}.",
        "引用 {citations} 处；没有对应片段的引用 {removed} 处。",
    ),
    "failure.unsupported_answer.why.unverified": (
        "It is based on passages that did not pass.",
        "它依据的是没有通过的片段。",
    ),
    "remedy.change": (
        "The smallest change that the record confirms to help: **{change}**.",
        "据记录可确认有效的最小改动：**{change}**。",
    ),
    "remedy.none": ("No single change of a setting is known to mend it.", "没有哪一项设置的改动可以确认修复它。"),
    "remedy.knowledge": (
        "Add a source that answers it on the Knowledge page.",
        "可在“知识库”页添加能回答它的来源。",
    ),
    "remedy.try": ("Try it", "试一试"),
    "remedy.pinned": (
        "Of {n} runs on the watch list it mends {better} and breaks {worse}.",
        "关注的 {n} 个运行：修好 {better} 个，弄坏 {worse} 个。",
    ),
    "remedy.pinned.safe": ("It breaks none of {n} runs on the watch list.", "关注的 {n} 个运行一个都不会弄坏。"),
    "remedy.pinned.safe.one": ("It does not break the run on the watch list.", "不会弄坏关注的 1 个运行。"),
    "remedy.pinned.nothing": (
        "Put runs on the watch list, and this says what the change would do to them.",
        "把运行加入关注，这里就会说明改动对它们的影响。",
    ),
    # Pinned runs
    "pin.pin": ("☆ Add to watch list", "☆ 加入关注"),
    "pin.unpin": ("★ On the watch list", "★ 已关注"),
    "pin.help": (
        "Of a run on the watch list every what-if says whether it would end otherwise.",
        "关注的运行会一直受到检查：换设置时都会说明它的结果会不会改变。",
    ),
    "pin.none": ("Watch list: none of {n} runs is known to flip.", "关注的 {n} 个运行：没有已知会改变的结果。"),
    "pin.none.one": ("The run on the watch list would not flip.", "关注的 1 个运行：结果不会改变。"),
    "pin.flips": (
        "Watch list: **{flips} of {n} would flip**, {better} better, {worse} worse.",
        "关注的 {n} 个运行：**{flips} 个会改变**，{better} 个变好，{worse} 个变差。",
    ),
    "pin.unknown": ("{n} cannot be told without calls.", "其中 {n} 个不调用就无法得知。"),
    "pin.unknown.one": ("1 cannot be told without calls.", "其中 1 个不调用就无法得知。"),
    "pin.all_unknown": (
        "Watch list: of none of the {n} runs can it be told without calls.",
        "关注的 {n} 个运行：不调用就都无法得知。",
    ),
    "pin.all_unknown.one": (
        "Of the run on the watch list it cannot be told without calls.",
        "关注的 1 个运行：不调用就无法得知。",
    ),
    "pin.change": ("{question}: {before} → {after}", "{question}：{before} → {after}"),
    # The rewrite scorecard
    "score.helped": ("helped", "有帮助"),
    "score.none": ("no effect", "无效果"),
    "score.harmed": ("harmed", "有损害"),
    "score.rate": ("Pass rate", "通过率"),
    "score.similarity": ("Best similarity", "最高相似度"),
    "score.gained": ("Passages gained", "新增片段"),
    "score.lost": ("Passages lost", "丢失片段"),
    "score.distance": ("Distance from the question", "与原问题的距离"),
    "score.distance.help": (
        "Share of character pairs that the new query and the original question do not have in common: "
        "0 is the same wording, 1 nothing in common.",
        "新查询与原问题不共有的字符对所占比例：0 表示措辞相同，1 表示毫无共同之处。",
    ),
    "score.rule": (
        "Helped: a passage passes that had passed in no round before, or the pass rate rose. "
        "Harmed: neither, and the pass rate fell.",
        "有帮助：有片段首次通过，或通过率上升。有损害：两者皆无，且通过率下降。",
    ),
    "score.kept": ("Terms kept", "保留的词"),
    "score.dropped": ("Terms lost", "丢掉的词"),
    "score.added": ("Terms added", "新增的词"),
    "score.of_which_pass": ("{n} ({passed} pass)", "{n}（{passed} 个通过）"),
}
