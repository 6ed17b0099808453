"""Many questions that need the same passages as the sample questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

from engine.evaluation.cases import Case, sample_set

_OPENINGS: Mapping[str, Sequence[str]] = {
    "en": ("", "Please tell me: ", "I would like to know: ", "A question: ", "Quickly: ", "For my notes: "),
    "zh": ("", "请告诉我：", "我想知道：", "请问：", "问一下：", "帮我查一下："),
}
_CLOSINGS: Mapping[str, Sequence[str]] = {
    "en": ("", " Thanks.", " Thank you!", " Keep it short.", " In one sentence.", " I am curious."),
    "zh": ("", "谢谢。", "麻烦了！", "请简短回答。", "用一句话说。", "我很好奇。"),
}


def questions(count: int) -> tuple[Case, ...]:
    """The sample questions in so many different words."""
    cases = sample_set().cases
    worded = (
        replace(case, id=f"{case.id}-{place}", question=f"{opening}{case.question}{closing}")
        for place in range(len(_OPENINGS["en"]) * len(_CLOSINGS["en"]))
        for case in cases
        for opening, closing in islice(product(_OPENINGS[case.language], _CLOSINGS[case.language]), place, place + 1)
    )
    found = tuple(islice(worded, count))
    assert len({case.question for case in found}) == count, "there are not so many ways to ask the sample questions"
    return found
