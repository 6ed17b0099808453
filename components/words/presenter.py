"""Words of replay and presenter view: one plain sentence a step, for people who have never seen a threshold.

The sentences are put together in ``components/presenter_sentences.py``; ``presenter.numbers`` counts from 0 on.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.words.run import RUN

PRESENTER: Mapping[str, tuple[str, str]] = {
    # Page and replay bar
    "presenter.open": ("Replay and present", "回放与演示"),
    "presenter.open.help": (
        "Step through this run with one plain sentence a step; nothing is executed again.",
        "逐步回放这次运行，每一步用一句话说明；不会重新执行任何东西。",
    ),
    "presenter.back": ("Back to Ask", "返回提问"),
    "presenter.searched": ("asked of the collection {collection}", "检索的集合：{collection}"),
    "presenter.which": ("Run to present", "要演示的运行"),
    "presenter.demos": ("Recorded demos:", "录制好的示例："),
    "presenter.demos.help": (
        "A recorded run: it needs no model, no knowledge base and no network, and what-if works on it.",
        "录制好的运行：不需要模型、知识库和网络，也可以看换个设置会怎样。",
    ),
    "presenter.demo.passes": ("Passes at once", "一次通过"),
    "presenter.demo.noise": ("Noise filtered", "过滤噪声"),
    "presenter.demo.rescue": ("Rewrite rescues", "重写救场"),
    "presenter.demo.forced": RUN["outcome.answered_forced"],
    "presenter.demo.abstains": ("Honest abstention", "如实不答"),
    "presenter.demo.quality": ("Quality rises", "质量提升"),
    "presenter.demo.correction": ("Answer corrected", "纠正回答"),
    "presenter.demo.revision": ("Answer revised", "修改回答"),
    "presenter.demo.chain": ("Graph joins passages", "图谱连起片段"),
    "presenter.label": ("Replay of the run", "运行回放"),
    "presenter.play": ("Play (space)", "播放（空格）"),
    "presenter.pause": ("Pause (space)", "暂停（空格）"),
    "presenter.previous": ("Back (←)", "上一步（←）"),
    "presenter.next": ("Next (→)", "下一步（→）"),
    "presenter.scrub": ("Place in the run", "运行中的位置"),
    "presenter.speed": ("Speed", "速度"),
    "presenter.position": ("Step {step} of {total}", "第 {step} 步，共 {total} 步"),
    "presenter.keys": ("← → step · space plays · Home, End", "← → 逐步 · 空格播放 · Home、End 首尾"),
    "presenter.round": ("Round {n}", "第 {n} 轮"),
    "presenter.round.first": ("As asked", "原问题"),
    "presenter.more": ("and {n} more", "另有 {n} 个"),
    "presenter.active": (
        "This run is still running. Watch it live on the page Ask; it can be replayed when it has ended.",
        "这次运行还在进行，请在“提问”页实时观看；结束后即可回放。",
    ),
    "presenter.card.yes": ("✓ helps", "✓ 有用"),
    "presenter.card.no": ("✗ does not help", "✗ 没有用"),
    "presenter.card.unreadable": ("? not readable", "? 读不懂"),
    # Parts of sentences
    "presenter.numbers": (
        "no one two three four five six seven eight nine ten eleven twelve",
        "0 1 2 3 4 5 6 7 8 9 10 11 12",
    ),
    "presenter.percent": ("{n} %", "{n}%"),
    "presenter.seconds": ("{n} s", "{n} 秒"),
    "presenter.joint": ("{first} {second}", "{first}{second}"),
    # A question, or a branch of another run
    "presenter.asked": (
        "A question comes in. First the retriever looks for passages that might answer it.",
        "来了一个问题。先由检索者去找可能有答案的片段。",
    ),
    "presenter.forked": (
        "This run branches off another one in round {round}. Changed there: {what}.",
        "这次运行从另一次运行的第 {round} 轮分出，改动的是：{what}。",
    ),
    "presenter.forked.plain": (
        "This run branches off another one in round {round}.",
        "这次运行从另一次运行的第 {round} 轮分出。",
    ),
    "presenter.forked.query": ("the query", "查询"),
    "presenter.forked.verdicts": ("{n} verdicts", "{n} 条判定"),
    "presenter.forked.verdicts.one": ("one verdict", "1 条判定"),
    # A search
    "presenter.passages": ("{n} passages", "{n} 个片段"),
    "presenter.passages.one": ("one passage", "1 个片段"),
    "presenter.searched.all": (
        "The retriever finds {found}; the best {k} go on to the grader.",
        "检索者找到 {found}，其中排在最前的 {k} 个交给质检员。",
    ),
    "presenter.searched.all.one": (
        "The retriever finds {found}; the best one continues to the grader.",
        "检索者找到 {found}，其中排在最前的 1 个交给质检员。",
    ),
    "presenter.searched.whole": (
        "The retriever finds {found}, and all of them go on to the grader.",
        "检索者找到 {found}，全部交给质检员。",
    ),
    "presenter.searched.whole.one": (
        "The retriever finds {found}, and it continues to the grader.",
        "检索者找到 {found}，交给质检员。",
    ),
    "presenter.searched.some": (
        "The retriever finds {found}. Of the best {best}, only {k} are similar enough to go on to the grader.",
        "检索者找到 {found}。最前面的 {best} 个里，只有 {k} 个足够相似，交给质检员。",
    ),
    "presenter.searched.some.one": (
        "The retriever finds {found}. Of the best {best}, only one is similar enough to go on to the grader.",
        "检索者找到 {found}。最前面的 {best} 个里，只有 1 个足够相似，交给质检员。",
    ),
    "presenter.searched.none": (
        "The retriever finds {found}, but none of the best {best} is similar enough to go on.",
        "检索者找到 {found}，但最前面的 {best} 个都不够相似，一个也没有保留。",
    ),
    "presenter.searched.none.one": (
        "The retriever finds {found}, but not even the best one is similar enough to go on.",
        "检索者找到 {found}，但连最前面的 1 个也不够相似，没有保留。",
    ),
    "presenter.searched.nothing": (
        "The retriever finds nothing: the collection holds no passages.",
        "检索者一无所获：知识库里没有片段。",
    ),
    "presenter.searched.stale": (
        "There is nothing new to search for, so the passages of the round before stand.",
        "没有新的问法可以检索，沿用上一轮的片段。",
    ),
    "presenter.searched.late": (
        "The time was used up before anything could be searched.",
        "还没来得及检索，时间就用完了。",
    ),
    "presenter.manner.full_text": ("words alone", "只按词语检索"),
    "presenter.manner.fused": (
        "meaning and by words, merged into one list",
        "同时按语义和按词语检索，合并成一份结果",
    ),
    "presenter.manner.of": ("{strategy} by {manner}", "{strategy}，{manner}"),
    "presenter.words_alone": (
        "Meaning alone would not have brought up {n} of them.",
        "其中 {n} 个只按语义是找不到的。",
    ),
    "presenter.again": ("With the new words: {sentence}", "换了问法再找：{sentence}"),
    # What the grader found
    "presenter.found.nothing": ("No passage was similar enough to be judged.", "没有足够相似的片段可供判定。"),
    "presenter.found.sole": ("The one passage helps.", "唯一的片段有用。"),
    "presenter.found.sole_not": ("The one passage does not help.", "唯一的片段没有用。"),
    "presenter.found.both": ("Both passages help.", "两个片段都有用。"),
    "presenter.found.neither": ("Neither of the two passages helps.", "两个片段都没有用。"),
    "presenter.found.all": ("All {kept} passages help.", "{kept} 个片段全都有用。"),
    "presenter.found.none": ("None of the {kept} passages helps.", "{kept} 个片段都没有用。"),
    "presenter.found.some": ("{passed} of {kept} passages help.", "{kept} 个片段中有 {passed} 个有用。"),
    "presenter.found.some.one": ("One of {kept} passages helps.", "{kept} 个片段中有 1 个有用。"),
    "presenter.found.together": ("Together with earlier rounds it is {n}.", "连同前几轮共有 {n} 个有用。"),
    "presenter.found.unfinished": (
        "The grader has judged {done} of {kept} passages when the run ends.",
        "质检员判定了 {kept} 个片段中的 {done} 个，运行就结束了。",
    ),
    # What follows from it
    "presenter.met.pass_rate": (
        "That meets the bar of {bar}, so the answer can be written.",
        "达到了 {bar} 的及格线，可以写回答了。",
    ),
    "presenter.met.relevant_passages": (
        "At least {n} had to help, so the answer can be written.",
        "要求至少 {n} 个有用，已经满足，可以写回答了。",
    ),
    "presenter.unmet.pass_rate": (
        "That is under the bar of {bar}, so the question is rephrased.",
        "低于 {bar} 的及格线，于是换一种问法再找。",
    ),
    "presenter.unmet.relevant_passages": (
        "At least {n} must help, so the question is rephrased.",
        "要求至少 {n} 个有用，还不够，于是换一种问法再找。",
    ),
    "presenter.forced.pass_rate": (
        "That is under the bar of {bar}, but {why}, so {rest}.",
        "低于 {bar} 的及格线，但{why}，{rest}。",
    ),
    "presenter.forced.relevant_passages": (
        "At least {n} must help, but {why}, so {rest}.",
        "要求至少 {n} 个有用，但{why}，{rest}。",
    ),
    "presenter.why.max_rewrites": ("all {n} rewrites are used up", "允许的 {n} 次重写已经用完"),
    "presenter.why.max_rewrites.one": ("the one rewrite is used up", "仅有的一次重写已经用完"),
    "presenter.why.max_rewrites.two": ("both rewrites are used up", "两次重写都已经用完"),
    "presenter.why.max_rewrites.none": ("no rewrite is allowed", "设置不允许重写"),
    "presenter.why.deadline": ("the time of {time} is used up", "时限（{time}）已到"),
    "presenter.why.repeated_rewrite": ("the rewriter only repeats itself", "重写员只是在重复旧的问法"),
    "presenter.why.rewriter_failed": ("the rewriter failed", "重写员出了错"),
    "presenter.why.grader_unavailable": ("the grader cannot be reached any more", "质检员联系不上了"),
    "presenter.why.no_passages": ("the collection holds nothing to search", "知识库里没有可检索的内容"),
    "presenter.rest.passed": ("the answer has to make do with what did pass", "只能就已通过的片段作答"),
    "presenter.rest.unverified": ("the answer has to rest on unverified passages", "只能依据未核实的片段作答"),
    "presenter.rest.nothing": ("all that is left is to say so honestly", "只能如实说明没有找到"),
    "presenter.grader_failed": (
        "Not one reply of the grader could be read, so the run ends here.",
        "质检员的回复一条也读不懂，运行到此结束。",
    ),
    # A rewrite
    "presenter.rewritten": ("The rewriter tries other words: “{query}”.", "重写员换了一种问法：“{query}”。"),
    "presenter.rewritten.by_hand": (
        "Here the query was changed by hand: “{query}”.",
        "这里的查询是人工改的：“{query}”。",
    ),
    "presenter.rewritten.repeated": (
        "The rewriter finds no words that were not tried before.",
        "重写员想不出还没试过的问法。",
    ),
    "presenter.rewritten.failed": ("The rewriter fails, so the old query stands.", "重写员出了错，沿用原来的查询。"),
    # The end
    "presenter.ended.answered": (
        "The answer is written from the {n} passages that helped, and from nothing else.",
        "只根据这 {n} 个有用的片段写出回答。",
    ),
    "presenter.ended.answered.one": (
        "The answer is written from the one passage that helped, and from nothing else.",
        "只根据这 1 个有用的片段写出回答。",
    ),
    "presenter.ended.answered_forced": (
        "The answer is written from the {n} passages that helped, although the bar was never met.",
        "根据 {n} 个有用的片段写出回答，尽管始终没有达到及格线。",
    ),
    "presenter.ended.answered_forced.one": (
        "The answer is written from the one passage that helped, although the bar was never met.",
        "根据 1 个有用的片段写出回答，尽管始终没有达到及格线。",
    ),
    "presenter.ended.cannot_tell": (
        "The generator was given {n} passages, and says that it cannot tell.",
        "交给生成者 {n} 个片段，它表示答不出来。",
    ),
    "presenter.ended.cannot_tell.one": (
        "The generator was given one passage, and says that it cannot tell.",
        "交给生成者 1 个片段，它表示答不出来。",
    ),
    "presenter.ended.uncited": (
        "An answer is written, but it cites none of the {n} passages that the generator was given.",
        "写出了回答，但交给生成者的 {n} 个片段一个也没有引用。",
    ),
    "presenter.ended.uncited.one": (
        "An answer is written, but it does not cite the one passage that the generator was given.",
        "写出了回答，但没有引用交给生成者的那 1 个片段。",
    ),
    "presenter.ended.answered_unverified": (
        "No passage passed, so the answer is based on unverified ones and says so.",
        "没有片段通过，回答依据的是未核实的片段，并且注明了这一点。",
    ),
    "presenter.ended.abstained": (
        "Nothing helped, so the answer says that honestly instead of inventing something.",
        "没有片段有用，回答如实说明，没有编造。",
    ),
    "presenter.ended.fallback": (
        "Everything was tried, and the run ends without an answer.",
        "所有办法都试过了，运行结束，没有得到回答。",
    ),
    "presenter.ended.cancelled": ("Somebody stopped the run here.", "运行在这里被人停止。"),
    "presenter.ended.failed": ("The run fails here: {fact}", "运行在这里失败：{fact}"),
    "presenter.ended.failed.plain": ("The run fails here.", "运行在这里失败。"),
    "presenter.ended.interrupted": (
        "The record breaks off here: the program ended in the middle of the run.",
        "记录到此中断：程序在运行途中退出了。",
    ),
    # The what-if moment
    "presenter.what_if": ("What if the bar had been somewhere else?", "如果及格线不在这里？"),
    "presenter.what_if.bar": ("The bar: share of passages that must help", "及格线：须有用的片段占比"),
    "presenter.what_if.count": ("The bar: passages that must help", "及格线：须有用的片段数"),
    "presenter.what_if.own": (
        "{bar} is the bar of this run. Move it: nothing is called, the decision is made again from the recording.",
        "这次运行的及格线是 {bar}。拖动试试：不会调用任何模型，只用录制的内容重新决策。",
    ),
    "presenter.what_if.same": (
        "With a bar of {bar} the run takes exactly the same path.",
        "及格线为 {bar} 时，运行的路径完全一样。",
    ),
    "presenter.what_if.answered": (
        "With a bar of {bar} the run answers in round {round}: {rewrites}.",
        "及格线为 {bar} 时，运行在第 {round} 轮就能作答：{rewrites}。",
    ),
    "presenter.what_if.answered_forced": (
        "With a bar of {bar} the run answers below the bar in round {round}: {rewrites}.",
        "及格线为 {bar} 时，运行到第 {round} 轮未达标也作答：{rewrites}。",
    ),
    "presenter.what_if.answered_unverified": (
        "With a bar of {bar} the run answers from unverified passages in round {round}: {rewrites}.",
        "及格线为 {bar} 时，运行在第 {round} 轮依据未核实的片段作答：{rewrites}。",
    ),
    "presenter.what_if.abstained": (
        "With a bar of {bar} the run says in round {round} that it found nothing: {rewrites}.",
        "及格线为 {bar} 时，运行在第 {round} 轮如实说明没有找到：{rewrites}。",
    ),
    "presenter.what_if.other": (
        "With a bar of {bar} the run ends in round {round}: {rewrites}.",
        "及格线为 {bar} 时，运行在第 {round} 轮结束：{rewrites}。",
    ),
    "presenter.what_if.fewer": ("{now} rewrites instead of {then}", "重写 {now} 次，而不是 {then} 次"),
    "presenter.what_if.fewer.one": ("one rewrite instead of {then}", "重写 1 次，而不是 {then} 次"),
    "presenter.what_if.equal": ("{now} rewrites, as before", "重写 {now} 次，与原来一样"),
    "presenter.what_if.equal.one": ("one rewrite, as before", "重写 1 次，与原来一样"),
    "presenter.what_if.stands": ("The recorded answer stands.", "录制的回答原样成立。"),
    "presenter.what_if.generate": ("Only the answer would have to be rewritten.", "只有回答需要重新生成。"),
    "presenter.what_if.unknown": (
        "With a bar of {bar} the run continues beyond what was recorded: it would have to be run to know.",
        "及格线为 {bar} 时，运行会走到录制之外，要实际运行一次才知道。",
    ),
}
